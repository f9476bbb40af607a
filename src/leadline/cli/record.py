"""`leadline record`: runs an MPI program and records what its ranks ask of MPI."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._output import program_file
from leadline.cli._types import Existing
from leadline.cli._working import working
from leadline.core.formatting import counted

if TYPE_CHECKING:
    from leadline.program.model import Program


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option(
    "--output",
    "-o",
    type=program_file(),
    metavar="FILE",
    help="Program file to write; its times are written beside it. Default: NAME.program by the "
    "executable's name, or NAME-2.program, ... where there is one already.",
)
@click.option("--mpi", metavar="NAME", help="The MPI, from 'leadline list mpis'. Default: the launcher's.")
@click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIRECTORY",
    help="Where ranks write while they run, about 100 B a call; all hosts must see it. Default: beside FILE.",
)
@click.option(
    "--from",
    "left",
    type=Existing(directory=True),
    metavar="DIRECTORY",
    help="Instead of running a program, read what its ranks wrote, where 'leadline record' was interrupted. "
    "The directory stays.",
)
def command(
    *,
    command: tuple[str, ...],
    output: Path | None,
    mpi: str | None,
    directory: Path | None,
    left: Path | None,
) -> None:
    """Run a program, record its MPI calls, and exit with the program's exit code.

    COMMAND starts the program, such as -- mpirun -n 8 ./app input. FILE then contains each rank's MPI calls
    and the computation between them: 'leadline replay FILE' executes it again, 'leadline profile FILE'
    shows where the time went. A program that was killed leaves what was recorded until then.
    """
    from tempfile import mkdtemp  # noqa: PLC0415

    from leadline.record import session  # noqa: PLC0415

    if left:
        if command or mpi or directory:
            raise click.UsageError(
                "--from reads what is there: it takes no command, --mpi or --directory",
                click.get_current_context(),
            )
        command = session.command_of(left)
        path = output or _free(Path(f"{_name(command) if command else 'recorded'}.program"))
        with working("reading the records") as say:
            recorded = session.program(left, command, None, say)
            recorded.write(path)
        _tell(recorded, path)
        return
    if not command:
        raise click.UsageError("Missing argument '-- COMMAND...'.", click.get_current_context())
    path = output or _free(Path(f"{_name(command)}.program"))
    place = directory or path.absolute().parent
    if not place.is_dir():
        raise click.UsageError(f"there is no directory {place}", click.get_current_context())
    name = Path(mkdtemp(prefix=".leadline-record-", dir=place))
    try:
        status, others = _run(command, mpi, name)
    except BaseException:
        shutil.rmtree(name, ignore_errors=True)
        raise
    _read(name, command, path, status, others)


def _run(command: tuple[str, ...], mpi: str | None, name: Path) -> tuple[int, float | None]:
    """Runs a command whose ranks write into a directory: its exit code, and what others did meanwhile."""
    from leadline.core.processes import check_startable  # noqa: PLC0415
    from leadline.record import session  # noqa: PLC0415

    check_startable(command)
    with working("building the recorder"):
        found = session.mpi_of(command, mpi)
        session.check(command, found)
        library = session.prepare(found, command)
    return session.run(command, name, library, found)


def _read(name: Path, command: tuple[str, ...], path: Path, status: int, others: float | None) -> None:
    """Writes the program that the records in a directory make, which then goes, and exits with a status.

    Where that is interrupted, or there is no room for the file, the records stay, and their place is said.
    """
    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.record import session  # noqa: PLC0415

    try:
        with working("reading the records") as say:
            recorded = session.program(name, command, others, say)
            recorded.write(path)
    except LeadlineError as problem:
        shutil.rmtree(name, ignore_errors=True)
        # The program's own failure is what matters then.
        ended = f"{command[0]} ended with exit code {status}, see what it printed; " if status else ""
        click.echo(f"leadline: {ended}{problem}", err=True)
        click.get_current_context().exit(status or 1)
    except KeyboardInterrupt:
        session.note(name, command)
        raise KeyboardInterrupt(f"read what was recorded with 'leadline record --from {name}'") from None
    except (OSError, MemoryError):
        session.note(name, command)
        click.echo(f"leadline: read what was recorded with 'leadline record --from {name}'", err=True)
        raise
    shutil.rmtree(name, ignore_errors=True)
    _tell(recorded, path)
    click.get_current_context().exit(status)


def _free(path: Path) -> Path:
    """A path, or where it is taken the first with a number: an earlier recording stays."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_stem(f"{path.stem}-{number}")
    return free


def _name(command: tuple[str, ...]) -> str:
    """What the program is called: the last word that is an executable or a script, without its directory."""

    for word in reversed(command):
        if shutil.which(word) or (Path(word).is_file() and Path(word).suffix in {".py", ".sh"}):
            return Path(word).stem
    return Path(command[0]).stem


def _tell(recorded: "Program", path: Path) -> None:
    """What was recorded, and what of it cannot be executed again."""
    from leadline.core.units import format_bytes  # noqa: PLC0415
    from leadline.program.left import unmet  # noqa: PLC0415
    from leadline.program.threads import threads_in_words  # noqa: PLC0415

    size = format_bytes(path.stat().st_size)
    click.echo(
        f"leadline: {path}: {counted(recorded.ranks, 'rank')}, "
        f"{counted(recorded.operations_in_all, 'operation')}, {size}",
        err=True,
    )
    full = recorded.recorded.get("full", [])
    if full:
        ranks = ", ".join(map(str, full[:8]))
        click.echo(
            f"leadline: there was no room on the disk for the records of {len(full)} of {recorded.ranks} "
            f"ranks ({ranks}): they end before the program did; name another place with --directory",
            err=True,
        )
    if cut := sorted(recorded.partial - set(full)):
        ranks = ", ".join(map(str, cut[:8]))
        click.echo(
            f"leadline: {counted(len(cut), 'rank')} did not come to MPI_Finalize ({ranks}): their records "
            "end where they did",
            err=True,
        )
    if outside := recorded.recorded.get("outside"):
        click.echo(f"leadline: recorded, but not executed again: {', '.join(outside)}", err=True)
    if words := unmet(recorded):
        click.echo(f"leadline: {words}: left out", err=True)
    if words := threads_in_words(recorded):
        click.echo(f"leadline: {words}", err=True)
