"""Other suites' results as records, so that old numbers can be fitted, reported and compared.

A suite is a file of this package whose `tables` reads the text that the suite prints; `read` makes records of
what it finds. Each line of a table is one launch with one sample, the mean that the suite printed.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Protocol, cast

import polars as pl

from leadline import __version__
from leadline.analysis.importers.table import Cell, Table
from leadline.core.axes import AXES, DEFAULT
from leadline.core.errors import UsageError, suggest
from leadline.core.record import FAILED, IMPORTED, OK, SKIPPED, Record, frame


class Importer(Protocol):
    """What the file of a suite holds."""

    TITLE: str  # the suite as its makers write it

    def tables(self, path: Path, lines: Sequence[str]) -> Iterable[Table]:
        """The tables of numbers in a text; UsageError, with the line, where it is something else."""
        ...


# The unit of each metric that is read, and which way is good.
METRICS = {
    "latency": ("s", "lower"),
    "mean": ("s", "lower"),
    "time": ("s", "lower"),
    "bandwidth": ("B/s", "higher"),
    "message_rate": ("1/s", "higher"),
}


def names() -> list[str]:
    """The suites that can be read."""
    return sorted(
        each.name for each in iter_modules(__path__) if each.name != "table" and not each.name.startswith("_")
    )


def importer(name: str) -> Importer:
    """The importer of a suite; UsageError where there is none."""
    if name not in names():
        raise UsageError(f"no importer for {name!r}{suggest(name, names())}")
    return cast(Importer, import_module(f"{__name__}.{name}"))


def read(
    name: str, texts: Mapping[Path, bytes], given: Mapping[str, object] | None = None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The record table of the output of suite `name`, and its provenance.

    `texts` are the files' contents by path; `given` are fields and coordinates that the text does not tell
    (the MPI, the placement) or tells wrongly. Raises UsageError, naming file and line, for what is not
    the suite's output.
    """
    suite = importer(name)
    found: list[Table] = []
    for path, data in texts.items():
        tables = list(suite.tables(path, data.decode("utf-8", errors="replace").splitlines()))
        if "ranks" not in (given or {}):
            _check_ranks(found, tables)
        found += tables
    records = [each for table, launch in _launches(found) for each in _records(table, launch, given or {})]
    if not any(each.status == OK for each in records):
        raise UsageError(f"{', '.join(map(str, texts))}: nothing was measured: {records[0].reason}")
    about = {
        "source": IMPORTED,
        "suite": suite.TITLE,
        "versions": sorted({table.version for table in found if table.version}),
        "files": [
            {"path": str(path), "sha256": hashlib.sha256(data).hexdigest()} for path, data in texts.items()
        ],
        "notes": list(dict.fromkeys(note for table in found for note in _notes(table, given or {}))),
        "given": dict(given or {}),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "leadline": __version__,
    }
    return frame(records), about


def _notes(table: Table, given: Mapping[str, Any]) -> Iterator[str]:
    """What is to be known of a table; what was stated was not taken for granted."""
    yield from table.notes
    yield from (note for coordinate, note in table.assumed.items() if coordinate not in given)


def _check_ranks(before: Sequence[Table], of_file: Sequence[Table]) -> None:
    """UsageError where files would be launches of one point, and nobody says that it is one of ranks."""
    known = {_point(table): table for table in before}
    for table in of_file:
        if table.any_ranks and (other := known.get(_point(table))):
            raise UsageError(
                f"{other.place} and {table.place}: both are {table.benchmark}, and neither says of how many "
                "ranks: give --ranks N if they are of equally many, and import those of other numbers apart"
            )


def _point(table: Table) -> tuple[object, ...]:
    """What a table measured, whose launches are told by their order."""
    return (table.benchmark, table.ranks, *sorted(table.coordinates.items()))


def _launches(tables: Iterable[Table]) -> Iterator[tuple[Table, int]]:
    """Each table with the ordinal of its launch: how often the same was measured before it."""
    before: Counter[object] = Counter()
    for table in tables:
        what = _point(table)
        yield table, before[what]
        before[what] += 1


def _records(table: Table, launch: int, given: Mapping[str, Any]) -> Iterator[Record]:
    """The records of one table."""
    common = {
        "source": IMPORTED,
        "benchmark": table.benchmark,
        "mpi": "unknown",
        **{name: DEFAULT for name, axis in AXES.items() if axis.setting == (DEFAULT,) and not axis.later},
        "ranks": table.ranks,
        "launch": launch,
    }
    points = Counter(tuple(sorted(cell.coordinates.items())) for cell in table.cells)
    twice = next((point for point, count in points.items() if count > 1), None)
    if twice is not None:
        said = ", ".join(f"{name} {value}" for name, value in twice) or "a row"
        raise UsageError(f"{table.place}: this table has {said} twice: are there two under one title?")
    cells = table.cells or [Cell({}, reason=table.empty, failed=True)]
    for cell in cells:
        at = {**common, **table.coordinates, **cell.coordinates, **given}
        if cell.reason is not None:
            why = {"status": FAILED if cell.failed else SKIPPED, "reason": cell.reason}
            yield Record.of({**at, "metric": "", **why})
            continue
        for metric, value in cell.values.items():
            unit, better = METRICS[metric]
            measured = {"metric": metric, "unit": unit, "better": better, "samples": [value], "warmup": 0}
            yield Record.of({**at, **measured, "status": OK, "batch": cell.batch})
