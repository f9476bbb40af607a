"""Pieces: planted switches found and none invented, the search exact, switches told between two sizes."""

from itertools import combinations

import numpy as np
import pytest

from analysis.fits.known import TO_4_MIB, Array, hockney, pingpong, three_protocols
from leadline.analysis import fits
from leadline.analysis.criterion import criterion
from leadline.analysis.fits.piecewise import pieces_of
from leadline.analysis.segments import costs, lines, partitions

X = np.array(TO_4_MIB, dtype=np.float64)


def scattered(times: Array, spread: float, seed: int) -> Array:
    """Times with independent relative noise."""
    return times * np.random.default_rng(seed).lognormal(0, spread, times.size)


@pytest.mark.parametrize(("spread", "off"), [(0.003, 0), (0.03, 1)])
def test_planted_switches_are_found(spread: float, off: int) -> None:
    """Short to eager after 1 KiB (12 sizes), eager to rendezvous after 64 KiB (18): in 90 of 100 at least.

    The criterion adds a piece at one time in twenty at most, and misses none of these. At the first switch
    the time jumps by 0.2 us of 1 us, so that 3 % of noise may shift it by a size.
    """
    found = [pieces_of(X, scattered(three_protocols(X), spread, seed)) for seed in range(100)]
    right = [starts.size == 3 and abs(starts - [0, 12, 18]).max() <= off for starts in found]
    assert np.mean(right) >= 0.9


def test_a_kink_without_a_jump_is_found() -> None:
    """The end of a cache changes the slope alone, 10 to 5 GB/s beyond 64 KiB: one break, within one size of
    it.
    """

    def kink(n: Array) -> Array:
        return 1e-6 + n / 1e10 + np.maximum(0, n - 65536) / 1e10

    for seed in range(30):
        starts = pieces_of(X, scattered(kink(X), 0.01, seed))
        assert 18 in starts or 17 in starts


@pytest.mark.parametrize("count", [12, 16, 24])
def test_a_straight_line_is_seldom_broken(count: int) -> None:
    """No switch planted, 2 % of noise: broken in at most 5 of 100; four standard deviations in 400 are 4.4
    more.
    """
    x = X[:count]
    broken = [pieces_of(x, scattered(hockney(1e-6, 1e10)(x), 0.02, seed)).size > 1 for seed in range(400)]
    assert np.mean(broken) <= 0.05 + 0.044


def test_exact_data_are_not_broken_for_their_last_digits() -> None:
    """A simulated run has no noise: residuals below a thousandth say nothing, so there is one piece."""
    assert pieces_of(X, hockney(1e-6, 1e10)(X)).tolist() == [0]
    assert pieces_of(X, three_protocols(X)).tolist() == [0, 12, 18]


def test_parameters_are_those_planted() -> None:
    """Three latencies, three bandwidths and two switches, from ten launches 10 % apart; intervals hold the
    truth.
    """
    (found,) = fits.fit_all(pingpong(three_protocols, launches=10, between=0.1, within=0.01), ["piecewise"])
    truth = {
        "latency, piece 1": 0.3e-6,
        "bandwidth, piece 1": 3e9,
        "latency, piece 2": 0.8e-6,
        "bandwidth, piece 2": 5e9,
        "latency, piece 3": 6e-6,
        "bandwidth, piece 3": 10e9,
        "protocol switch 1": 1024,
        "protocol switch 2": 65536,
    }
    assert [each.name for each in found.parameters] == list(truth)
    for each in found.parameters:
        assert each.low is not None
        assert each.high is not None
        assert each.low <= truth[each.name] <= each.high
    assert [each.told() for each in found.parameters[-2:]] == ["1 KiB to 2 KiB", "64 KiB to 128 KiB"]
    assert found.parameters[-1].value == pytest.approx(65536 * np.sqrt(2))
    assert found.notes == ["piece 1: 0 B to 1 KiB", "piece 2: 2 KiB to 64 KiB", "piece 3: 128 KiB to 4 MiB"]
    assert found.holdout is not None
    assert found.holdout < 0.05


