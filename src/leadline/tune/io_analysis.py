"""What the runs of a tuning say: noise, what gain could be seen, speed-ups with intervals, what mattered."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.statistics import CONFIDENCE, POWER, ratio_interval

Line = Mapping[str, Any]

FASTER, SLOWER, NO_GAIN = "faster", "slower", "no significant gain"

RESAMPLES = 10_000
SEED = 20130  # of the bootstrap alone: the same runs give the same interval
LEAST_NOISE = 0.01  # of the logarithm of a time: a few runs that happen to agree prove no less


@dataclass(frozen=True)
class Gain:
    """How many times faster settings are than the default: the median of pairs taken in turns."""

    speedup: float
    low: float
    high: float
    pairs: int

    @property
    def verdict(self) -> str:
        """Whether there is a gain: an interval that holds 1 shows none."""
        if self.low > 1:
            return FASTER
        return SLOWER if self.high < 1 else NO_GAIN


def bootstrap(default: Sequence[float], other: Sequence[float]) -> Gain | None:
    """Speed-up of `other` over `default`, run in turns: the i-th of each were neighbours in time.

    The percentile interval of the median of the pairs' ratios (Efron and Tibshirani, An Introduction to the
    Bootstrap, 1993, section 13.3). None where there is no pair.
    """
    count = min(len(default), len(other))
    if not count:
        return None
    ratios = np.log(np.asarray(default[:count]) / np.asarray(other[:count]))
    drawn = np.random.default_rng(SEED).integers(count, size=(RESAMPLES, count))
    medians = np.median(ratios[drawn], axis=1)
    low, high = np.quantile(medians, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Gain(float(np.exp(np.median(ratios))), float(np.exp(low)), float(np.exp(high)), count)


@dataclass(frozen=True)
class Noise:
    """How much runs of the default differ, and what gain could be seen in spite of that."""

    runs: int
    median: float  # s
    deviation: float  # of the logarithm of the time, robust
    apparent: float  # the speed-up of every other run over the rest: 1 but for chance
    resolution: float  # the smallest gain that the final comparison finds with a chance of POWER


def noise(seconds: Sequence[float], pairs: int) -> Noise:
    """The A/A check: the default against itself, every other run, as if they were two settings.

    `pairs` is how many the final comparison has. Two medians of n values of deviation d differ by chance by
    1.25 d sqrt(2 / n); a gain is found where it is (1.96 + 0.84) times that (95 % two-sided, POWER 80 %).
    """
    logs = np.log(np.asarray(seconds))
    spread = float(np.median(np.abs(logs - np.median(logs)))) * 1.4826  # of a normal distribution
    deviation = max(LEAST_NOISE, spread)
    apparent = ratio_interval(seconds[1::2], seconds[::2]).value if len(seconds) > 1 else 1.0
    error = 1.2533 * deviation * math.sqrt(2 / max(1, pairs))
    assert POWER == 0.80  # whose quantile is the second number
    resolution = math.expm1((1.96 + 0.84) * error)
    return Noise(len(seconds), float(np.median(np.asarray(seconds))), deviation, apparent, resolution)


@dataclass(frozen=True)
class Weight:
    """How much of the differences between trials goes with one parameter."""

    name: str
    share: float  # of the variance of the logarithm of the time, between its values
    best: Any  # the value whose trials were the fastest, by their median
    values: int  # that were tried


def importance(trials: Sequence[tuple[Mapping[str, Any], float]]) -> list[Weight]:
    """Each parameter's share, the greatest first: the correlation ratio of its values with the time.

    Trials are few and not balanced, so the share is taken above what as many random groups would have
    (adjusted as in an analysis of variance); 0 where nothing is left.
    """
    if len(trials) < 3:
        return []
    times = np.log([seconds for _, seconds in trials])
    total = float(((times - times.mean()) ** 2).sum())
    found = []
    for name in dict.fromkeys(name for settings, _ in trials for name in settings):
        groups: dict[Any, list[float]] = {}
        for (settings, _), time in zip(trials, times, strict=True):
            groups.setdefault(settings.get(name, "not set"), []).append(float(time))
        within = sum(float(((np.array(each) - np.mean(each)) ** 2).sum()) for each in groups.values())
        spare = len(trials) - len(groups)
        share = 0.0
        if total > 0 and spare > 0 and len(groups) > 1:
            share = max(0.0, 1 - (within / spare) / (total / (len(trials) - 1)))
        best = min(groups, key=lambda value: float(np.median(groups[value])))
        found.append(Weight(name, share, best, len(groups)))
    return sorted(found, key=lambda each: -each.share)
