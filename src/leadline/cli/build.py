"""`leadline build`: builds what a plan needs, before an allocation is there."""

from pathlib import Path

import click

from leadline.cli._types import PlanFile
from leadline.cli._working import working


@click.command()
@click.argument("plan", type=PlanFile(), required=False)
@click.option("--simulator", is_flag=True, help="Build the simulator, for commands with --on.")
@click.option(
    "--recorder",
    is_flag=True,
    help="Build the library of 'leadline record', for each MPI that can be built for.",
)
def command(*, plan: Path | None, simulator: bool, recorder: bool) -> None:
    """Build what a plan or other commands need, such as on a login node or in an image.

    PLAN is a name from 'leadline list plans' or a TOML file. A run of it then spends no time of its
    allocation on compiling, as long as its nodes see the same state directory (LEADLINE_STATE).
    """
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.native.build import build, build_describe, build_sim  # noqa: PLC0415
    from leadline.plan.model import Plan  # noqa: PLC0415
    from leadline.record.session import prepare  # noqa: PLC0415
    from leadline.targets.local.machine import LocalMachine  # noqa: PLC0415

    if not (plan or simulator or recorder):
        raise UsageError("what is to be built: give a PLAN, --simulator or --recorder")
    with working("building"):
        build_describe()
        here = LocalMachine.here()
        needed = {point.mpi for point in Plan.load(plan).points(here.alone())} if plan else set()
        for mpi in here.known:
            if mpi.id in needed:
                click.echo(f"{mpi.id}: {build(mpi)}")
            if recorder and mpi.compiler:
                click.echo(f"{mpi.id}: {prepare(mpi)}")
        if simulator:
            click.echo(f"simulator: {build_sim()}")
