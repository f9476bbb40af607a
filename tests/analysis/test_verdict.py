"""Does the procedure for verdicts fail unchanged runs seldom enough, and find what changed?

A reduced version of bench/parts/verdicts.py, which makes 1,000 pairs of runs of each kind.
"""

from math import log

import numpy as np
import pytest

from leadline.analysis.dependence import dependence
from leadline.analysis.verdict import Compared, judge
from parts.verdicts import SCENARIOS, false_failures, found

PAIRS = 40
FEW_LAUNCHES, MANY_LAUNCHES = 6, 20


@pytest.mark.parametrize("launches", [FEW_LAUNCHES, MANY_LAUNCHES])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_unchanged_runs_seldom_fail(scenario, launches) -> None:  # type: ignore[no-untyped-def]
    """At most 1 %: four of forty pairs would be a chance of 0.1 % even then."""
    assert false_failures(scenario, launches, PAIRS) * PAIRS <= 3


def test_ten_per_cent_are_found_four_times_in_five() -> None:
    """Twenty launches a side that differ by 5 %, fifty points, one of them 10 % slower."""
    assert found(SCENARIOS[0], MANY_LAUNCHES, PAIRS, 1.1) >= 0.7  # 0.8 less one and a half deviations of 40


@pytest.mark.parametrize("at", [1, 25])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_twice_as_slow_is_always_found(scenario, at) -> None:  # type: ignore[no-untyped-def]
    """At one point and at half of them, whatever the noise."""
    assert found(scenario, MANY_LAUNCHES, 10, 2.0, at) >= (1.0 if at == 1 else 0.9)


def test_ten_times_as_slow_is_found_with_six_launches() -> None:
    """The default least of launches, where a rank test cannot reach the corrected level."""
    assert found(SCENARIOS[0], FEW_LAUNCHES, PAIRS, 10.0) == 1.0


def test_a_single_point_is_called_only_beyond_what_days_explain() -> None:
    """One point in each of two runs: 10 % may be another day, 30 % is not."""
    quiet = np.random.default_rng(1).normal(0, 0.003, (2, 10))
    for factor, stands in ((1.1, False), (1.3, True)):
        [change], _ = judge([Compared([quiet[0].tolist()], [(quiet[1] + log(factor)).tolist()])])
        assert change is not None
        assert change.rises == stands


def test_launches_of_one_run_need_no_days() -> None:
    """Two libraries measured in turns: 3 % apart with launches 0.5 % apart is beyond chance."""
    differences = np.random.default_rng(2).normal(log(1.03), 0.005, 10).tolist()
    [change], common = judge([Compared([], [differences])], days=False)
    assert change is not None
    assert change.rises
    assert change.low > 0
    assert common.explained == 0


def test_independent_launches_are_not_called_dependent() -> None:
    """One in a hundred at most: two of forty runs would be a chance of 6 %, four one of 0.1 %."""
    random = np.random.default_rng(3)
    runs = [random.normal(0, 1, (10, 20)) + random.normal(0, 1, 20) for _ in range(40)]
    assert sum(dependence([dict(enumerate(row)) for row in run]).found for run in runs) <= 3


def test_drift_widens_by_what_it_takes() -> None:
    """Neighbours that are correlated by 0.7 tell as much as a fifth of as many launches."""
    random = np.random.default_rng(4)
    runs = random.normal(0, 1, (40, 60))
    for launch in range(1, 60):
        runs[:, launch] += 0.7 * runs[:, launch - 1]
    seen = dependence([dict(enumerate(row)) for row in runs])
    assert seen.found
    assert seen.inflation == pytest.approx(1.7 / 0.3, rel=0.3)
