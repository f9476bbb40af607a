"""Drawing launches: medians under weights, launches drawn jointly, sizes that few launches measured."""

import numpy as np
import pytest
from scipy.special import stdtr

from leadline.analysis.bootstrap import (
    DRAWS,
    bounds,
    drawn_medians,
    launch_weights,
    tail,
    weighted_medians,
)
from leadline.analysis.series import Series, draw_jointly


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_equal_weights_give_the_median(count: int) -> None:
    """Odd and even numbers of values, in any order."""
    values = np.random.default_rng(count).random(count)
    assert weighted_medians(values, np.ones((1, count))) == pytest.approx([np.median(values)])


def test_weights_pull_the_median() -> None:
    """Nearly all weight on one value gives that value; twice the weight is worth a second copy's side."""
    values = np.array([3.0, 1.0, 2.0])
    assert weighted_medians(values, np.array([[1e9, 1, 1], [1, 1e9, 1]])) == pytest.approx([3.0, 1.0])
    assert weighted_medians(values, np.array([[1.0, 1.0, 1.5]])) == pytest.approx([2.0])


def test_launches_are_drawn_jointly_over_sizes() -> None:
    """Launches that are slow at both sizes by the same factor stay so in every draw."""
    factor = np.array([1.0, 1.1, 1.2, 1.4, 2.0])[:, None]
    draws = drawn_medians(factor * np.array([[1.0, 10.0]]))
    assert draws.shape == (DRAWS, 2)
    assert draws[:, 1] == pytest.approx(10 * draws[:, 0])
    assert np.unique(draws[:, 0]).size > 100


def test_a_size_that_two_launches_measured_is_in_every_draw() -> None:
    """Eight launches at the first size, two of them at the second: no draw is without it, all lie between
    the two.
    """
    medians = np.full((8, 2), np.nan)
    medians[:, 0] = 1.0
    medians[2:4, 1] = [5.0, 6.0]
    draws = drawn_medians(medians)
    assert ((draws[:, 1] >= 5) & (draws[:, 1] <= 6)).all()
    assert draws[:, 1].std() > 0


def test_series_of_different_launches_share_the_draws_of_those_they_share() -> None:
    """Launches 0 to 3 and 2 to 5, the same values at 2 and 3: each draw weighs those two alike in both."""
    sizes = np.array([8.0])
    first = Series({}, sizes, np.array([[np.nan], [np.nan], [1.0], [2.0]]), (0, 1, 2, 3))
    second = Series({}, sizes, np.array([[1.0], [2.0], [np.nan], [np.nan]]), (2, 3, 4, 5))
    one, other = draw_jointly([first, second])
    assert one == pytest.approx(other)


def test_the_tail_is_students_for_few_and_plain_for_many() -> None:
    """Ten launches: z = t(9; 0.975) sqrt(10 / 9) = 2.3845; ten thousand: 2.5 % as it is."""
    from statistics import NormalDist  # noqa: PLC0415

    reach = -NormalDist().inv_cdf(tail(10))
    assert reach == pytest.approx(2.262157 * np.sqrt(10 / 9), rel=1e-6)
    assert stdtr(9, 2.262157) == pytest.approx(0.975, abs=1e-6)
    assert tail(10_000) == pytest.approx(0.025, rel=2e-3)


def test_no_interval_without_two_launches() -> None:
    """One launch, or draws that are no numbers, bound nothing."""
    assert bounds(np.arange(10.0), 1) == (None, None)
    assert bounds(np.full(10, np.nan), 5) == (None, None)
    assert bounds(np.arange(1001.0), 10_000) == pytest.approx((25, 975), abs=1)


def test_weights_are_the_same_every_time() -> None:
    """A fixed seed: the intervals of a report do not change when it is made again."""
    first = launch_weights(7).copy()
    launch_weights.cache_clear()
    assert (launch_weights(7) == first).all()
