"""Intervals of fitted parameters: the launches are drawn anew, and the fit is made again with each draw.

A launch is slow or fast at all sizes together, so launches are drawn jointly over sizes. They are drawn by
weights rather than by repetition (D. B. Rubin, The Bayesian bootstrap, Ann. Statist. 9 (1981) 130): every
launch keeps some weight, so a size that only few launches measured never drops out of a draw. The seed is
fixed: the same records give the same intervals.
"""

from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from leadline.core.statistics import CONFIDENCE

Array = NDArray[np.float64]

DRAWS = 1000
SEED = 20_010


@lru_cache(maxsize=64)
def launch_weights(launches: int) -> Array:
    """Weights of the launches in each draw: (DRAWS, launches), exponential; only their proportions count."""
    return np.random.default_rng(SEED).standard_exponential((DRAWS, launches))


def weighted_medians(values: Array, weights: Array) -> Array:
    """The median of `values` (n,) under each row of `weights` (draws, n), linear between neighbours:
    (draws,).

    With equal weights it is the ordinary median.
    """
    order = np.argsort(values)
    values, weights = values[order], weights[:, order]
    middle = np.cumsum(weights, axis=1) - weights / 2
    middle /= weights.sum(axis=1, keepdims=True)
    left = np.clip((middle <= 0.5).sum(axis=1) - 1, 0, max(0, values.size - 2))
    right = np.minimum(left + 1, values.size - 1)
    rows = np.arange(len(weights))
    step = middle[rows, right] - middle[rows, left]
    share = np.clip((0.5 - middle[rows, left]) / np.where(step > 0, step, 1.0), 0.0, 1.0)
    return np.asarray(values[left] + share * (values[right] - values[left]), dtype=np.float64)


def drawn_medians(medians: Array) -> Array:
    """Typical values at each size in each draw, (DRAWS, sizes), from launch medians (launches, sizes).

    NaN where a launch did not measure a size; every size must have been measured by some launch.
    """
    medians = np.ascontiguousarray(medians, dtype=np.float64)
    return _drawn_medians(medians.tobytes(), len(medians))


@lru_cache(maxsize=64)  # several fits ask for the same series one after the other
def _drawn_medians(medians: bytes, launches: int) -> Array:
    """The same from the bytes of the array, which can be looked up."""
    weights = launch_weights(launches)
    columns = []
    for column in np.frombuffer(medians).reshape(launches, -1).T:
        there = np.isfinite(column)
        columns.append(weighted_medians(column[there], weights[:, there]))
    drawn = np.stack(columns, axis=1)
    drawn.flags.writeable = False  # shared by all who ask
    return drawn


@lru_cache(maxsize=256)
def tail(launches: int, confidence: float = CONFIDENCE) -> float:
    """Which quantile of the draws bounds an interval from so few launches, e.g. 0.025 for many.

    Draws from n launches scatter too little by sqrt((n - 1) / n) and their scatter is itself estimated, so
    the quantile moves out as Student's t does: T. C. Hesterberg, What teachers should know about the
    bootstrap, The American Statistician 69 (2015) 371 (expanded percentile interval).
    """
    from scipy.special import stdtrit  # noqa: PLC0415  (slow to import)

    reach = -float(stdtrit(launches - 1, (1 - confidence) / 2)) * (launches / (launches - 1)) ** 0.5
    return NormalDist().cdf(-reach)


def bounds(draws: Array, launches: int) -> tuple[float | None, float | None]:
    """Interval of a parameter from its value in each draw; none where fewer than 2 launches were drawn from.

    Infinite draws are kept: an end may be infinite. A draw that is not a number is left out.
    """
    draws = draws[~np.isnan(draws)]
    if launches < 2 or draws.size == 0:
        return None, None
    cut = tail(launches)
    ordered = np.sort(draws)
    last = ordered.size - 1
    return float(ordered[round(cut * last)]), float(ordered[round((1 - cut) * last)])
