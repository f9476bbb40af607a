"""Numbers of a calibration: each with its interval and the benchmarks that it is from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leadline.analysis.bootstrap import bounds
from leadline.core.statistics import median_interval

Array = NDArray[np.float64]

FASTEST = 1e13  # B/s; a copy that is faster than any memory is none


@dataclass(frozen=True)
class Value:
    """A number in SI units; no interval from a single launch. `source` says where one that was not measured
    stands.
    """

    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    benchmarks: tuple[str, ...] = ()
    source: str = ""

    @classmethod
    def drawn(
        cls, value: float, draws: Array, launches: int, unit: str, benchmarks: tuple[str, ...]
    ) -> "Value":
        """A value with the interval that draws of launches give."""
        low, high = bounds(draws, launches)
        # A draw with weights is smoother than the value itself, which may lie a hair outside.
        low, high = (None, None) if low is None or high is None else (min(low, value), max(high, value))
        return cls(value, unit, low, high, benchmarks)


def from_launches(values: Sequence[float], unit: str, benchmarks: tuple[str, ...]) -> Value:
    """The median of what each launch says, none below nothing, with its interval by ranks."""
    kept = np.maximum(0.0, np.array(values))
    middle = float(np.median(kept))
    if kept.size < 2:
        return Value(middle, unit, benchmarks=benchmarks)
    interval = median_interval(kept)
    return Value(middle, unit, interval.low, interval.high, benchmarks)
