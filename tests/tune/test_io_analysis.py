"""Gains and noise of a tuning: intervals by ranks with the confidence they reach, and what is resolved."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from leadline.core.statistics import median_interval, median_rank, ratio_interval
from leadline.tune.io.analysis import (
    FASTER,
    NO_GAIN,
    SLOWER,
    TOO_FEW,
    Gain,
    deviation,
    doubt,
    gained,
    importance,
    noise,
)


def test_the_interval_of_a_gain_is_that_of_the_median_of_its_pairs() -> None:
    """The second smallest and the second largest of ten ratios, at 98 %."""
    ratios = [1.5, 1.1, 1.2, 1.4, 1.3, 1.6, 1.9, 1.8, 1.7, 2.0]
    found = gained(ratios, [1.0] * 10)
    assert found
    assert (found.low, found.high) == pytest.approx((1.2, 1.9))
    assert found.confidence == median_interval(ratios).confidence == pytest.approx(0.978515625)
    assert found.verdict == FASTER


@pytest.mark.parametrize(("pairs", "verdict"), [(5, TOO_FEW), (6, SLOWER)])
def test_few_pairs_certify_nothing(pairs: int, verdict: str) -> None:
    """Five that all say the same reach 94 % and no verdict; six reach 97 %."""
    found = gained([1.0] * pairs, [2.0 + 0.01 * place for place in range(pairs)])
    assert found
    assert found.confidence == pytest.approx(1 - 2 * 0.5**pairs)
    assert found.verdict == verdict


def test_a_model_needs_one_pair() -> None:
    """Its times have no noise; a program's one pair shows nothing."""
    sure, unsure = gained([2.0], [1.0], exact=True), gained([2.0], [1.0])
    assert sure
    assert unsure
    assert (sure.verdict, unsure.verdict) == (FASTER, TOO_FEW)
    assert gained([], []) is None


def test_the_default_against_itself_keeps_its_interval() -> None:
    """Every other run over the rest, as two runs are compared everywhere."""
    seconds = [1.0, 1.02, 0.99, 1.03, 1.01, 0.98, 1.0, 1.01]
    found = noise(seconds, 10)
    assert found.apparent == ratio_interval(seconds[::2], seconds[1::2])
    assert found.apparent.interval.low < 1 < found.apparent.interval.high


def test_noise_is_not_made_larger_than_it_is() -> None:
    """Runs that differ by a thousandth resolve less than the hundredth that racing takes for granted."""
    seconds = [1 + 0.001 * each for each in (-1, 1, -2, 2, -1, 1, 0, 0)]
    found = noise(seconds, 10)
    assert found.deviation == deviation(seconds) < 0.002
    assert found.resolution
    assert found.resolution < 0.01
    alone = noise([1.0], 10)
    assert alone.apparent is None
    assert alone.resolution is None


def test_what_can_be_resolved_is_found_as_often_as_it_says() -> None:
    """A gain of that size is found in four of five comparisons of normal noise, 10,000 of them."""
    rng = np.random.default_rng(3)
    quantile, pairs, spread = NormalDist().inv_cdf(0.75), 10, 0.05
    seconds = np.exp(spread * np.array([-1, 1, -1, 1, -1, 1, -1, 1]))
    resolution = noise(list(seconds), pairs).resolution
    assert resolution
    # The deviation of these eight is known: that of a normal distribution with this median deviation.
    logs = rng.standard_normal((10_000, 2, pairs)) * spread / quantile
    default, other = logs[:, 0] + math.log1p(resolution), logs[:, 1]
    rank, _ = median_rank(pairs)
    lows = np.sort(default - other, axis=1)[:, rank - 1]
    assert np.mean(lows > 0) == pytest.approx(0.80, abs=0.02)


def test_an_interval_that_holds_1_shows_no_gain() -> None:
    """However fast the median is."""
    found = gained([0.9, 0.8, 2.0, 2.0, 2.0, 2.0, 2.0], [1.0] * 7)
    assert found
    assert found.speedup == pytest.approx(2)
    assert found.verdict == NO_GAIN


def test_a_gain_stands_if_it_is_resolved_and_found_again() -> None:
    """3.68 [1.44, 4.52] beside a partial phase without a gain does not stand, nor a gain within the noise."""
    final = Gain(3.68, 1.44, 4.52, 10, 0.98)
    again = Gain(3.1, 1.2, 4.0, 6, 0.97)
    nothing = Gain(1.1, 0.7, 4.0, 6, 0.97)
    assert doubt(final, 1.44, again) is None
    assert doubt(final, 1.44, None) is None
    assert NO_GAIN in str(doubt(final, 1.44, nothing))
    assert "268.1%" in str(doubt(final, 2.681, again))
    assert doubt(nothing, 1.44, nothing) is None  # it claims nothing


def test_shares_of_importance_sum_to_the_whole_at_most() -> None:
    """Two parameters that always change together explain half each; one alone explains it all."""
    trials = [({"a": i % 2, "b": i % 2}, 1.0 + (i % 2)) for i in range(12)]
    both = importance(trials)
    assert [each.share for each in both] == pytest.approx([0.5, 0.5])
    alone = importance([({"a": i % 2, "c": i // 2 % 3}, 1.0 + (i % 2)) for i in range(12)])
    assert {each.name: each.share for each in alone} == pytest.approx({"a": 1.0, "c": 0.0})
    rng = np.random.default_rng(1)
    for _ in range(200):
        drawn = [
            ({name: int(rng.integers(3)) for name in "abcdef"}, float(np.exp(rng.normal())))
            for _ in range(15)
        ]
        assert sum(each.share for each in importance(drawn)) <= 1 + 1e-12
