"""`leadline program import`: a program from another tool's file."""

from pathlib import Path

import click

from leadline.cli._output import program_file
from leadline.cli._types import Existing, Word
from leadline.cli._working import working
from leadline.core.formatting import counted
from leadline.program import importers


@click.command(
    epilog="\b\nExamples:\n  leadline program import goal sweep3d.goal\n"
    "  leadline program import otf2 scorep/traces.otf2 -o app.program\n"
    "  leadline replay sweep3d.program --on bgp"
)
@click.argument("form", type=Word(importers.names()))
@click.argument("file", type=Existing())
@click.option(
    "--output",
    "-o",
    type=program_file(),
    help="Program file to write. Default: the file's name with .program.",
)
@click.option(
    "--flops",
    type=click.FloatRange(0, min_open=True),
    default="1e9",
    show_default=True,
    help="For smpi: floating-point operations a second that turn operations into seconds of computation.",
)
def command(form: str, file: Path, output: Path | None, flops: float) -> None:
    """Make a program file from another tool's file.

    The first word is the format of FILE: goal, a schedule of LogGOPSim or ATLAHS, text or binary; otf2, a
    trace of Score-P or another tool that writes OTF2, by its file traces.otf2; smpi, a time-independent trace
    of SimGrid, or the list of them.
    """
    path = output or file.with_suffix(".program")
    with working(f"reading {file}"):
        program, notes = importers.read(form, file, flops)
        program.write(path)
    for note in notes:
        click.echo(f"note: {note}", err=True)
    operations = counted(program.operations_in_all, "operation")
    click.echo(f"{path}: {counted(program.ranks, 'rank')}, {operations}")
