"""`leadline extend`: a program at another number of ranks."""

from pathlib import Path

import click

from leadline.cli._options import Parsed
from leadline.cli._output import program_file
from leadline.cli._types import AtLeast
from leadline.cli._working import working
from leadline.core.formatting import counted


def _grid(text: str) -> tuple[int, ...]:
    """Lengths such as "8x8x4"."""
    from leadline.core.errors import UsageError  # noqa: PLC0415

    parts = text.lower().split("x")
    if not all(part.isdigit() and int(part) for part in parts) or len(parts) > 3:
        raise UsageError(f"a grid has one to three lengths, such as 8x8x4, but got {text!r}")
    return tuple(map(int, parts))


@click.command()
@click.argument(
    "programs", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE..."
)
@click.option("--ranks", type=AtLeast(1), required=True, help="Number of ranks of the new program.")
@click.option(
    "--grid",
    type=Parsed(_grid),
    metavar="AxBxC",
    help="Grid of the new ranks, the last axis fastest. Default: as near to a cube, square or line as the "
    "recordings' grids.",
)
@click.option(
    "--output",
    "-o",
    type=program_file(),
    metavar="FILE",
    help="Program file to write. Default: extended-RANKS.program.",
)
def command(
    *, programs: tuple[Path, ...], ranks: int, grid: tuple[int, ...] | None, output: Path | None
) -> None:
    """Extrapolate a recorded program to other numbers of ranks, from recordings at three or more of them.

    The recordings are of the same program and problem, such as at 8, 27 and 64 ranks. Recordings with
    more ranks than cores are fine for the messages, but their computation includes other ranks' time: drop it
    with 'leadline replay --compute 0'. Each partner of a message is expressed as an offset in a grid of
    ranks, as a root or as an exchange, each communicator as rows, columns, planes or blocks; sizes and
    computation are fitted as powers of the number of ranks, sizes also as sums with a multiple of it.
    What has no such form is refused with the reason.
    """
    from leadline.core.units import format_bytes  # noqa: PLC0415
    from leadline.program import files  # noqa: PLC0415
    from leadline.program.extend import extend  # noqa: PLC0415

    path = output or Path(f"extended-{ranks}.program")
    with working("reading the programs") as say:
        read = [files.read(each) for each in programs]
        say("explaining them")
        found = extend(read, ranks, grid)
        say(f"writing {path}")
        found.program.write(path)
    lengths = "x".join(map(str, found.grid))
    click.echo(
        f"{path}: {counted(ranks, 'rank')} in a grid of {lengths} ({found.grouping.name}), "
        f"{found.program.operations_in_all:,} operations, {format_bytes(path.stat().st_size)}"
    )
    told = {
        what: "exactly" if error == 0 else f"within {100 * error:.2g} %"
        for what, error in found.errors.items()
    }
    click.echo(f"  message sizes fit the recordings {told['bytes']}")
    click.echo("  sizes and repetitions at other numbers of ranks are rounded as in the recordings")
    if "computation" in told:
        click.echo(f"  the sum of computation, a power of the number of ranks, fits {told['computation']}")
        if any(each.recorded for each in read):
            click.echo(
                "  (where there were more ranks than cores, it includes other ranks' work: replay with "
                "--compute 0)"
            )