def test_a_switch_is_known_between_two_sizes_even_from_one_launch() -> None:
    """Sizes tell where it lies without any spread between launches."""
    (found,) = fits.fit_all(pingpong(three_protocols, launches=1), ["piecewise"])
    switch = found.parameter("protocol switch 1")
    assert switch is not None
    assert (switch.low, switch.high) == (1024, 2048)


def test_a_straight_line_gives_the_parameters_of_a_line() -> None:
    """One piece: latency, bandwidth and half-bandwidth size by their plain names, and no switch."""
    (found,) = fits.fit_all(pingpong(hockney(1e-6, 1e10), between=0.1, within=0.01), ["piecewise"])
    assert [each.name for each in found.parameters] == ["latency", "bandwidth", "half-bandwidth size"]
    assert found.parameters[0].value == pytest.approx(1e-6, rel=0.1)


def test_a_piece_without_slope_has_no_bandwidth() -> None:
    """Up to 64 B the time is 1 us whatever the size: a latency, and a note instead of a number that means
    nothing.
    """

    def flat(n: Array) -> Array:
        return np.where(n <= 64, 1e-6, 3e-6 + n / 1e10)

    without = 0
    for seed in range(30):
        records = pingpong(flat, launches=10, between=0.05, within=0.02, seed=seed)
        (found,) = fits.fit_all(records, ["piecewise"])
        names = [each.name for each in found.parameters]
        assert "latency, piece 1" in names
        told = (
            "0 B to 64 B: the slope cannot be distinguished from zero, so there is no bandwidth"
            in found.notes
        )
        assert told == ("bandwidth, piece 1" not in names)
        without += told
    assert without >= 25  # an interval of 95 % leaves zero out once or twice in thirty by chance


def test_few_sizes_are_not_searched_for_breaks() -> None:
    """Eleven sizes: one piece, and the fit says why."""
    (found,) = fits.fit_all(pingpong(three_protocols, TO_4_MIB[::2][:11]), ["piecewise"])
    assert found.parameter("protocol switch 1") is None
    assert "11 sizes: breaks are sought from 12 sizes on" in found.notes


def test_costs_are_those_of_weighted_least_squares() -> None:
    """Each run of sizes against numpy's polyfit with weights 1/T, over nine powers of ten."""
    x = np.array([0.0, 1, 16, 1024, 2**16, 2**20, 2**28])
    y = scattered(1e-6 + x / 1e10, 0.1, seed=3)
    cost = costs(x[None], y[None])[0]
    for i in range(x.size):
        for j in range(x.size):
            if j - i < 2:
                assert np.isinf(cost[j, i])
                continue
            part = slice(i, j + 1)
            slope, constant = np.polyfit(x[part], y[part], 1, w=1 / y[part])
            squares = (((y[part] - constant - slope * x[part]) / y[part]) ** 2).sum()
            assert cost[j, i] == pytest.approx(squares, rel=1e-4, abs=1e-7)
            constants, slopes = lines(x[None, part], y[None, part], np.zeros((1, 1), dtype=np.int64))
            assert (constants[0, 0], slopes[0, 0]) == pytest.approx((constant, slope), rel=1e-4)


def test_the_best_partition_is_the_best_of_all() -> None:
    """Ten sizes into three pieces of three or more: every choice of two breaks tried, for five data sets."""
    x = np.tile(X[:10], (5, 1))
    y = np.array([scattered(three_protocols(x[0]), 0.1, seed) for seed in range(5)])
    cost = costs(x, y)
    totals, starts = partitions(cost, 3)[2]
    for d in range(5):
        tried = {
            (0, i, j): cost[d, i - 1, 0] + cost[d, j - 1, i] + cost[d, 9, j]
            for i, j in combinations(range(1, 10), 2)
        }
        best = min(tried, key=tried.__getitem__)
        assert totals[d] == pytest.approx(tried[best])
        assert tuple(starts[d]) == best


def test_a_break_must_earn_its_place() -> None:
    """24 sizes: a second piece must cut the squared residuals per degree of freedom by exp(5 ln 24 / 24) =
    1.94.
    """
    one = criterion(1.0, 24, 1)
    assert criterion(20 / 22 / 1.95, 24, 2) < one < criterion(20 / 22 / 1.93, 24, 2)
