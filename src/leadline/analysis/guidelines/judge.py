"""Which guidelines a run shows to be broken, by how much, and how sure that is.

The ratio of both sides and its interval are those of `leadline compare`: Hodges and Lehmann's on logarithms,
launches being the sample, exact from the Mann-Whitney distribution. Both sides are usually measured in the
same launches, which rise and fall together; for the interval they count as drawn apart, so it is rather too
wide than too narrow. A guideline is called broken when the whole interval lies beyond the floor (2 %) and the
violation also stands among all comparisons of the run: at most one in twenty of those called is false
(Benjamini-Hochberg). What lies beyond by itself only is suspected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from leadline.analysis.guidelines.rules import GUIDELINES, Guideline
from leadline.analysis.guidelines.terms import Part, Points, Series, samples
from leadline.core.statistics import CONFIDENCE, chance_of_ratio, discoveries, median_interval, ratio_interval
from leadline.core.units import format_bytes

BROKEN, SUSPECTED, KEPT, UNDECIDED = "broken", "suspected", "kept", "undecided"
STATES = (BROKEN, SUSPECTED, UNDECIDED, KEPT)
FALSE_SHARE = 0.05  # of the violations called, at most so many are false


@dataclass
class Finding:
    """What a run says of one guideline at one point; times in s."""

    guideline: Guideline
    context: dict[str, Any]
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
    chance: float | None = None  # of launches so far beyond the floor, were the ratio just there

    def row(self) -> dict[str, Any]:
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
        tested = sum(each.chance is not None for each in self.findings)
        return tested * (1 - CONFIDENCE) / 2


def judge(records: pl.DataFrame, floor: float | None = None) -> Verdict:
    """Every guideline at every point where records have both of its sides.

    `floor`: how much slower is no violation yet, as a part of one; None: as each guideline has it.
    """
    points = Points(records)
    findings, unasked = [], []
    for guideline in GUIDELINES:
        limit = guideline.floor if floor is None else floor
        found = [_finding(points, guideline, left, parts, limit) for left, parts in points.sides(guideline)]
        findings += found
        if not found:
            unasked.append(guideline)
    _settle(findings)
    findings.sort(key=lambda each: (STATES.index(each.state), -each.ratio))
    return Verdict(findings, unasked)


def _finding(
    points: Points, guideline: Guideline, left: Series, parts: Sequence[Part], floor: float
) -> Finding:
    """One comparison, judged by itself."""
    here, there = samples([Part(left, 1)]), samples(parts)
    ratio = ratio_interval(there, here)
    sure = ratio.interval.confidence >= CONFIDENCE
    exact = left.exact and all(part.series.exact for part in parts)
    if exact:
        state = BROKEN if ratio.value > 1 + floor else KEPT
    elif not sure:
        state = UNDECIDED
    else:
        state = BROKEN if ratio.interval.low > 1 + floor else KEPT
    return Finding(
        guideline=guideline,
        context=points.context(left),
        values=dict(left.values),
        operation=left.operation,
        against=_against(guideline, left, parts),
        time=_middle(here),
        other=_middle(there),
        time_interval=_interval(here),
        other_interval=_interval(there),
        ratio=ratio.value,
        low=ratio.interval.low if sure and not exact else None,
        high=ratio.interval.high if sure and not exact else None,
        launches=min(len(here), len(there)),
        exact=exact,
        state=state,
        chance=chance_of_ratio(there, here, 1 + floor)[0] if sure and not exact else None,
    )


def _settle(findings: list[Finding]) -> None:
    """Turn violations that may be chance, among all comparisons, into suspected ones."""
    tested = [each for each in findings if each.chance is not None]
    stand = discoveries([each.chance or 0.0 for each in tested], FALSE_SHARE)
    for each, stands in zip(tested, stand, strict=True):
        if each.state == BROKEN and not stands:
            each.state = SUSPECTED


def _middle(values: Sequence[float]) -> float:
    """The median."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the median; None with too few launches."""
    found = median_interval(values)
    return (found.low, found.high) if found.confidence >= CONFIDENCE else None


def _against(guideline: Guideline, left: Series, parts: Sequence[Part]) -> str:
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
