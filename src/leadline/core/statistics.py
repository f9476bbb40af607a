"""Intervals that assume no shape of distribution: for a median, for the next launch, for a ratio of two runs.

Launches are the sample: a launch gives one value (its median), and launches of one run are taken as drawn
alike and independently. Everything here rests on ranks alone, so it holds for skewed and for bimodal
values; the price is that few values reach only so much confidence, which is why every interval carries its
own.

Sources: W. J. Conover, Practical Nonparametric Statistics, 3rd edition (1999), on estimating quantiles and on
the Mann-Whitney test; J. L. Hodges and E. L. Lehmann, Ann. Math. Statist. 34 (1963) 598.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, comb, exp, expm1, inf
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = Sequence[float] | NDArray[np.float64]

CONFIDENCE = 0.95
POWER = 0.80  # chance of being found that the smallest detectable change has; 80 % is the usual convention
EXACT_PAIRS = 10_000  # up to so many pairs the Mann-Whitney distribution is counted; beyond, normal


class Interval(NamedTuple):
    """A range, and the confidence that it really reaches: the asked one or more, less with few values."""

    low: float
    high: float
    confidence: float


class Ratio(NamedTuple):
    """How many times A the typical B is, its interval, and the smallest change that would have shown."""

    value: float
    interval: Interval
    detectable: float  # relative change that would be found with probability POWER, e.g. 0.03 for 3 %


def sorted_values(samples: Values) -> NDArray[np.float64]:
    """`samples` in ascending order. Raises ValueError when there is none, or one that is not a number."""
    values = np.sort(np.asarray(samples, dtype=np.float64))
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"expected at least one sample in one dimension, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("samples must be finite numbers")
    return values


@lru_cache(maxsize=4096)
def median_rank(count: int, confidence: float = CONFIDENCE, inflation: float = 1.0) -> tuple[int, float]:
    """Rank r (from 1) so that the r-th smallest and r-th largest of `count` values bound the median; and
    its coverage.

    The number of values under the median is binomial (count, 1/2), so the coverage is 1 - 2 P(fewer than r).
    The largest r that reaches `confidence` is taken; where none does (fewer than 6 values for 95 %) r is 1.

    `inflation` is by how much dependence makes a mean's variance larger (`leadline.analysis.dependence`): the
    values tell as much as count / inflation independent ones, whose coverage this is, and r in proportion.
    """
    if inflation > 1:
        independent = min(count, max(2, round(count / inflation)))
        rank, coverage = median_rank(independent, confidence)
        return 1 + (rank - 1) * count // independent, coverage
    from scipy.special import bdtr  # noqa: PLC0415  (0.1 s to import; --help must not pay for it)

    below = bdtr(
        np.arange((count + 1) // 2), count, 0.5
    )  # P(at most k values under the median), k = 0, 1, ...
    rank = max(1, int(np.searchsorted(below, (1 - confidence) / 2 * (1 + 1e-12), side="right")))
    return rank, max(0.0, 1 - 2 * float(below[rank - 1]))


def median_interval(samples: Values, confidence: float = CONFIDENCE) -> Interval:
    """Interval of the median by order statistics; with fewer than 6 values min to max, at the coverage that
    has.

    One value gives itself at confidence 0. Raises ValueError for no value or one that is not finite.

    >>> median_interval([5.0, 1.0, 2.0, 3.0, 4.0, 6.0])
    Interval(low=1.0, high=6.0, confidence=0.96875)
    """
    values = sorted_values(samples)
    rank, reached = median_rank(values.size, confidence)
    return Interval(float(values[rank - 1]), float(values[-rank]), reached)


@lru_cache(maxsize=4096)
def next_ranks(count: int, confidence: float = CONFIDENCE) -> tuple[int, int, float]:
    """Ranks (from 1) of the two of `count` values between which the next one lies, and with what probability.

    The next value is as likely to fall in any of the count + 1 gaps, so ranks r and s enclose it with
    probability (s - r) / (count + 1). The fewest gaps that reach `confidence` are taken from the middle,
    the odd one at the upper end, where slow launches lie; ranks are fixed before looking at the values, for
    choosing the narrowest afterwards would lose coverage. Under 39 values no pair reaches 95 %: then min to
    max.
    """
    gaps = min(count - 1, ceil(confidence * (count + 1) - 1e-9))
    low = 1 + (count - gaps) // 2
    return low, low + gaps, gaps / (count + 1)


def next_interval(samples: Values, confidence: float = CONFIDENCE) -> Interval:
    """Interval in which the next value (the next launch's median) lies, with the coverage it really has.

    >>> next_interval([1.0, 2.0, 3.0, 4.0])
    Interval(low=1.0, high=4.0, confidence=0.6)
    """
    values = sorted_values(samples)
    low, high, reached = next_ranks(values.size, confidence)
    return Interval(float(values[low - 1]), float(values[high - 1]), reached)


def relative_half_width(interval: Interval, centre: float) -> float:
    """The farther end's distance from `centre`, as a share of it: 0.05 is plus or minus 5 %.

    The farther end, not half the width: "within 5 %" must hold on both sides of a skewed interval.
    """
    reach = max(interval.high - centre, centre - interval.low)
    if reach <= 0:
        return 0.0
    return reach / abs(centre) if centre else inf


def tight(medians: Values, tolerance: float, confidence: float = CONFIDENCE) -> bool:
    """Whether the launches so far give their median within `tolerance` (0.05 for 5 %) at `confidence`.

    Never with fewer values than the confidence needs (6 for 95 %). Asking after every launch and stopping
    at the first yes picks lucky moments: in simulation 95 % intervals taken so hold the true median 90 to
    95 % of the time (tests/core/test_statistics.py).
    """
    if len(medians) == 0:
        return False
    interval = median_interval(medians, confidence)
    centre = float(np.median(np.asarray(medians, dtype=np.float64)))
    return interval.confidence >= confidence and relative_half_width(interval, centre) <= tolerance


def _pair_counts(first: int, second: int) -> NDArray[Any]:
    """How many orderings of two samples give the Mann-Whitney count u = 0, 1, ... up to half of all pairs.

    The counts are the coefficients of the Gaussian binomial, product over i of (1 - q^(second+i)) / (1 -
    q^i), in whole numbers of any length: exact.
    """
    few, many = sorted((first, second))
    counts = np.zeros(first * second // 2 + 1, dtype=object)
    counts[0] = 1
    for i in range(1, few + 1):
        if many + i < counts.size:
            counts[many + i :] = counts[many + i :] - counts[: -(many + i)]
        for start in range(min(i, counts.size)):
            counts[start::i] = np.cumsum(counts[start::i])
    return counts


@lru_cache(maxsize=1024)
def mann_whitney(first: int, second: int) -> NDArray[np.float64]:
    """P(U <= u) for u = 0, 1, ... up to half of all pairs, of two samples of one distribution.

    Exact up to EXACT_PAIRS pairs; beyond, normal with the half-step correction, where that is good to 1e-3.
    """
    pairs = first * second
    if pairs <= EXACT_PAIRS:
        cumulated = np.cumsum(_pair_counts(first, second))
        return np.array([int(c) / comb(first + second, first) for c in cumulated])
    from scipy.special import ndtr  # noqa: PLC0415

    deviation = (pairs * (first + second + 1) / 12) ** 0.5
    return np.asarray(ndtr((np.arange(pairs // 2 + 1) + 0.5 - pairs / 2) / deviation), dtype=np.float64)


def _pair_rank(first: int, second: int, confidence: float) -> tuple[int, float]:
    """Rank r so that the r-th smallest and largest pair difference bound the shift; and the coverage of
    that.
    """
    at_most = mann_whitney(first, second)
    rank = max(1, int(np.searchsorted(at_most, (1 - confidence) / 2 * (1 + 1e-12), side="right")))
    return rank, max(0.0, 1 - 2 * float(at_most[rank - 1]))


def log_ratios(a: Values, b: Values) -> NDArray[np.float64]:
    """Natural logarithms of every b over every a, ascending: len(a) len(b) values.

    Raises ValueError when a value is not above zero: it has no ratio.
    """
    before, after = sorted_values(a), sorted_values(b)
    if before[0] <= 0 or after[0] <= 0:
        raise ValueError("a ratio needs values above zero")
    return np.sort(np.subtract.outer(np.log(after), np.log(before)), axis=None)


def ratio_interval(a: Values, b: Values, confidence: float = CONFIDENCE) -> Ratio:
    """Typical value of `b` over that of `a`: the Hodges-Lehmann estimate on logarithms with its exact
    interval.

    The interval holds the factor by which the distribution of `a` must be stretched to become that of `b`.
    It reaches less than 95 % with fewer than 4 launches against 4 (or 3 against 5); `confidence` says what
    it reaches. Raises ValueError when a side is empty or holds a value that is not above zero.

    >>> round(ratio_interval([1.0, 1.1, 1.2, 1.3], [2.0, 2.2, 2.4, 2.6]).value, 9)
    2.0
    """
    ratios = log_ratios(a, b)
    rank, reached = _pair_rank(len(a), len(b), confidence)
    low, high = float(ratios[rank - 1]), float(ratios[-rank])
    value = exp(float(np.median(ratios)))
    return Ratio(value, Interval(exp(low), exp(high), reached), _detectable(high - low, reached, confidence))


def _detectable(width: float, reached: float, confidence: float) -> float:
    """Smallest relative change that an interval of `width` (logarithms) at `reached` finds with probability
    POWER.

    The width tells the standard error; a shift of (z for the confidence + z for the power) of those is
    found so often. Infinite where the interval reaches no confidence at all.
    """
    if reached <= 0:
        return inf
    normal = NormalDist()
    error = width / (2 * normal.inv_cdf((1 + reached) / 2))
    return expm1((normal.inv_cdf((1 + confidence) / 2) + normal.inv_cdf(POWER)) * error)
