"""The record: all samples of one metric at one point from one launch, with what is needed to believe them.

It is the only thing that crosses rooms. Everything is in SI units and no sample is thrown away; every
statistic is derived later (`leadline.analysis.summary`). A point that could not be run is a record as
well: its
`status` says so and its `reason` says why. So is one whose program found its own result to be wrong.

A record table is a polars data frame with the columns of `FIELDS`, and one more column for each sweep that a
benchmark declares (`bytes`, `window`, ...): those are the coordinates of the point, null where a benchmark
does not have that sweep.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

import polars as pl

from leadline.core.axes import AXES, LaunchAxes

if TYPE_CHECKING:
    from polars._typing import PolarsDataType

MEASURED, SIMULATED, IMPORTED = "measured", "simulated", "imported"
OK, SKIPPED, FAILED = "ok", "skipped", "failed"
INVALID = "invalid"  # it ran, and its own result was wrong: what it took is no measurement
FORMAT = 1  # raised when a field changes its meaning; readers refuse what is newer than they are


_COLUMNS: dict[object, "PolarsDataType"] = {
    str: pl.String,
    str | None: pl.String,
    int: pl.Int64,
    int | None: pl.Int64,
}


class Field(NamedTuple):
    """A column: its type and what it says."""

    type: Any
    says: str


FIELDS: dict[str, Field] = {
    "run": Field(pl.String, "name of the run"),
    "source": Field(pl.String, "measured, simulated or imported"),
    "benchmark": Field(pl.String, "name of the benchmark"),
    "metric": Field(pl.String, "what was measured; empty where the point was not run"),
    "unit": Field(pl.String, "SI unit of the samples: s, B/s, 1/s or 1"),
    "better": Field(pl.String, "lower or higher: which way is good"),
    **{name: Field(_COLUMNS[hint], AXES[name].says) for name, hint in get_type_hints(LaunchAxes).items()},
    "oversubscribed": Field(pl.Boolean, "more ranks than cores"),
    "transport": Field(pl.String, "what the library says that it used; the networks that answered"),
    "binding": Field(pl.String, "host:core of each rank, as hwloc saw it from inside"),
    "launch": Field(pl.Int64, "ordinal of the launch in its run, from 0"),
    "status": Field(pl.String, "ok, skipped (cannot be asked here), failed, or invalid (a wrong result)"),
    "reason": Field(pl.String, "why it was skipped, failed or is invalid"),
    "samples": Field(pl.List(pl.Float64), "every sample in order, in `unit`"),
    "warmup": Field(pl.Int64, "how many of the first samples are warm-up"),
    "batch": Field(pl.Int64, "operations in one sample after warm-up"),
    "stopped_by": Field(pl.String, "what ended the sampling: tolerance, time or samples; exact: simulated"),
    "started": Field(pl.Datetime("us", "UTC"), "when the point was begun"),
    "duration": Field(pl.Float64, "wall time spent on the point, s"),
    "run_delay": Field(pl.Float64, "longest time a rank waited for a processor during the point, s"),
    "switches": Field(pl.Int64, "involuntary context switches of all ranks during the point"),
    "steal": Field(pl.Float64, "processors that the hypervisor gave to others, mean since the launch began"),
    "others": Field(pl.Float64, "processors kept busy by other processes, mean since the launch began"),
    "frequency": Field(pl.Float64, "clock frequency of rank 0's core at the point, Hz; null where unknown"),
    "clock_error": Field(
        pl.Float64,
        "how far the ranks' common clock may be wrong, s; null where ranks did not start by the clock",
    ),
    "late": Field(pl.Float64, "share of the samples for which some rank started late; null as above"),
    "late_at": Field(pl.Float64, "the most that a rank started late, s; null as above"),
}

# What tells one series of launches from another, beside the coordinates of the point.
KEYS = ["run", "source", "benchmark", "metric", *AXES]
# Fields that came later than the first records, which are read as if they were null there.
LATER = (*(name for name, axis in AXES.items() if axis.later), "clock_error", "late", "late_at")


def schema() -> dict[str, Any]:
    """Column types of a record table without its point columns."""
    return {name: field.type for name, field in FIELDS.items()}


def point_columns(records: pl.DataFrame) -> list[str]:
    """The coordinates of the points in `records`: its columns that are not fields, in order."""
    return [name for name in records.columns if name not in FIELDS]


def frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows (field or coordinate to value; absent means null) as a record table.

    Whole-number coordinates become Int64, words String; a coordinate that is a word anywhere is a String
    everywhere. Where a launch found a point's result to be wrong, what other launches found there is invalid
    as well: a program that is sometimes wrong is not known to be right.
    """
    rows = list(rows)
    coordinates: dict[str, Any] = {}
    for row in rows:
        for name, value in row.items():
            if name in FIELDS or value is None:
                continue
            kind = pl.Int64 if isinstance(value, int) else pl.String
            if coordinates.setdefault(name, kind) != kind:
                coordinates[name] = pl.String
    columns = {**schema(), **coordinates}
    words = {name for name, kind in coordinates.items() if kind == pl.String}
    filled = [
        {
            name: str(row[name]) if name in words and row.get(name) is not None else row.get(name)
            for name in columns
        }
        for row in rows
    ]
    return _invalidated(pl.DataFrame(filled, schema=columns, orient="row"))


def _invalidated(records: pl.DataFrame) -> pl.DataFrame:
    """`records` with every record of a point invalid that one launch found to be so, for its reason."""
    wrong = records.filter(pl.col("status") == INVALID)
    if wrong.is_empty():
        return records
    point = [name for name in (*KEYS, *point_columns(records)) if name != "metric"]
    reasons = wrong.group_by(point, maintain_order=True).agg(pl.col("reason").first().alias("why"))
    is_wrong = pl.col("why").is_not_null()
    return (
        records.join(reasons, on=point, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            status=pl.when(is_wrong).then(pl.lit(INVALID)).otherwise("status"),
            reason=pl.when(is_wrong).then("why").otherwise("reason"),
        )
        .drop("why")
    )


def concat(tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Several record tables as one; coordinates that one of them lacks become null."""
    tables = list(tables)
    if not tables:
        return pl.DataFrame(schema=schema())
    clash = {
        name
        for table in tables
        for name in point_columns(table)
        if any(name in other.columns and other.schema[name] != table.schema[name] for other in tables)
    }
    cast = [t.with_columns(pl.col(n).cast(pl.String) for n in clash & set(t.columns)) for t in tables]
    return pl.concat(cast, how="diagonal")
