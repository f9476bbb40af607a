"""`leadline validate`: compares a simulated run with a measured one."""

from pathlib import Path

import click

from leadline.cli._options import where_option
from leadline.cli._table import json_option
from leadline.cli._types import Run
from leadline.cli._working import working


@click.command
@click.argument("measured", type=Run())
@click.argument("simulated", type=Run())
@where_option("Use only measured points with this value, such as mpi=openmpi.")
@json_option
def command(*, measured: Path, simulated: Path, where: tuple[str, ...], as_json: bool) -> None:
    """Compare a simulated run with a measured run of the same plan.

    MEASURED and SIMULATED are runs (by name or directory), or .parquet files of records. For each common
    point the table lists the measured value with its interval, the simulated value, their ratio, and
    whether the simulated value lies within the interval. A second table summarises each benchmark, the last
    line all points.
    """
    from leadline.analysis import validate  # noqa: PLC0415  (load numpy and polars)
    from leadline.cli._validation import print_validation  # noqa: PLC0415
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.core.record import SIMULATED  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415  (load numpy and polars)

    with working("reading records"):
        found = store.load(simulated)
        if not (found.get_column("source") == SIMULATED).any():
            raise UsageError(
                f"{simulated} was measured, not simulated; 'leadline compare' compares two measured runs"
            )
        held = validate.prepared(store.load(measured), where, str(measured))
    print_validation(held, found, as_json)
