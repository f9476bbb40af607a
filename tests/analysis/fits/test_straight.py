"""Straight lines: known parameters recovered, a latency below zero flagged, intervals that cover."""

import numpy as np
import pytest

from analysis.fits.known import TO_4_MIB, TO_256_MIB, Array, hockney, pingpong
from leadline.analysis import fits
from planted import table


@pytest.mark.parametrize("sizes", [TO_4_MIB, TO_256_MIB, [0, 8, 4096]])
def test_least_squares_recovers_a_line_exactly(sizes: list[int]) -> None:
    """1 us and 10 GB/s, without noise: both to nine digits, and half of the bandwidth at 10 kB."""
    (found,) = fits.fit_all(pingpong(hockney(1e-6, 1e10), sizes), ["least_squares"])
    assert {p.name: p.value for p in found.parameters} == pytest.approx(
        {"latency": 1e-6, "bandwidth": 1e10, "half-bandwidth size": 1e4}, rel=1e-9
    )
    assert found.residuals == pytest.approx(np.zeros(len(sizes)), abs=1e-15)


def test_ends_are_the_means_of_the_ends() -> None:
    """1, 2 and 4 B: 1 us + 7/3 B at 10 GB/s; 32 to 256 MiB: the mean of n / T(n) at four sizes."""
    (found,) = fits.fit_all(pingpong(hockney(1e-6, 1e10), TO_256_MIB), ["asymptotic"])
    large = np.array([2.0**k for k in range(25, 29)])
    bandwidth = float(np.mean(large / (1e-6 + large / 1e10)))
    latency = 1e-6 + 7 / 3 / 1e10
    assert {p.name: p.value for p in found.parameters} == pytest.approx(
        {"latency": latency, "bandwidth": bandwidth, "half-bandwidth size": latency * bandwidth}, rel=1e-9
    )
    assert found.notes == []


def test_ends_say_which_sizes_stood_in() -> None:
    """A run from 8 B to 4 MiB: its smallest size, and its last four, by name."""
    sizes = [size for size in TO_4_MIB if size >= 8]
    (found,) = fits.fit_all(pingpong(hockney(1e-6, 1e10), sizes), ["asymptotic"])
    assert found.notes == [
        "latency from 8 B: no size of 1 to 4 B was measured",
        "bandwidth from 4 sizes, 512 KiB to 4 MiB: the run stops below 32 MiB",
    ]
    assert found.parameters[0].value == pytest.approx(1e-6 + 8 / 1e10)


def in_cache(n: Array) -> Array:
    """0.4 us, and 20 GB/s while messages fit into a cache of 2 MiB, 5 GB/s for what goes beyond it."""
    return 0.4e-6 + n / 20e9 + np.maximum(0, n - 2**21) * (1 / 5e9 - 1 / 20e9)


def test_a_latency_below_zero_is_shown_and_flagged() -> None:
    """A cache makes the curve bend upwards: the straight line starts 70 us below nothing, by numpy's
    polyfit too.

    The study that `asymptotic` is from measured this: -113 us where the smallest messages took 0.4 us.
    """
    records = pingpong(in_cache, TO_256_MIB, between=0.05, within=0.01)
    squares, ends = fits.fit_all(records, ["least_squares", "asymptotic"])
    below = squares.parameters[0]
    x = np.array(TO_256_MIB, dtype=np.float64)
    assert below.value == pytest.approx(np.polyfit(x, in_cache(x), 1)[1], rel=0.2)
    assert below.value < -50e-6
    assert (below.flag, squares.parameters[2].flag) == ("negative: not a latency", "negative: not a size")
    assert below.low is not None
    assert below.low < below.value  # not clipped at zero, and neither is its interval
    assert ends.parameters[0].value == pytest.approx(0.4e-6, rel=0.1)
    assert ends.parameters[0].flag is None
    for each in (squares, ends):  # both say the same of the bandwidth
        assert each.parameters[1].value == pytest.approx(5e9, rel=0.15)


def test_a_curve_that_falls_has_no_bandwidth_and_says_so() -> None:
    """Times that shrink with size: the slope is negative, and the bandwidth is flagged, not hidden."""
    (found,) = fits.fit_all(pingpong(hockney(1e-3, -1e10), [0, 1024, 4096, 65536]), ["least_squares"])
    assert found.parameters[1].value == pytest.approx(-1e10)
    assert found.parameters[1].flag == "negative: not a bandwidth"


@pytest.mark.parametrize("name", ["least_squares", "asymptotic"])
def test_intervals_of_parameters_cover_at_about_their_level(name: str) -> None:
    """150 runs of eight launches, 15 % apart as a whole and 2 % size by size: 95 % within what chance allows.

    Four standard deviations of a share of 0.95 in 150 are 0.071. The intervals may be wider than needed,
    for the latency of least squares mixes all sizes, so that only the lower side is a claim.
    """
    sizes, runs = [1, 2, 4, 64, 1024, 2**14, 2**18, 2**20, 2**21, 2**22], 150
    (exact,) = fits.fit_all(pingpong(hockney(1e-6, 1e10), sizes), [name])  # what the tests above prove
    truth = {each.name: each.value for each in exact.parameters[:2]}
    hits = dict.fromkeys(truth, 0)
    for seed in range(runs):
        records = pingpong(hockney(1e-6, 1e10), sizes, between=0.15, within=0.02, seed=seed)
        (found,) = fits.fit_all(records, [name])
        for each in found.parameters[:2]:
            assert each.low is not None
            assert each.high is not None
            hits[each.name] += each.low <= truth[each.name] <= each.high
    assert min(hits.values()) / runs >= 0.95 - 0.071


def test_the_error_at_sizes_left_out_is_that_of_the_model() -> None:
    """None for a line; for a curve with a kink about what the other sizes miss it by, never zero."""
    straight, bent = (
        fits.fit_all(pingpong(times, TO_256_MIB), ["least_squares"])[0]
        for times in (hockney(1e-6, 1e10), in_cache)
    )
    assert straight.holdout == pytest.approx(0, abs=1e-9)
    assert bent.holdout is not None
    assert bent.holdout > 1


def test_the_better_model_has_the_lower_criterion() -> None:
    """A curve that bends at the end of a cache: pieces follow it, one line does not."""
    fitted = {f.name: f for f in fits.fit_all(pingpong(in_cache, TO_256_MIB, within=0.01))}
    assert fitted["piecewise"].criterion is not None
    assert fitted["least_squares"].criterion is not None
    assert fitted["piecewise"].criterion < fitted["least_squares"].criterion


def test_a_median_over_launches_is_what_is_fitted() -> None:
    """Five launches, one of them ten times as slow: the parameters are those of the others."""
    medians = np.array([1e-6 + np.array(TO_4_MIB) / 1e10] * 5)
    medians[3] *= 10
    (found,) = fits.fit_all(table(medians, TO_4_MIB), ["least_squares"])
    assert found.parameters[0].value == pytest.approx(1e-6)
