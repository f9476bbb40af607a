"""The record: all samples of one metric at one point from one launch, with what is needed to believe them.

It is the only thing that crosses rooms. Everything is in SI units and no sample is thrown away; every
statistic is derived later (`leadline.analysis.summary`). A point that could not be run is a record as
well: its `status` says so and its `reason` says why. So is one whose program found its result to be wrong.

A record table is a polars data frame with the columns of `FIELDS`, and one more column for each sweep that a
benchmark declares (`bytes`, `window`, ...): those are the coordinates of the point, null where a benchmark
does not have that sweep.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_type_hints

import polars as pl

from leadline.core.axes import AXES, LaunchAxes
from leadline.core.values import Value

if TYPE_CHECKING:
    from polars._typing import PolarsDataType

MEASURED, SIMULATED, IMPORTED = "measured", "simulated", "imported"
OK, SKIPPED, FAILED = "ok", "skipped", "failed"
INVALID = "invalid"  # it ran, and its own result was wrong: what it took is no measurement
FORMAT = 1  # raised when a field changes its meaning; readers refuse what is newer than they are

Cell = str | int | float | bool | datetime | list[float] | None  # a value of a record table
# A row of a table by the names of its columns, whose types are those of the table's schema.
Row = dict[str, Any]

_TYPES: dict[object, "PolarsDataType"] = {
    str: pl.String,
    int: pl.Int64,
    float: pl.Float64,
    bool: pl.Boolean,
    datetime: pl.Datetime("us", "UTC"),
    list[float]: pl.List(pl.Float64),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """All samples of one metric at one point from one launch; None is what nobody knows.

    A field that is annotated with a sentence is a column, as are the axes of its launch (`LaunchAxes`) and
    the coordinates of its point.
    """

    run: Annotated[str | None, "name of the run"] = None
    source: Annotated[str | None, "measured, simulated or imported"] = None
    benchmark: Annotated[str, "name of the benchmark"]
    metric: Annotated[str | None, "what was measured; empty where the point was not run"] = None
    unit: Annotated[str | None, "SI unit of the samples: s, B/s, 1/s or 1"] = None
    better: Annotated[str | None, "lower or higher: which way is good"] = None
    difference: Annotated[bool | None, "a difference of two measured times, which may fall below zero"] = None
    axes: Mapping[str, Value | None]
    oversubscribed: Annotated[bool | None, "more ranks than cores"] = None
    transport: Annotated[str | None, "what the library says that it used; the networks that answered"] = None
    binding: Annotated[str | None, "host:core of each rank, as hwloc saw it from inside"] = None
    launch: Annotated[int, "ordinal of the launch in its run, from 0"]
    status: Annotated[
        str | None, "ok, skipped (cannot be asked here), failed, or invalid (a wrong result)"
    ] = None
    reason: Annotated[str | None, "why it was skipped, failed or is invalid"] = None
    samples: Annotated[list[float] | None, "every sample in order, in `unit`"] = None
    warmup: Annotated[int | None, "how many of the first samples are warm-up"] = None
    batch: Annotated[int | None, "operations in one sample after warm-up"] = None
    stopped_by: Annotated[
        str | None, "what ended the sampling: tolerance, time or samples; exact: simulated"
    ] = None
    started: Annotated[datetime | None, "when the point was begun"] = None
    duration: Annotated[float | None, "wall time of all samples, s"] = None
    run_delay: Annotated[float | None, "longest time a rank waited for a processor meanwhile, s"] = None
    switches: Annotated[int | None, "involuntary context switches of all ranks during the point"] = None
    steal: Annotated[
        float | None, "processors that the hypervisor gave to others, mean since the launch began"
    ] = None
    others: Annotated[
        float | None, "processors kept busy by other processes, mean since the launch began"
    ] = None
    frequency: Annotated[
        float | None, "clock frequency of rank 0's core at the point, Hz; null where unknown"
    ] = None
    clock_error: Annotated[
        float | None,
        "how far the ranks' common clock may be wrong, s; null where ranks did not start by the clock",
    ] = None
    late: Annotated[float | None, "share of the samples for which some rank started late; null as above"] = (
        None
    )
    late_at: Annotated[float | None, "the most that a rank started late, s; null as above"] = None
    coordinates: Mapping[str, Value | None]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Record":
        """The record with these columns; what is no field is a coordinate.

        Raises KeyError without a benchmark or a launch.
        """
        return cls(
            **{name: row[name] for name in _OWN if name in row or name in ("benchmark", "launch")},
            axes={name: row[name] for name in AXES if name in row},
            coordinates={name: value for name, value in row.items() if name not in FIELDS},
        )

    def row(self) -> dict[str, Cell]:
        """The value of each column that is not null."""
        own = {name: getattr(self, name) for name in _OWN}
        columns = {**own, **self.axes, **self.coordinates}
        return {name: value for name, value in columns.items() if value is not None}


class Field(NamedTuple):
    """A column: its type and what it says."""

    type: "PolarsDataType"
    says: str


def _fields() -> Iterator[tuple[str, Field]]:
    """The columns of a record table but for the coordinates, in their order."""
    hints = get_type_hints(Record, include_extras=True)
    for name in (each.name for each in fields(Record)):
        if name == "axes":
            yield from ((axis, Field(_column(hint), AXES[axis].says)) for axis, hint in _AXIS_TYPES.items())
        elif name != "coordinates":
            yield name, Field(_column(hints[name].__origin__), hints[name].__metadata__[0])


def _column(hint: object) -> "PolarsDataType":
    """The type of a column whose values are of this type, or null."""
    return _TYPES[next((each for each in get_args(hint) if each in _TYPES), hint)]


_AXIS_TYPES = get_type_hints(LaunchAxes)
FIELDS: dict[str, Field] = dict(_fields())
_OWN = tuple(name for name in FIELDS if name not in AXES)

# What tells one series of launches from another, beside the coordinates of the point.
KEYS = ["run", "source", "benchmark", "metric", *AXES]
# Fields that came later than the first records, which are read as if they were null there.
LATER = (*(name for name, axis in AXES.items() if axis.later), "difference", "clock_error", "late", "late_at")


def schema() -> "dict[str, PolarsDataType]":
    """Column types of a record table without its point columns."""
    return {name: field.type for name, field in FIELDS.items()}


def point_columns(records: pl.DataFrame) -> list[str]:
    """The coordinates of the points in `records`: its columns that are not fields, in order."""
    return [name for name in records.columns if name not in FIELDS]


def frame(records: Iterable[Record]) -> pl.DataFrame:
    """Records as a table.

    Whole-number coordinates become Int64, words String; a coordinate that is a word anywhere is a String
    everywhere. Where a launch found a point's result to be wrong, what other launches found there is invalid
    as well: a program that is sometimes wrong is not known to be right.
    """
    records = list(records)
    coordinates: dict[str, PolarsDataType] = {}
    for record in records:
        for name, value in record.coordinates.items():
            if value is not None:
                kind = pl.Int64 if isinstance(value, int) else pl.String
                if coordinates.setdefault(name, kind) != kind:
                    coordinates[name] = pl.String
    words = {name for name, kind in coordinates.items() if kind == pl.String}
    rows = [record.row() for record in records]
    for row in rows:
        row.update({name: str(row[name]) for name in words & row.keys()})
    return _invalidated(pl.DataFrame(rows, schema={**schema(), **coordinates}, orient="row"))


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
