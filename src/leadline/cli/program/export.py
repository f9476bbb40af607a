"""`leadline program export`: a program in another tool's form."""

from pathlib import Path

import click

from leadline.cli._types import Word
from leadline.cli._working import working
from leadline.program import exporters


@click.command(epilog="\b\nExample:\n  leadline program export goal halo.program -o halo.goal")
@click.argument("form", type=Word(exporters.names()))
@click.argument("program", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--output", "-o", type=click.Path(path_type=Path), required=True, help="The file to write.")
@click.option(
    "--flops",
    type=click.FloatRange(0, min_open=True),
    default="1e9",
    show_default=True,
    help="For smpi: floating-point operations a second that turn seconds of computation into operations.",
)
def command(form: str, program: Path, output: Path, flops: float) -> None:
    """Write a program file in another tool's format, loops unfolded.

    The first word is the format: goal, a schedule of LogGOPSim (messages and computation only), or smpi, a
    time-independent trace of SimGrid.
    """
    from leadline.program import read  # noqa: PLC0415  (loads polars)

    with working(f"writing {output}"):
        found = read(program)
        exporters.write(form, found, output, flops)
    click.echo(f"{output}: {found.ranks:,} ranks, {found.operations_in_all:,} operations")
