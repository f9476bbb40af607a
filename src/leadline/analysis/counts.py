"""How many points there are: the one count of `run`, `show`, `compare` and the report.

A point is one benchmark with one value for each of its sweeps, started in one way (MPI, stack, placement,
ranks, ...). It counts once, whatever the number of its metrics and launches.
"""

from collections.abc import Iterable

import polars as pl

from leadline.core.record import FAILED, FIELDS, INVALID, KEYS, OK, SKIPPED

STATES = (INVALID, OK, FAILED, SKIPPED)  # a point has the first of these that any of its launches had
POINT_KEYS = [key for key in KEYS if key != "metric"]


def point_names(table: pl.DataFrame, others: Iterable[str] = ()) -> list[str]:
    """The columns that tell points apart in records, or in a table with `others` beside them."""
    without = {*FIELDS, *others} - {*POINT_KEYS}
    return [name for name in table.columns if name not in without]


def count_points(table: pl.DataFrame, others: Iterable[str] = ()) -> dict[str, int]:
    """The number of points by state, of records or of a summary; `others` are columns that are no
    coordinates.
    """
    names = point_names(table, others)
    rank = {state: place for place, state in enumerate(STATES)}
    states = (
        table.group_by(names).agg(
            pl.col("status").replace_strict(rank, return_dtype=pl.Int64).min().alias("state")
        )
    ).get_column("state")
    return {state: int((states == place).sum()) for state, place in rank.items()}
