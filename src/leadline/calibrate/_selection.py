"""Under which condition of a run the machine is to be described: its MPI, its stack, its placement."""

import polars as pl

from leadline.analysis.select import matching
from leadline.core.errors import UsageError
from leadline.core.record import OK

WITHIN = ("core-group", "default")  # placements that tell a node's own way, the better first
SOCKETS, NODES = "sockets", "nodes"
HINT = "'leadline run calibrate' measures all that is needed"


def chosen(
    records: pl.DataFrame, mpi: str | None = None, stack: str | None = None, run: str | None = None
) -> pl.DataFrame:
    """The records of one run, one MPI and one stack that protocols were not forced in.

    What is not named must be the only one. Raises UsageError with a list where it is not, and for a name that
    no record has; also where nothing is left.
    """
    wanted = {"run": run, "mpi": mpi, "stack": stack}
    records = matching(records, [f"{key}={value}" for key, value in wanted.items() if value])
    records = records.filter((pl.col("status") == OK) & (pl.col("protocol") == "default"))
    if records.is_empty():
        raise UsageError(f"there is no point here that was measured; {HINT}")
    for key in wanted:
        there = records.get_column(key).drop_nulls().unique().sort().to_list()
        if len(there) > 1:
            raise UsageError(
                f"a machine is calibrated on one {key}, and there are {', '.join(map(str, there))}; "
                f"choose with --{key}"
            )
    return records


def within_node(records: pl.DataFrame, placement: str | None = None) -> pl.DataFrame:
    """The records of two ranks on one node that its own way is told from; none where there are none.

    `placement` names them, else core-group is taken, then default. Raises UsageError for one without records.
    """
    if placement:
        return matching(records, [f"placement={placement}"])
    for each in WITHIN:
        found = records.filter(pl.col("placement") == each)
        if "pingpong" in found.get_column("benchmark"):
            return found
    return records.clear()
