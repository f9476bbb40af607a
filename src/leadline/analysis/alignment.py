"""Which points of two runs are the same: keys that may differ, a machine for another, versions of an MPI."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from leadline.core.errors import UsageError, suggest
from leadline.core.formatting import counted
from leadline.core.record import KEYS, point_columns

MACHINE = "machine"  # may be given as a key in which two runs differ
OF_MACHINE = ("source", "mpi", "stack", "mapping", "partition")  # where these differ, the machine explains it
# Columns of a comparison that are not of the point.
FIGURES = (
    *("unit", "better", "a", "a_low", "a_high", "b", "b_low", "b_high", "ratio", "low", "high"),
    *("confidence", "detectable", "chance", "launches_a", "launches_b", "verdict", "reason"),
)


class Aligned(NamedTuple):
    """Two record tables ready for matching, the keys in which they may differ, and notes for the user."""

    a: pl.DataFrame
    b: pl.DataFrame
    across: tuple[str, ...]
    notes: tuple[str, ...]


def align(a: pl.DataFrame, b: pl.DataFrame, across: Sequence[str] = ()) -> Aligned:
    """Prepare two record tables for matching.

    `across` names keys in which they may differ; "machine" stands for those of OF_MACHINE that do. Where an
    MPI family has one version in A and another in B, and none in both, B's gets the name of A's.

    Raises UsageError for a key that is none, and where one has several values on one side, so that it is not
    clear which to compare.
    """
    keys = list(dict.fromkeys(key for key in across if key != MACHINE))
    known = [MACHINE, *(each for each in KEYS if each not in ("run", "benchmark", "metric"))]
    for key in across:
        if key not in known:
            raise UsageError(f"points cannot be compared across {key!r}{suggest(key, known)}")
    notes: list[str] = []
    if "mpi" not in keys:
        b, notes = _same_families(a, b)
    if MACHINE in across:
        keys += [key for key in OF_MACHINE if key not in keys and _values(a, key) != _values(b, key)]
    for name, table in (("A", a), ("B", b)):
        for key in keys:
            if len(values := _values(table, key)) > 1:
                listed = ", ".join(map(str, values))
                raise UsageError(
                    f"{name} has several values of {key} ({listed}); choose one: of both sides with --where "
                    f"{key}={values[0]}, of one alone with 'leadline show RUN --where {key}={values[0]} "
                    "--parquet FILE', and compare that file"
                )
    return Aligned(a, b, tuple(keys), tuple(notes))


def _values(table: pl.DataFrame, key: str) -> list[object]:
    """The values of a key, sorted."""
    return list(table.get_column(key).drop_nulls().unique().sort())


def _same_families(a: pl.DataFrame, b: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """B with the versions of A for MPIs whose family has one version in each; a note for each of them."""
    there, here = (set(map(str, _values(table, "mpi"))) for table in (a, b))
    renamed, notes = {}, []
    for mpi in sorted(here - there):
        family = mpi.partition("-")[0]
        before = [each for each in there if each.partition("-")[0] == family]
        after = [each for each in here if each.partition("-")[0] == family]
        if len(before) == len(after) == 1:
            renamed[mpi] = before[0]
            notes.append(f"{before[0]} in A is compared with {mpi} in B")
    return (b.with_columns(pl.col("mpi").replace(renamed)) if renamed else b), notes


def other_cadences(table: pl.DataFrame) -> list[str]:
    """A sentence for each pair of cadences in which points of A and B differ and in nothing else.

    `table` is one of `leadline.analysis.compare.compare`: such points are on one side each, since a time by
    one suite's definition is not a time by another's.
    """
    if "cadence" not in table.columns:
        return []
    point = [name for name in (*KEYS, *point_columns(table)) if name in table.columns and name not in FIGURES]
    sides = [
        table.filter(pl.col("verdict") == f"only in {side}").select(point).unique() for side in ("A", "B")
    ]
    beside = [name for name in point if name not in ("cadence", "metric")]
    pairs = sides[0].join(sides[1], on=beside, suffix="_b", how="inner", nulls_equal=True)
    counts = pairs.select(*beside, "cadence", "cadence_b").unique().group_by("cadence", "cadence_b").len()
    return [
        f"{counted(count, 'point')} {'differs in its' if count == 1 else 'differ in their'} cadence only "
        f"({a or 'none'} in A, {b or 'none'} in B), which is "
        f'another definition, so they were not compared; measure with cadence = ["{a or b}"]'
        for a, b, count in counts.sort("cadence", "cadence_b").iter_rows()
        if a != b
    ]
