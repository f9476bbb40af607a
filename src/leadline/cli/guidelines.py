"""The verb that says where a library breaks guidelines that it can be held to."""

from pathlib import Path

import click

from leadline.cli._guidelines import print_verdict
from leadline.cli._table import json_option, print_table
from leadline.cli._types import Run, newest_run
from leadline.cli._working import working


@click.command
@click.argument("run", type=Run(), required=False)
@click.option(
    "--floor",
    metavar="SHARE",
    help="A guideline is broken if it is missed by more than this, such as '5 %'. "
    "Default: 2 %, and 5 % for comparisons with nonblocking operations.",
)
@click.option(
    "--where",
    "-w",
    multiple=True,
    metavar="KEY=VALUE",
    help="Use only points with this value, such as mpi=openmpi or communicator=world; repeat it for others.",
)
@json_option
def command(*, run: Path | None, floor: str | None, where: tuple[str, ...], as_json: bool) -> None:
    """List the performance guidelines that an MPI library violates, with intervals.

    RUN is a run, or a .parquet file of records. Default: the newest run. The plan 'guidelines' measures all
    that is needed.

    A guideline states that an operation takes no longer than another way to do the same: for example an
    allreduce no longer than a reduce and a bcast, a collective on MPI_COMM_WORLD no longer than on its
    duplicate, a smaller message no longer than a larger one. docs/guidelines.md lists all with their
    sources.

    A broken guideline is a result, not an error: the exit code is 0. With --json, all comparisons are listed.
    """
    from leadline.analysis import guidelines  # noqa: PLC0415  (load numpy and polars)
    from leadline.analysis.select import matching  # noqa: PLC0415
    from leadline.core import units  # noqa: PLC0415  (load numpy and polars)
    from leadline.run import store  # noqa: PLC0415  (load numpy and polars)

    limit = None if floor is None else units.parse_fraction(floor)
    with working("reading records") as say:
        records = matching(store.load(run or newest_run()), where)
        say("comparing")
        verdict = guidelines.judge(records, limit)
    if as_json:
        print_table([each.row() for each in verdict.findings], {}, as_json=True)
    else:
        print_verdict(verdict)
