"""`leadline build`: builds what a plan needs, before an allocation is there."""

from pathlib import Path

import click

from leadline.cli._types import PlanFile
from leadline.cli._working import working


@click.command()
@click.argument("plan", type=PlanFile())
def command(*, plan: Path) -> None:
    """Build the benchmark programs that a plan needs, such as on a login node.

    PLAN is a name from 'leadline list plans' or a TOML file. A run of it then spends no time of its
    allocation on compiling, as long as its nodes see the same state directory (LEADLINE_STATE).
    """
    from leadline.native.build import build, build_mock  # noqa: PLC0415
    from leadline.plan.model import Plan  # noqa: PLC0415
    from leadline.targets.local.machine import LocalMachine  # noqa: PLC0415

    with working("building"):
        build_mock()
        here = LocalMachine.here()
        needed = {point.mpi for point in Plan.load(plan).points(here)}
        for mpi in here.known:
            if mpi.id in needed:
                click.echo(f"{mpi.id}: {build(mpi)}")
