"""Is a change that all points share, or the only point has, found at any number of runs after it?

A step that lasts makes runs resemble the run before, which must not pass for a machine whose days do.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from leadline.analysis import watch

BASELINE = watch.BASELINE
HISTORIES = 30


def history(
    drawn: np.random.Generator, after: int, points: int, step: float = 0.0, resembles: float = 0.0
) -> NDArray[np.float64]:
    """Logarithms of times, days of 1 % and points of 0.5 %; a step of all after the baseline."""
    runs = BASELINE + after
    days = drawn.normal(0, 0.01, runs)
    for run in range(1, runs):
        days[run] = resembles * days[run - 1] + np.sqrt(1 - resembles**2) * days[run]
    values = days[:, None] + drawn.normal(0, 0.005, (runs, points))
    values[BASELINE:] += np.log1p(step)
    return np.asarray(values)


def verdict(values: NDArray[np.float64]) -> str:
    """Of what all points share, or of the only one."""
    found = watch.assess(values, range(len(values)), BASELINE)
    return (found.shared or found.points[0]).verdict


@pytest.mark.parametrize("points", [1, 10])
@pytest.mark.parametrize("after", [3, 8, 21, 30])
def test_a_lasting_step_of_all_points_is_found(points: int, after: int) -> None:
    """8 % is eight days' deviations; from 8 to 30 runs later it was called unchanged in most histories."""
    drawn = np.random.default_rng(after)
    steps = [verdict(history(drawn, after, points, 0.08)) for _ in range(HISTORIES)]
    assert steps.count(watch.REGRESSION) >= 0.95 * HISTORIES


def test_what_is_called_detectable_of_all_points_is_found() -> None:
    """With 80 % and a little more; of 30 histories fewer than 19 would be by chance once in 100."""
    drawn = np.random.default_rng(7)
    found = 0
    for _ in range(HISTORIES):
        quiet = history(drawn, 1, 10)
        shared = watch.assess(quiet, range(len(quiet)), BASELINE).shared
        assert shared is not None and shared.detectable is not None
        found += verdict(history(drawn, 3, 10, shared.detectable)) == watch.REGRESSION
    assert found >= 19


@pytest.mark.parametrize("points", [1, 10])
def test_days_that_resemble_each_other_are_no_step(points: int) -> None:
    """By 0.6: a false alarm is allowed in one run of 500, which is in 2 of 30 histories of 30 runs."""
    drawn = np.random.default_rng(points)
    bad = (watch.REGRESSION, watch.IMPROVEMENT, watch.DRIFT)
    alarms = 0
    for _ in range(HISTORIES):
        values = history(drawn, 30, points, resembles=0.6)
        alarms += any(verdict(values[:runs]) in bad for runs in range(BASELINE + 1, len(values) + 1))
    assert alarms <= 4
