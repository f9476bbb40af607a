"""The tables of a report: every number of a benchmark with its unit and interval, one row a point."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis import start_skew as starts
from leadline.core import units
from leadline.core.axes import AXES, DEFAULT
from leadline.core.formatting import counted, format_row, next_launch
from leadline.core.record import Row
from leadline.report.subject import SIZES, sweeps, varying
from leadline.report.words import coordinates, way

_WAY = ("run", *(name for name, axis in AXES.items() if DEFAULT in axis.setting))
_KEYS = ("run", "source", *AXES)


@dataclass(frozen=True)
class Column:
    """A column's heading; numbers stand to the right."""

    heading: str
    number: bool = False


@dataclass(frozen=True)
class Cell:
    """What a cell shows, and by what number it is sorted (null: by what it shows)."""

    text: str
    sort: float | None = None
    number: bool = False


@dataclass(frozen=True)
class TableRow:
    """The cells of a point; `mark` is "disturbed" or "meaningless" where it is."""

    cells: list[Cell]
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """A table with what it is called to those who do not see it."""

    label: str
    columns: list[Column]
    rows: list[TableRow]


def points_table(benchmark: str, rows: Sequence[Row]) -> Table:
    """The table of a benchmark's points: what differs between them first, then value, intervals, remarks."""
    told = differing(rows)
    metrics = varying(rows, ["metric"])
    columns = [Column(name, isinstance(_example(rows, name), int)) for name in [*metrics, *told]]
    columns.append(Column("value", True))
    exact = all(row.get("exact") for row in rows)
    columns += [] if exact else [Column(name, True) for name in ("95 % interval", "next launch", "launches")]
    columns.append(Column("remarks"))
    return Table(f"Points of {benchmark}", columns, [_row(row, [*metrics, *told], exact) for row in rows])


def differing(rows: Sequence[Row]) -> list[str]:
    """The keys and coordinates that differ between `rows`, in the records' order."""
    return varying(rows, [*_KEYS, *sweeps(rows)])


def common(rows: Sequence[Row]) -> str:
    """What all `rows` share, in one line: library, stack, placement, ranks, coordinates, transport."""
    if not rows:
        return ""
    alike = [name for name in (*_KEYS[2:], *sweeps(rows)) if name not in differing(rows)]
    words = [coordinates(rows[0], [name for name in alike if name != "ranks"])]
    if "ranks" in alike and rows[0]["ranks"] is not None:
        words.append(counted(rows[0]["ranks"], "rank"))
    carried = {(row["mpi"], way(row)) for row in rows if row.get("transport")}
    words += [f"{mpi or 'all'} {how}" for mpi, how in sorted(carried, key=str)]
    if all(row.get("exact") for row in rows):
        words.append("simulated, without intervals")
    if any(row.get("oversubscribed") for row in rows):
        words.append("some points with more ranks than cores")
    return "; ".join(word for word in words if word)


def _example(rows: Sequence[Row], name: str) -> object:
    """A value of a coordinate, to tell numbers from words."""
    return next((row[name] for row in rows if row.get(name) is not None), None)


def _row(row: Row, told: Sequence[str], exact: bool) -> TableRow:
    """One point; of a table that is `exact` all through, without the columns of intervals."""
    quantity = format_row(row)
    coming = next_launch(row)
    cells = [_coordinate(name, row.get(name)) for name in told]
    cells.append(Cell(quantity.value, row["value"], True))
    if not exact:
        cells += [
            Cell(f"{quantity.interval} {quantity.note}".strip() or units.MISSING, row.get("low"), True),
            Cell(f"{coming.value} {coming.note}".strip(), row.get("next_low"), True),
            Cell(str(row.get("launches") or units.MISSING), row.get("launches"), True),
        ]
    cells.append(Cell(remarks(row)))
    mark = "meaningless" if row.get("meaningless") else "disturbed" if row.get("disturbed") else ""
    return TableRow(cells, mark)


def _coordinate(name: str, value: Any) -> Cell:
    """A coordinate or key of a point."""
    if value is None:
        return Cell(units.MISSING)
    if isinstance(value, str):
        return Cell(value)
    return Cell(units.format_bytes(value) if name in SIZES else str(value), value, True)


def remarks(row: Row) -> str:
    """What must be known before a point is believed."""
    said = []
    if row.get("meaningless"):
        said.append(str(row.get("disturbance") or "the interval is too wide to use"))
    elif row.get("disturbed"):
        said.append(str(row.get("disturbance") or "other work on the machine"))
    if row.get("oversubscribed"):
        said.append("more ranks than cores")
    said += starts.remarks(row)
    if row.get("reason"):
        said.append(str(row["reason"]))
    return "; ".join(said)


@dataclass(frozen=True)
class Missing:
    """Points that were not run for one reason."""

    point: str
    status: str
    reason: str


def missing(rows: Sequence[Row]) -> list[Missing]:
    """The rows without numbers; those that share their reason and way of running are told together."""
    gathered: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        gathered.setdefault((row["status"], row["reason"], *(row.get(name) for name in _WAY)), []).append(row)
    return [_missing(alike) for alike in gathered.values()]


def _missing(rows: Sequence[Row]) -> Missing:
    """Rows that share their reason, told as one: libraries, way of running, and the point or how many."""
    first = rows[0]
    words = list(dict.fromkeys(str(row["mpi"]) for row in rows if row.get("mpi")))
    words.append(coordinates(first, [name for name in _WAY if name != "run"]))
    if len(rows) > 1:
        words.append(counted(len(rows), "point"))
    else:
        words.append(coordinates(first, ["ranks", *sweeps(rows)]))
    reason = str(first["reason"] or "no reason was recorded")
    told = ", ".join(word for word in words if word)
    return Missing(told or str(first["benchmark"]), str(first["status"]), reason)
