"""What the runs of a tuning say: noise, what gain could be seen, speed-ups with intervals, what mattered."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from leadline.core.statistics import CONFIDENCE, POWER, Ratio, median_interval, median_rank, ratio_interval

FASTER, SLOWER, NO_GAIN = "faster", "slower", "no significant gain"
TOO_FEW = "too few pairs to tell"
UNCONFIRMED = "not confirmed"


@dataclass(frozen=True)
class Gain:
    """How many times faster settings are than the default: the median of pairs taken in turns."""

    speedup: float
    low: float
    high: float
    pairs: int
    confidence: float  # that the interval reaches; 1 of a model, which always takes the same time

    @property
    def verdict(self) -> str:
        """Whether there is a gain: an interval that holds 1 shows none, and one of few pairs nothing."""
        if self.confidence < CONFIDENCE:
            return TOO_FEW
        if self.low > 1:
            return FASTER
        return SLOWER if self.high < 1 else NO_GAIN


def gained(default: Sequence[float], other: Sequence[float], exact: bool = False) -> Gain | None:
    """Speed-up of `other` over `default`, run in turns: the i-th of each were neighbours in time.

    The median of the pairs' ratios with its interval by order statistics (`median_interval`), which says what
    confidence it reaches: 95 % takes 6 pairs. `exact` are times without noise. None where there is no pair.
    """
    count = min(len(default), len(other))
    if not count:
        return None
    ratios = np.log(np.asarray(default[:count]) / np.asarray(other[:count]))
    low, high, reached = median_interval(ratios)
    middle = math.exp(float(np.median(ratios)))
    return Gain(middle, math.exp(low), math.exp(high), count, 1.0 if exact else reached)


def doubt(final: Gain, resolution: float | None, partial: Gain | None) -> str | None:
    """Why a final comparison that says "faster" does not stand; None where it does, or says something else.

    A gain stands if it is larger than what the pairs resolve at this noise (`resolution`, None where that is
    not known), and if the interval of the partial phase, which ran the same settings again, is beyond 1 too
    (None where it has not been run). Settings are chosen for their trials' luck, and noise changes in the
    course of a tuning: one interval beyond 1 is not enough.
    """
    if final.verdict != FASTER:
        return None
    if resolution is not None and final.speedup - 1 <= resolution:
        return f"the gain is within the {resolution:.1%} that this machine's noise hides"
    if partial is not None and partial.low <= 1:
        return f"the same settings, run again in the partial phase: {partial.verdict}"
    return None


@dataclass(frozen=True)
class Noise:
    """How much runs of the default differ, and what gain could be seen in spite of that."""

    runs: int
    median: float  # s
    deviation: float  # of the logarithm of the time, robust
    apparent: Ratio | None  # of every other run's time over the rest's: 1 but for chance; None of one run
    resolution: float | None  # the gain that the final comparison finds with a chance of POWER; None: none


def noise(seconds: Sequence[float], pairs: int) -> Noise:
    """The A/A check: the default against itself, every other run, as if they were two settings.

    `pairs` is how many the final comparison has. It finds a gain where fewer than r of the n ratios are below
    1, r the rank of their median's interval. With a gain g (its logarithm) and times of deviation d a ratio
    is below 1 with the chance p = P(z > g / (d sqrt 2)), and so the gain that is found with the chance POWER
    has the p of which a binomial number of n is below r with that chance.
    """
    spread, middle = deviation(seconds), float(np.median(np.asarray(seconds)))
    if len(seconds) < 2:
        return Noise(len(seconds), middle, spread, None, None)
    resolution = None
    rank, reached = median_rank(max(1, pairs))
    if reached >= CONFIDENCE:
        from scipy.special import bdtri  # noqa: PLC0415  (0.1 s to import)

        chance = float(bdtri(rank - 1, pairs, POWER))
        resolution = math.expm1(NormalDist().inv_cdf(1 - chance) * spread * math.sqrt(2))
    return Noise(len(seconds), middle, spread, ratio_interval(seconds[::2], seconds[1::2]), resolution)


def deviation(seconds: Sequence[float]) -> float:
    """The deviation of the logarithm of times, by the median of what they are away from their median."""
    logs = np.log(np.asarray(seconds))
    away = float(np.median(np.abs(logs - np.median(logs))))
    return away / NormalDist().inv_cdf(0.75)  # half of a normal distribution is within that quantile


@dataclass(frozen=True)
class Weight:
    """How much of the differences between trials goes with one parameter."""

    name: str
    share: float  # of the variance of the logarithm of the time; those of all parameters sum to 1 at most
    values: int  # that were tried


def importance(trials: Sequence[tuple[Mapping[str, object], float]]) -> list[Weight]:
    """Each parameter's share, the greatest first: the correlation ratio of its values with the time.

    Trials are few and not balanced, so the share is taken above what as many random groups would have
    (adjusted as in an analysis of variance); 0 where nothing is left. A search varies parameters together, so
    that several explain the same difference: where the shares sum to more than the whole, each is divided by
    their sum. What is left of the whole are interactions and noise.
    """
    if len(trials) < 3:
        return []
    times = np.log([seconds for _, seconds in trials])
    total = float(((times - times.mean()) ** 2).sum())
    found: dict[str, tuple[float, int]] = {}
    for name in dict.fromkeys(name for settings, _ in trials for name in settings):
        groups: dict[object, list[float]] = {}
        for (settings, _), time in zip(trials, times, strict=True):
            groups.setdefault(settings.get(name, "not set"), []).append(float(time))
        within = sum(float(((np.array(each) - np.mean(each)) ** 2).sum()) for each in groups.values())
        spare = len(trials) - len(groups)
        share = 0.0
        if total > 0 and spare > 0 and len(groups) > 1:
            share = max(0.0, 1 - (within / spare) / (total / (len(trials) - 1)))
        found[name] = share, len(groups)
    whole = max(1.0, sum(share for share, _ in found.values()))
    weights = [Weight(name, share / whole, values) for name, (share, values) in found.items()]
    return sorted(weights, key=lambda each: -each.share)
