"""`leadline against`: how far a simulated run is from a measured one."""

from pathlib import Path

import click

from leadline.cli._table import json_option
from leadline.cli._types import Run
from leadline.cli._working import working


@click.command
@click.argument("measured", type=Run())
@click.argument("simulated", type=Run())
@click.option(
    "--where",
    "-w",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only those measured points, such as mpi=openmpi; may be given several times.",
)
@json_option
def command(*, measured: Path, simulated: Path, where: tuple[str, ...], as_json: bool) -> None:
    """Hold a simulated run against a measured one of the same plan.

    MEASURED and SIMULATED are runs (by name or directory) or record files. Every point that both have gets
    the measured value with its interval, the simulated one, their ratio, and whether the simulated value
    lies in the interval; then each pattern, and all points together.
    """
    from leadline.analysis import validate as against  # noqa: PLC0415  (load numpy and polars)
    from leadline.cli._against import print_against  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415  (load numpy and polars)

    with working("reading records"):
        held, found = against.prepared(store.load(measured), where), store.load(simulated)
    print_against(held, found, as_json)
