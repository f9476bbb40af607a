"""What a part of `make bench` found: a value with its interval, beside the target that it is held against."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from leadline.core.statistics import Interval
from leadline.core.units import format_quantity

REACHED, BARELY, MISSED = "reached", "reached, not its whole interval", "MISSED"
COLUMNS = {"what": "what", "found": "found", "target": "target", "outcome": "outcome", "note": "note"}


@dataclass(frozen=True)
class Found:
    """One row of the table."""

    what: str
    value: float
    unit: str  # SI, or "%"
    interval: Interval | None  # None where one value is all that there is
    target: str
    reaches: Callable[[float], bool]  # whether a value is within the target
    note: str = ""

    @property
    def outcome(self) -> str:
        """Whether the target was reached: by the value, and by both ends of its interval."""
        if not self.reaches(self.value):
            return MISSED
        ends = (self.interval.low, self.interval.high) if self.interval else ()
        return REACHED if all(self.reaches(end) for end in ends) else BARELY

    def row(self) -> dict[str, Any]:
        """The row for `leadline.cli._table.print_table`; the numbers are for those that read its JSON."""
        low, high, confidence = self.interval or (None, None, None)
        told = format_quantity(self.value, self.unit, low, high)
        if confidence is not None and confidence < 0.95:
            told += f" at {100 * confidence:.0f} %"
        return {
            "what": self.what,
            "found": told,
            "target": self.target,
            "outcome": self.outcome,
            "note": self.note,
            "value": self.value,
            "unit": self.unit,
            "low": low,
            "high": high,
            "confidence": confidence,
        }


def at_most(limit: float) -> Callable[[float], bool]:
    """A target that small values reach."""
    return lambda value: value <= limit


def at_least(limit: float) -> Callable[[float], bool]:
    """A target that large values reach."""
    return lambda value: value >= limit


def within(limit: float) -> Callable[[float], bool]:
    """A target for a ratio: not farther than `limit` from 1."""
    return lambda value: abs(value - 1) <= limit
