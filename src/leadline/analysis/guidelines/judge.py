"""Which guidelines a run shows to be broken, by how much, and how sure that is.

The ratio of both sides, its interval and what stands among all comparisons of the run are those of
`leadline.analysis.verdict`, launches being the sample. Both sides are usually measured in the same launches,
which rise and fall together; they count as drawn apart, so that the interval is rather too wide than too
narrow. A guideline is called broken when the whole interval lies beyond the floor (2 %) and the violation is
beyond chance among all comparisons: one run in twenty has a false call at most. What lies beyond by itself
only is suspected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log1p
from statistics import median
from typing import Any

import polars as pl

from leadline.analysis.guidelines.rules import GUIDELINES, Guideline
from leadline.analysis.guidelines.terms import MeasuredTerm, Points, Series, samples
from leadline.analysis.verdict import Change, within_run
from leadline.core.record import Row
from leadline.core.statistics import CONFIDENCE, median_interval
from leadline.core.units import format_bytes

BROKEN, SUSPECTED, KEPT, UNDECIDED = "broken", "suspected", "kept", "undecided"
STATES = (BROKEN, SUSPECTED, UNDECIDED, KEPT)


@dataclass
class Finding:
    """What a run says of one guideline at one point; times in s."""

    guideline: Guideline
    context: dict[str, object]
    values: dict[str, Any]
    operation: str
    against: str  # what it is set against, in words
    time: float
    other: float
    time_interval: tuple[float, float] | None
    other_interval: tuple[float, float] | None
    ratio: float
    low: float | None  # ends of the 95 % interval of the ratio; None where exact, or with too few launches
    high: float | None
    launches: int
    exact: bool
    state: str

    def row(self) -> Row:
        """The finding as an object, in SI units."""
        return {
            "guideline": self.guideline.id,
            "says": self.guideline.says,
            "state": self.state,
            **self.context,
            "operation": self.operation,
            **self.values,
            "against": self.against,
            "time": self.time,
            "other": self.other,
            "ratio": self.ratio,
            "low": self.low,
            "high": self.high,
            "launches": self.launches,
            "exact": self.exact,
        }


@dataclass(frozen=True)
class Verdict:
    """All comparisons of some records, the worst first."""

    findings: list[Finding]
    unasked: list[Guideline]  # guidelines of which the records have no two sides

    @property
    def broken(self) -> list[Finding]:
        """The violations."""
        return [each for each in self.findings if each.state == BROKEN]

    def count(self, state: str) -> int:
        """How many comparisons ended so."""
        return sum(each.state == state for each in self.findings)

    @property
    def by_chance(self) -> float:
        """How many comparisons chance alone would put beyond the floor, were none really beyond."""
        tested = sum(each.low is not None for each in self.findings)
        return tested * (1 - CONFIDENCE) / 2


def judge(records: pl.DataFrame, floor: float | None = None) -> Verdict:
    """Every guideline at every point where records have both of its sides.

    `floor`: how much slower is no violation yet, as a part of one; None: as each guideline has it.
    """
    points = Points(records)
    asked: list[_Comparison] = []
    unasked = []
    for guideline in GUIDELINES:
        limit = guideline.floor if floor is None else floor
        found = [_comparison(guideline, left, parts, limit) for left, parts in points.sides(guideline)]
        asked += found
        if not found:
            unasked.append(guideline)
    changes = iter(within_run([(each.there, each.here) for each in asked if not each.exact]))
    findings = [_finding(points, each, None if each.exact else next(changes)) for each in asked]
    findings.sort(key=lambda each: (STATES.index(each.state), -each.ratio))
    return Verdict(findings, unasked)


@dataclass(frozen=True)
class _Comparison:
    """Both sides of a guideline at one point, with a time for each launch, s."""

    guideline: Guideline
    left: Series
    parts: Sequence[MeasuredTerm]
    here: list[float]
    there: list[float]
    exact: bool
    floor: float


def _comparison(
    guideline: Guideline, left: Series, parts: Sequence[MeasuredTerm], floor: float
) -> _Comparison:
    """What is compared where a guideline speaks of a point."""
    exact = left.exact and all(part.series.exact for part in parts)
    return _Comparison(guideline, left, parts, samples([MeasuredTerm(left, 1)]), samples(parts), exact, floor)


def _finding(points: Points, asked: _Comparison, change: Change | None) -> Finding:
    """One comparison with its state; `change` is None where it is exact, or has too few launches."""
    left, parts = asked.left, asked.parts
    time, other = median(asked.here), median(asked.there)
    ratio = exp(change.shift) if change else time / other
    return Finding(
        guideline=asked.guideline,
        context=points.context(left),
        values=dict(left.values),
        operation=left.operation,
        against=_against(asked.guideline, left, parts),
        time=time,
        other=other,
        time_interval=_interval(asked.here),
        other_interval=_interval(asked.there),
        ratio=ratio,
        low=exp(change.low) if change else None,
        high=exp(change.high) if change else None,
        launches=min(len(asked.here), len(asked.there)),
        exact=asked.exact,
        state=_state(asked, ratio, change),
    )


def _state(asked: _Comparison, ratio: float, change: Change | None) -> str:
    """Whether a guideline is broken at a point."""
    if asked.exact:
        return BROKEN if ratio > 1 + asked.floor else KEPT
    if change is None:
        return UNDECIDED
    if change.low <= log1p(asked.floor):
        return KEPT
    return BROKEN if change.rises else SUSPECTED


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the median; None with too few launches."""
    found = median_interval(values)
    return (found.low, found.high) if found.confidence >= CONFIDENCE else None


def _against(guideline: Guideline, left: Series, parts: Sequence[MeasuredTerm]) -> str:
    """The right side in words: "reduce + bcast of 2 KiB", "ring", "2 x of 512 B"."""
    said = []
    for part in parts:
        values = part.series.values
        sets = next(iter(guideline.right)).sets
        words = f"{part.times} x " if part.times > 1 else ""
        if sets:
            words += " ".join(str(values[name]) for name in sets)
        else:
            words += part.series.operation
        if part.series.bytes is not None and part.series.bytes != left.bytes:
            words += f" of {format_bytes(part.series.bytes)}"
        said.append(words)
    return " + ".join(said)
