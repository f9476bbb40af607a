"""`leadline record`: runs an MPI program and records what its ranks ask of MPI."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._output import program_file
from leadline.cli._working import working

if TYPE_CHECKING:
    from leadline.program.model import Program


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
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
def command(
    *, command: tuple[str, ...], output: Path | None, mpi: str | None, directory: Path | None
) -> None:
    """Run a program, record its MPI calls, and exit with the program's exit code.

    COMMAND starts the program, such as -- mpirun -n 8 ./app input. Afterwards FILE has what each rank asked
    of MPI and how long it computed between: 'leadline replay FILE' executes it again, 'leadline profile FILE'
    shows where the time went. A program that was killed leaves what was recorded until then.
    """
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.core.processes import check_startable  # noqa: PLC0415
    from leadline.record import session  # noqa: PLC0415

    check_startable(command)
    path = output or _free(Path(f"{_name(command)}.program"))
    place = directory or path.absolute().parent
    if not place.is_dir():
        raise click.UsageError(f"there is no directory {place}", click.get_current_context())
    with TemporaryDirectory(prefix=".leadline-record-", dir=place) as name:
        with working("building the recorder"):
            found = session.mpi_of(command, mpi)
            session.check(command, found)
            library = session.prepare(found, command)
        status, others = session.run(command, Path(name), library, found)
        try:
            with working("reading the records") as say:
                recorded = session.program(Path(name), command, others, say)
                recorded.write(path)
        except LeadlineError as problem:
            # The program's own failure is what matters then.
            ended = f"{command[0]} ended with exit code {status}, see what it printed; " if status else ""
            click.echo(f"leadline: {ended}{problem}", err=True)
            click.get_current_context().exit(status or 1)
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

    import shutil  # noqa: PLC0415

    for word in reversed(command):
        if shutil.which(word) or (Path(word).is_file() and Path(word).suffix in {".py", ".sh"}):
            return Path(word).stem
    return Path(command[0]).stem


def _tell(recorded: "Program", path: Path) -> None:
    """What was recorded, and what of it cannot be executed again."""
    from leadline.core.units import format_bytes  # noqa: PLC0415

    size = format_bytes(path.stat().st_size)
    click.echo(
        f"leadline: {path}: {recorded.ranks:,} ranks, {recorded.operations_in_all:,} operations, {size}",
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
            f"leadline: {len(cut)} ranks did not come to MPI_Finalize ({ranks}): their records "
            "end where they did",
            err=True,
        )
    if outside := recorded.recorded.get("outside"):
        click.echo(f"leadline: recorded, but not executed again: {', '.join(outside)}", err=True)
    if recorded.recorded.get("threads", 1) > 1:
        click.echo(
            "leadline: several threads of a rank called MPI: a replay executes their calls one after another",
            err=True,
        )
