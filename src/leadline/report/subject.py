"""What a figure is about: one benchmark's points, and the names and colours of the series they form.

A *series* is what stands beside another on purpose: a library, a stack, a placement, a run, measured or
simulated. It has the same name and colour in every figure of a report. A *variant* is what a benchmark itself
varies beside its x axis: buffers reused or rotated, two sizes, a protocol that was forced.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from leadline.analysis.summary import COLUMNS
from leadline.core import record, units
from leadline.core.axes import AXES
from leadline.core.record import Row
from leadline.report import theme

if TYPE_CHECKING:
    from leadline.analysis.fits import Fit

# Coordinates in bytes; all other numbers that a benchmark sweeps are counts.
SIZES = ("bytes", "size")
HEADLINE = 8  # B: the message whose latency a report leads with, or the size nearest to it
_USUAL = {"buffers": "reused", "protocol": "default"}
SERIES = ("run", "source", *(name for name, axis in AXES.items() if axis.names_series))
# Axes that only some points have: on described machines, and of libraries that were told something.
PLACED = tuple(name for name, axis in AXES.items() if axis.later)
TOLD = tuple(name for name in PLACED if AXES[name].setting)  # of these having none is a way of its own
UNTOLD = ("default", "auto", "unknown", record.MEASURED)  # goes without saying
_STATISTICS = frozenset(COLUMNS)


@dataclass(frozen=True)
class Names:
    """Names of the series of a report: only what differs somewhere in it is said, besides the MPI.

    `differing` are the keys that differ; `order` lists every series, whose place in it decides its colour.
    """

    differing: tuple[str, ...]
    order: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, object]]) -> "Names":
        """Names for the series in `rows` (of a summary or of records).

        A key differs when it does so within a benchmark: that noise was measured on all cores and the
        ping-pong on two does not make two series of one library. Runs stand in the order of `rows`, the
        rest by name.
        """
        rows = list(rows)
        differing = tuple(key for key in SERIES if _differs(rows, key))
        unordered = cls(differing)
        runs = list(dict.fromkeys(row.get("run") for row in rows))
        places = {(runs.index(row.get("run")), unordered.series(row)) for row in rows}
        return cls(differing, tuple(dict.fromkeys(series for _, series in sorted(places))))

    def series(self, row: Mapping[str, object]) -> str:
        """The series that `row` belongs to: "mpich-4.0.2 · sockets"."""
        told = [row.get("mpi"), *(row.get(key) for key in self.differing if key != "mpi")]
        shown = [str(word) for word in told if word and word not in UNTOLD]
        return " · ".join(shown) or str(row.get("source") or "unnamed")

    def index(self, series: str) -> int:
        """The place of a series in the report."""
        return self.order.index(series) if series in self.order else len(self.order)


@dataclass(frozen=True)
class Subject:
    """One benchmark of a report, as its figures see it.

    `rows` are the summary's rows that have numbers; `records` are the benchmark's records with their samples;
    `fits` are the models fitted to it, `expected` what its model as an application says.
    """

    benchmark: str
    rows: list[Row]
    names: Names
    records: pl.DataFrame = field(default_factory=pl.DataFrame)
    fits: Sequence["Fit"] = ()
    expected: Sequence[Row] = ()  # rows with what the benchmark's model says in place of what was measured

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics that were measured, in order."""
        return list(dict.fromkeys(row["metric"] for row in self.rows))

    @cached_property
    def sweeps(self) -> list[str]:
        """The benchmark's coordinates, in the records' order."""
        return sweeps(self.rows)

    @cached_property
    def several(self) -> bool:
        return len({self.names.series(row) for row in self.rows}) > 1

    def of(self, *metrics: str) -> list[Row]:
        return [row for row in self.rows if row["metric"] in metrics]


def _differs(rows: Iterable[Mapping[str, object]], key: str) -> bool:
    """Whether `key` takes several values in the rows of some benchmark; runs differ wherever they are."""
    values: dict[object, set[object]] = {}
    for row in rows:
        values.setdefault(None if key == "run" else row.get("benchmark"), set()).add(row.get(key))
    return any(len(each) > 1 for each in values.values())


def sweeps(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """The coordinates of the points in `rows`: columns that are neither keys nor statistics and not all
    null.
    """
    names: dict[str, None] = {}
    for row in rows:
        names |= {
            name: None
            for name, value in row.items()
            if value is not None and name not in _STATISTICS and name not in record.FIELDS
        }
    return list(names)


def varying(rows: Sequence[Mapping[str, object]], names: Iterable[str]) -> list[str]:
    """Those of `names` that take more than one value in `rows`."""
    return [name for name in names if len({row.get(name) for row in rows}) > 1]


def placed(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Those of the keys which only some points have that tell `rows` apart."""
    found = {name: {row.get(name) for row in rows} for name in PLACED}
    return [name for name, values in found.items() if len(values if name in TOLD else values - {None}) > 1]


def coordinate(name: str, value: object) -> str:
    """A coordinate for people: "64 KiB", "rotated", "window 64"."""
    if value is None:
        return f"no {name}"
    if isinstance(value, str):
        return f"{name} {value}" if value in ("on", "off") else value
    return units.format_bytes(value) if name in SIZES and isinstance(value, int) else f"{name} {value}"


def variant(row: Mapping[str, object], names: Iterable[str]) -> str:
    """The variant that `row` belongs to, told by the coordinates `names`: "rotated, window 64"."""
    told = (name for name in names if row.get(name) is not None or name not in PLACED)
    return ", ".join(coordinate(name, row.get(name)) for name in told)


def colour(names: Names, series: str) -> str:
    """The colour token of a series, the same all through a report."""
    return theme.hue(names.index(series))


def usual(point: Mapping[str, object]) -> bool:
    """Whether a point or a fit's series is the usual variant: reused buffers, no protocol forced."""
    return all(point.get(name) in (None, value) for name, value in _USUAL.items())
