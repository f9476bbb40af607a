"""The verb that makes a run of another suite's output."""

import sys
from pathlib import Path
from pkgutil import iter_modules

import click

from leadline.cli._types import AtLeast, Word
from leadline.cli._working import working
from leadline.core.formatting import counted

STDIN = "-"


def _suites() -> list[str]:
    """The suites that can be read, without importing their importers."""
    where = Path(__file__).resolve().parents[1] / "analysis" / "importers"
    return sorted(
        name for _, name, _ in iter_modules([str(where)]) if name != "table" and not name.startswith("_")
    )


@click.command(
    epilog="\b\nExamples:\n  leadline import osu osu_latency.out osu_bw.out -o runs/old --mpi openmpi-4.1.4\n"
    "  mpirun -n 2 IMB-MPI1 PingPong | leadline import imb -"
)
@click.argument("suite", type=Word(_suites()))
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="Directory for the run. Default: runs/SUITE-FILE, after the first FILE.",
)
@click.option("--mpi", help="The MPI that was measured, such as openmpi-4.1.4; the files do not have it.")
@click.option("--placement", help="Placement of the ranks: core-group, sockets or nodes.")
@click.option("--stack", help="Transports that were used, in the words of plans: shared-memory, tcp, ...")
@click.option("--ranks", type=AtLeast(1), help="Number of ranks, where the files do not have it.")
@click.option(
    "--at",
    multiple=True,
    metavar="KEY=VALUE",
    help="Value of a key that the files do not contain, such as window=32.",
)
def command(
    suite: str,
    files: tuple[str, ...],
    output: Path | None,
    at: tuple[str, ...],
    **fields: object,
) -> None:
    """Import the output of another benchmark suite as a run.

    Each table of a file counts as one launch; compare needs four or more, so give several files at once. A
    test that measures the same as a benchmark of Leadline gets its name (osu_latency is pingpong); everything
    else keeps its own. FILE may be - for the standard input.
    """
    from leadline.analysis import importers  # noqa: PLC0415  (loads polars)
    from leadline.analysis.counts import count_points  # noqa: PLC0415
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.core.record import Record  # noqa: PLC0415
    from leadline.run.store import RUNS, Store  # noqa: PLC0415

    given: dict[str, object] = {name: value for name, value in fields.items() if value is not None}
    for each in at:
        key, equals, value = each.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"--at takes KEY=VALUE, as in window=32, but got {each!r}")
        given[key] = int(value) if value.isdecimal() else value
    texts: dict[Path, bytes] = {}
    for name in files:
        try:
            texts[Path(name)] = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
        except OSError as problem:
            raise UsageError(f"cannot read {name}: {problem.strerror}") from problem
    stem = "stdin" if files[0] == STDIN else Path(files[0]).stem
    path = output or RUNS / f"{suite}-{stem}"
    with working(f"reading tables of {suite}") as say:
        records, about = importers.read(suite, texts, given)
        say(f"writing {path}")
        with Store.create(path, "", about) as store:
            store.append(map(Record.of, records.to_dicts()))
            store.finish()
    points = sum(count_points(records).values())
    for note in about["notes"]:
        click.echo(f"note: {note}", err=True)
    click.echo(
        f"{path}: {counted(points, 'point')} imported, {counted(records.height, 'record')}; "
        f"see 'leadline show {path}'"
    )
