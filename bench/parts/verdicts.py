"""How often does `compare` fail two runs between which nothing changed, and does it find what changed?

Synthetic pairs of runs, 50 points each, in which launches differ, drift and shift in seven ways. What is
counted is `judge` with the dependence of each run, as `compare` calls it, at the default threshold: a pair
fails when any point would be called a regression. Half of the figures are limits on purpose: with 6 launches
a side, and runs that differ point by point, 10 % cannot be found by anybody, and factors of 2 and 10 must be.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from found import Found, at_least, at_most
from leadline.analysis.compare import THRESHOLD
from leadline.analysis.dependence import dependence
from leadline.analysis.verdict import Compared, judge
from leadline.core.statistics import Interval

PAIRS = int(os.environ.get("BENCH_PAIRS", "1000"))
POINTS = 50
SEED = 20261123
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scenario:
    """A way in which launches differ: logarithms of launch medians, points by launches, of one run."""

    name: str
    run: Callable[[np.random.Generator, int], Array]


def _drifting(random: np.random.Generator, launches: int) -> Array:
    """5 % noise, a trend of some 10 % over the run (each point's its own by half), and a random walk."""
    time = np.linspace(-0.5, 0.5, launches)
    slope = random.normal(0, 0.1) + random.normal(0, 0.05, (POINTS, 1))
    walk = 0.02 * np.cumsum(random.normal(0, 1, launches))
    return random.normal(0, 0.05, (POINTS, launches)) + slope * time + walk


SCENARIOS = (
    Scenario("lognormal 5 %", lambda r, n: r.normal(0, 0.05, (POINTS, n))),
    Scenario("lognormal 12 %", lambda r, n: r.normal(0, 0.12, (POINTS, n))),
    Scenario(
        "heavy tail (3 % times Student's t, 2 degrees)", lambda r, n: 0.03 * r.standard_t(2, (POINTS, n))
    ),
    Scenario(
        "two groups (35 % of launches 35 % slower)",
        lambda r, n: r.normal(0, 0.03, (POINTS, n)) + 0.3 * (r.random((POINTS, n)) < 0.35),
    ),
    Scenario("drift within a run", _drifting),
    Scenario("4 % shift per run", lambda r, n: r.normal(0, 0.05, (POINTS, n)) + r.normal(0, 0.04)),
    Scenario(
        "4 % shift per point and run",
        lambda r, n: r.normal(0, 0.05, (POINTS, n)) + r.normal(0, 0.04, (POINTS, 1)),
    ),
)


def called(a: Array, b: Array) -> NDArray[np.bool_]:
    """At which points a run b would be called a regression against a run a."""
    inflation = tuple([dependence([dict(enumerate(row)) for row in run]).inflation] for run in (a, b))
    points = [Compared([before], [after]) for before, after in zip(a, b, strict=True)]
    changes, _ = judge(points, inflation=(inflation[0], inflation[1]))
    return np.array([each is not None and each.rises and each.size > log1p(THRESHOLD) for each in changes])


def false_failures(scenario: Scenario, launches: int, pairs: int) -> float:
    """Share of the pairs, between which nothing changed, in which any point is called."""
    random = np.random.default_rng(SEED)
    return sum(called(*_pair(scenario, random, launches)).any() for _ in range(pairs)) / pairs


def found(scenario: Scenario, launches: int, pairs: int, factor: float, at: int = 1) -> float:
    """Share of `at` points that are `factor` times slower which are called."""
    random = np.random.default_rng(SEED)
    planted = np.where(np.arange(POINTS) < at, log(factor), 0.0)[:, None]
    total = 0
    for _ in range(pairs):
        a, b = _pair(scenario, random, launches)
        total += int(called(a, b + planted)[:at].sum())
    return total / (pairs * at)


def _pair(scenario: Scenario, random: np.random.Generator, launches: int) -> tuple[Array, Array]:
    return scenario.run(random, launches), scenario.run(random, launches)


def measure() -> Iterator[Found]:
    """False failures of each scenario at 20 and 6 launches, and what of planted changes is found."""
    for launches in (20, 6):
        for scenario in SCENARIOS:
            share = false_failures(scenario, launches, PAIRS)
            yield _share(f"false failures, {scenario.name}, {launches} launches", share, PAIRS, most=0.01)
    few = max(20, PAIRS // 10)
    share = found(SCENARIOS[0], 20, PAIRS, 1.1)
    yield _share("10 % slower at one point found, lognormal 5 %, 20 launches", share, PAIRS, least=0.8)
    for scenario in SCENARIOS:
        share = found(scenario, 20, few, 2.0)
        yield _share(f"twice as slow at one point found, {scenario.name}, 20 launches", share, few, least=1.0)
    share = found(SCENARIOS[0], 20, few, 2.0, POINTS)
    yield _share("twice as slow at all points found, lognormal 5 %, 20 launches", share, few, least=1.0)
    share = found(SCENARIOS[0], 6, few, 10.0)
    yield _share("ten times as slow at one point found, lognormal 5 %, 6 launches", share, few, least=1.0)


def _share(what: str, share: float, of: int, most: float | None = None, least: float | None = None) -> Found:
    """A row: a share in per cent with its 95 % interval (Clopper and Pearson)."""
    from scipy.special import betaincinv  # noqa: PLC0415

    count = round(share * of)
    low = betaincinv(count, of - count + 1, 0.025) if count else 0.0
    high = betaincinv(count + 1, of - count, 0.975) if count < of else 1.0
    limit, test = (
        (f"at most {100 * most:g} %", at_most(100 * most))
        if most is not None
        else (f"at least {100 * (least or 0):g} %", at_least(100 * (least or 0)))
    )
    interval = Interval(100 * float(low), 100 * float(high), 0.95)
    return Found(what, 100 * share, "%", interval, limit, test, f"{of} pairs of runs, {POINTS} points")
