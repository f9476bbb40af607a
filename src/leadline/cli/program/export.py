"""`leadline program export`: a program in another tool's form."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._machine import load_described
from leadline.cli._options import Parsed, machine_option
from leadline.cli._table import tell
from leadline.cli._types import Existing, Word
from leadline.cli._working import working
from leadline.core.formatting import counted
from leadline.program import exporters

if TYPE_CHECKING:
    from leadline.program.messages import Ask


def _algorithm(text: str) -> tuple[str, str]:
    """An operation and its algorithm."""
    from leadline.core.errors import UsageError  # noqa: PLC0415

    operation, equals, name = text.strip().partition("=")
    if not (operation and equals and name):
        raise UsageError(f"an algorithm is such as allreduce=ring, but got {text!r}")
    return operation, name


@click.command(epilog="\b\nExample:\n  leadline program export goal halo.program -o halo.goal")
@click.argument("form", type=Word(exporters.names()))
@click.argument("program", type=Existing())
@click.option("--output", "-o", type=click.Path(path_type=Path), required=True, help="The file to write.")
@click.option(
    "--flops",
    type=click.FloatRange(0, min_open=True),
    default="1e9",
    show_default=True,
    help="For smpi: floating-point operations a second that turn seconds of computation into operations.",
)
@machine_option(
    "For goal: write collectives by the algorithms that this described machine takes, with its times of "
    "copying and combining. Default: those of MPICH 3, a rank on each node, without such times."
)
@click.option(
    "--algorithm",
    "algorithms",
    type=Parsed(_algorithm),
    multiple=True,
    metavar="OPERATION=NAME",
    help="For goal: the algorithm of a collective, as allreduce=ring. Repeatable.",
)
def command(
    *,
    form: str,
    program: Path,
    output: Path,
    flops: float,
    machine: Path | None,
    algorithms: tuple[tuple[str, str], ...],
) -> None:
    """Write a program file in another tool's format, loops unfolded.

    The first word is the format: goal, a schedule of LogGOPSim (messages and computation: a collective is
    the messages of its algorithm), or smpi, a time-independent trace of SimGrid.
    """
    from leadline.program import read  # noqa: PLC0415  (loads polars)

    if form != "goal" and (machine or algorithms):
        option = "--on" if machine else "--algorithm"
        raise click.UsageError(
            f"{option} is for goal: {form} has collectives itself", click.get_current_context()
        )
    with working(f"writing {output}"):
        found = read(program)
        said = exporters.write(form, found, output, flops, _ask(machine, found.ranks, dict(algorithms)))
    operations = counted(found.operations_in_all, "operation")
    click.echo(f"{output}: {counted(found.ranks, 'rank')}, {operations}")
    for sentence in said:
        tell(f"  {sentence}", indent="    ")


def _ask(machine: Path | None, ranks: int, algorithms: dict[str, str]) -> "Ask":
    """Who knows the messages of collectives."""
    from leadline.targets.simulated.collectives import asking  # noqa: PLC0415
    from leadline.targets.simulated.machine import SimulatedMachine  # noqa: PLC0415

    target = SimulatedMachine.of(load_described(machine), None, ranks) if machine else None
    return asking(target, algorithms)
