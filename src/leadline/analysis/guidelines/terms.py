"""Which points of a run stand on either side of a guideline, and what their launches say together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from leadline.analysis.estimates import is_exact, launch_estimates
from leadline.analysis.guidelines.rules import ANY, HALF, LEAST, MORE, Guideline, Term
from leadline.core.collectives import BLOCKS, OPERATIONS, TUNED, members
from leadline.core.record import KEYS, point_columns

METRIC = "time"
USUAL: dict[str, Any] = {"form": "blocking", "variation": "none", "algorithm": "library", "root": 0}
USUAL |= {"reduction": "sum", "type": "double", "communicator": "world", "cadence": "back-to-back"}
# What of a point is not the library's usual way, and stands only on the right of a guideline.
PLAIN = ("form", "variation", "algorithm")
SLACK = 2  # a term may be as many times larger than needed: more data is not faster, so the bound still holds
NONE = (1, 0)  # a range of sizes in which none lies
PAIRED = 4  # launches that all terms of a sum must share for it to be taken launch by launch

Context = tuple[Any, ...]


@dataclass(frozen=True)
class Series:
    """A point with what each of its launches found, s."""

    context: Context
    operation: str
    values: Mapping[str, Any]  # its coordinates
    medians: Mapping[int, float]  # by launch
    exact: bool

    @property
    def bytes(self) -> int | None:
        """The size of its block or message; None for a barrier."""
        return self.values.get("bytes")


@dataclass(frozen=True)
class MeasuredTerm:
    """A term of a guideline as it was measured."""

    series: Series
    times: int


class Points:
    """The collective operations of a run, found by what they are."""

    def __init__(self, records: pl.DataFrame) -> None:
        """Those that were measured, of all runs and libraries, but not with forced algorithms."""
        usual = pl.col("collectives").is_null() | (pl.col("collectives") == TUNED)
        self.context_names = [name for name in KEYS if name not in ("benchmark", "metric")]
        self.series = measured(records.filter(usual), self.context_names)
        self.by_place: dict[tuple[Context, str], list[Series]] = {}
        for each in self.series:
            self.by_place.setdefault((each.context, each.operation), []).append(each)

    def context(self, series: Series) -> dict[str, Any]:
        """What is the same on both sides, by name."""
        return dict(zip(self.context_names, series.context, strict=True))

    def sides(self, guideline: Guideline) -> Iterator[tuple[Series, list[MeasuredTerm]]]:
        """Every point that a guideline is about, with each that it is set against."""
        for series in self.series:
            if series.operation not in guideline.left or not _plain(series.values):
                continue
            if any(series.values.get(name) != value for name, value in guideline.where.items()):
                continue
            for terms in self._expanded(guideline, series):
                parts = [self._part(term, series) for term in terms]
                if all(parts):
                    yield series, [part for part in parts if part]

    def _expanded(self, guideline: Guideline, series: Series) -> Iterator[tuple[Term, ...]]:
        """The terms of a guideline, once for each value where it says any."""
        [*free] = {name for term in guideline.right for name, value in term.sets.items() if value == ANY}
        if not free:
            yield guideline.right
            return
        [name] = free
        there = self.by_place[series.context, series.operation]
        for value in sorted({str(each.values.get(name)) for each in there if each.values.get(name)}):
            if value != series.values.get(name):
                yield tuple(
                    Term(term.operation, term.times, term.size, {**term.sets, name: value})
                    for term in guideline.right
                )

    def _part(self, term: Term, left: Series) -> MeasuredTerm | None:
        """The point that a term means beside `left`; None where none was measured."""
        operation = term.operation or left.operation
        least, most = self._sizes(term, left, operation)
        fitting = [
            each
            for each in self.by_place.get((left.context, operation), [])
            if _fits(each.values, term.sets, left.values) and _within(each.bytes, least, most)
        ]
        if not fitting:
            return None
        return MeasuredTerm(
            min(fitting, key=lambda each: (each.bytes or 0, _unusual(each.values))), term.times
        )

    def _sizes(self, term: Term, left: Series, operation: str) -> tuple[float, float]:
        """The sizes that a term may have: at least what the guideline needs, at most what is close to it."""
        if operation == "barrier":
            return 0, float("inf")
        if term.size == LEAST:
            return 8, 8
        if left.bytes is None:
            return NONE
        if term.size == MORE:
            return left.bytes + 1, float("inf")
        if term.size == HALF:
            return left.bytes / 2, min(left.bytes / 2 * SLACK, left.bytes - 1)
        return self._alike(left, left.bytes, operation)

    def _alike(self, left: Series, size: int, operation: str) -> tuple[float, float]:
        """The sizes of an operation for the same data in all: blocks of p ranks, or a message of them."""
        if (operation in BLOCKS) == (left.operation in BLOCKS):
            return size, size
        ranks = members(left.values.get("communicator"), self.context(left)["ranks"])
        if ranks is None:
            return NONE
        needed = size / ranks if operation in BLOCKS else size * ranks
        return needed, needed * SLACK


def samples(parts: Sequence[MeasuredTerm]) -> list[float]:
    """The time of the parts one after another, s: a value a launch in which all were measured.

    Where they share too few launches, the first launch of one is added to the first of another, and so on:
    launches are drawn alike.
    """
    shared = set.intersection(*(set(part.series.medians) for part in parts))
    if len(shared) >= PAIRED or len(parts) == 1:
        return [sum(part.times * part.series.medians[n] for part in parts) for n in sorted(shared)]
    columns = [[part.times * value for _, value in sorted(part.series.medians.items())] for part in parts]
    return [sum(values) for values in zip(*columns, strict=False)]


def measured(records: pl.DataFrame, context: list[str]) -> list[Series]:
    """The collective operations of some records; `context` are the keys that are not coordinates."""
    records = records.filter(pl.col("benchmark").is_in(OPERATIONS) & (pl.col("metric") == METRIC))
    coordinates = point_columns(records)
    found: dict[tuple[Context, str, tuple[Any, ...]], tuple[dict[int, float], list[bool]]] = {}
    for row in launch_estimates(records).with_columns(exact=is_exact()).iter_rows(named=True):
        place = tuple(row[name] for name in context)
        values = tuple((name, row[name]) for name in coordinates if row[name] is not None)
        medians, exact = found.setdefault((place, row["benchmark"], values), ({}, []))
        medians[row["launch"]] = row["median"]
        exact.append(row["exact"])
    return [
        Series(place, operation, dict(values), medians, all(exact))
        for (place, operation, values), (medians, exact) in found.items()
        if min(medians.values()) > 0
    ]


def _plain(values: Mapping[str, object]) -> bool:
    """Whether a point is the library's operation as programs usually call it."""
    return all(values.get(name, USUAL[name]) == USUAL[name] for name in PLAIN)


def _fits(values: Mapping[str, Any], sets: Mapping[str, str], left: Mapping[str, Any]) -> bool:
    """Whether a point has what a term sets, is plain otherwise, and shares what both sides have."""
    for name, value in values.items():
        if name == "bytes":
            continue
        if name in sets:
            wanted = sets[name]
        elif name in left:
            wanted = left[name]
        elif name in PLAIN:
            wanted = USUAL[name]
        else:
            continue
        if value != wanted:
            return False
    return all(name in values for name in sets)


def _within(size: int | None, least: float, most: float) -> bool:
    """Whether a size lies in a range; what has no size does."""
    return size is None or least <= size <= most


def _unusual(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """An order in which the usual values come first: of what the left side leaves open, one is taken."""
    return tuple((value != USUAL.get(name, value), str(value)) for name, value in sorted(values.items()))
