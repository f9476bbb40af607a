"""LogGP: a planted network recovered, what is missing named, nothing guessed."""

import numpy as np
import polars as pl
import pytest

from analysis.fits.known import GAP, GAP_PER_BYTE, LATENCY, RECEIVE, SEND, loggp
from leadline.analysis import fits
from leadline.core import record
from planted import frame_of, rows

TRUTH = {
    "latency L": LATENCY,
    "send overhead o_s": SEND,
    "receive overhead o_r": RECEIVE,
    "overhead o": (SEND + RECEIVE) / 2,
    "gap g": GAP,
    "gap per byte G": GAP_PER_BYTE,
}


def fit(records: pl.DataFrame) -> fits.Fit:
    """The one LogGP fit of `records`."""
    (found,) = fits.fit_all(records, ["loggp"])
    return found


def test_a_planted_network_is_recovered() -> None:
    """Without noise all six parameters are those planted, and T(n) = o_s + L + (n - 1) G + o_r is the
    ping-pong.
    """
    found = fit(loggp())
    assert {each.name: each.value for each in found.parameters} == pytest.approx(TRUTH, rel=1e-6)
    assert found.residuals == pytest.approx(np.zeros(found.x.size), abs=1e-13)
    assert found.notes == ["L and o at 1 B", "g at 1 B, window 64", "G over 512 KiB to 4 MiB"]


def test_a_latency_of_nothing_is_nothing() -> None:
    """Overheads of 0.4 and 0.6 us that are the whole message of 1 us: L is 0, and so are its bounds, where
    the digits of floating point would leave 1e-22 s.
    """
    ends = [
        rows([[time] * 3] * 8, [1, 8, 64], benchmark="overhead", metric=metric)
        for metric, time in (("send_overhead", 0.4e-6), ("receive_overhead", 0.6e-6))
    ]
    whole = rows([[0.4e-6 + 0.6e-6 + 2e-22] * 3] * 8, [1, 8, 64], buffers="reused")
    found = fit(frame_of([*whole, *ends[0], *ends[1]])).parameter("latency L")
    assert found is not None
    assert (found.value, found.low, found.high) == (0, 0, 0)


def test_a_stream_without_a_ping_pong_keeps_its_round_trips() -> None:
    """Of a window of 64 of 150 ns each, a message as a whole and an answer: 158 ns, and a note."""
    found = fit(loggp().filter(pl.col("benchmark") != "pingpong"))
    gap = found.parameter("gap g")
    assert gap is not None
    assert gap.value == pytest.approx((63 * GAP + 2 * (SEND + LATENCY + RECEIVE)) / 64)
    assert any("g and G include a window's round trip" in note for note in found.notes)


def test_intervals_hold_the_planted_network() -> None:
    """Eight launches 10 % apart: each truth lies in its interval (this seed; coverage is proved for the
    lines).
    """
    for each in fit(loggp(between=0.1)).parameters:
        assert each.low is not None
        assert each.high is not None
        assert each.low <= TRUTH[each.name] <= each.high


@pytest.mark.parametrize(
    ("lacking", "absent", "note"),
    [
        ("overhead", {"latency L", "overhead o"}, "overhead (send_overhead) and overhead (receive_overhead)"),
        (
            "pingpong",
            {"latency L", "overhead o"},
            "L and o cannot be estimated: the run lacks pingpong (latency)",
        ),
        (
            "bandwidth",
            {"gap g", "gap per byte G"},
            "g and G cannot be estimated: the run lacks bandwidth (message_rate)",
        ),
    ],
)
def test_what_was_not_measured_is_named_and_not_guessed(lacking: str, absent: set[str], note: str) -> None:
    """Without one benchmark its parameters are absent, the others are there, and a note says what to run."""
    found = fit(loggp().filter(pl.col("benchmark") != lacking))
    names = {each.name for each in found.parameters}
    assert not names & absent
    assert names
    assert note in " ".join(found.notes)
    assert found.criterion is None
    assert np.isnan(found.predict(np.array([8.0]))).all()


def test_overheads_at_other_sizes_are_not_mixed() -> None:
    """Overheads at 3 B and a ping-pong without it share no size, so L cannot be told."""
    whole = loggp()
    moved = whole.with_columns(
        bytes=pl.when(pl.col("benchmark") == "overhead").then(pl.lit(3)).otherwise("bytes").cast(pl.Int64)
    )
    assert "L and o cannot be estimated: pingpong and overhead share no size above 0 B" in fit(moved).notes


def test_overheads_above_the_latency_are_flagged() -> None:
    """A call that takes longer than the message itself leaves less than nothing to the network: shown and
    flagged.
    """
    small = [1, 8, 64]
    slow = rows([[5e-6] * 3] * 8, small, benchmark="overhead", metric="send_overhead", difference=True)
    rest = loggp().filter(pl.col("metric") != "send_overhead")
    found = fit(record.concat([rest, frame_of(slow)])).parameter("latency L")
    assert found is not None
    assert found.value == pytest.approx(SEND + LATENCY - 5e-6)
    assert found.flag == "negative: not a latency"


def test_a_difference_below_zero_counts_in_every_launch() -> None:
    """Five launches of eight at -10 ns, three at 50 ns: the median is -10 ns. Only the launches
    that are above zero would say 50 ns.
    """
    medians = [[-10e-9] * 3] * 5 + [[50e-9] * 3] * 3
    send = rows(medians, [1, 8, 64], benchmark="overhead", metric="send_overhead", difference=True)
    rest = loggp().filter(pl.col("metric") != "send_overhead")
    found = fit(record.concat([rest, frame_of(send)])).parameter("send overhead o_s")
    assert found is not None
    assert found.value == pytest.approx(-10e-9)
    assert found.flag == "negative: not an overhead"
    assert found.low == pytest.approx(-10e-9)


def test_a_latency_that_is_not_above_zero_is_left_out() -> None:
    """Relative residuals divide by it: one broken launch changes nothing of the latency, which is planted."""
    broken = rows([[-1e-6] * 3], [1, 8, 64], buffers="reused", launch=8)
    found = fit(record.concat([loggp(), frame_of(broken)])).parameter("latency L")
    assert found is not None
    assert found.value == pytest.approx(LATENCY)
