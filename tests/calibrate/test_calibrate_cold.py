"""What messages cost after a walk through memory is told by the benchmark `cold`, apart by handshake."""

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from leadline.calibrate import Value, _cold
from planted import frame_of, rows

SIZES = [1, 1024, 4096, 65536, 524288]
MIB = 1 << 20
# By memory walked through: time of the walk, s; overhead, s, and cost, s/B, without and with a handshake.
KNOWN = {
    MIB: (20e-6, 1e-7, 0.0, 6e-7, 1e-12),
    8 * MIB: (160e-6, 3e-7, 2e-10, 1.4e-6, 8e-12),
    64 * MIB: (4e-3, 2.5e-6, 6e-10, 10e-6, 6e-11),
}


def asks(sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Handshakes begin beyond 2 KiB."""
    return np.asarray(sizes > 2048, dtype=np.bool_)


def itself(size: int) -> float:
    """What a byte of a message costs more because of its own two buffers, s/B: all less than 1 MiB."""
    return KNOWN[MIB][4 if size > 2048 else 2] * 2 * size / MIB


def table(drift: float = 0.0) -> pl.DataFrame:
    """A run of `cold`: half round trips and walks, of six launches that drift."""
    found = []
    for walked, (walk, *costs) in {0: (0.0,) * 5, **KNOWN}.items():
        keys = {"benchmark": "cold", "ranks": 2, "walked": walked}
        hot = [2e-7 + size / 20e9 for size in SIZES]
        lines = [costs[2:] if size > 2048 else costs[:2] for size in SIZES]
        took = [
            one + line[0] + size * max(0, line[1] - itself(size))
            for one, line, size in zip(hot, lines, SIZES, strict=True)
        ]
        grow = [1 + drift * launch for launch in range(6)]
        found += rows([[each * by for each in took] for by in grow], SIZES, metric="latency", **keys)
        computing = [[5e-6 + 1.1 * walk * by] * len(SIZES) for by in grow]
        found += rows(computing, SIZES, metric="computing", **keys)
    return frame_of(found)


def test_costs_that_were_planted_are_found() -> None:
    """Each walk's overhead and cost a byte, of either kind, to four digits; and how long it takes."""
    found = _cold.rows(table(), asks)
    assert [row["walked"].value for row in found if isinstance(row["walked"], Value)] == list(KNOWN)
    for row, (walk, overhead, cost, asked, asked_cost) in zip(found, KNOWN.values(), strict=True):
        told = {key: each.value for key, each in row.items() if isinstance(each, Value)}
        assert told["time"] == pytest.approx(walk)
        assert told["overhead"] == pytest.approx(overhead, rel=1e-4)
        assert told["handshake_overhead"] == pytest.approx(asked, rel=1e-4)
        assert 1 / told.get("copy", np.inf) == pytest.approx(cost, rel=1e-4, abs=1e-13)
        assert 1 / told["handshake_copy"] == pytest.approx(asked_cost, rel=1e-4)


def test_intervals_are_what_launches_give() -> None:
    """Launches that drift by 20 % give every number an interval, which holds it."""
    for row in _cold.rows(table(drift=0.04), asks):
        value = row["overhead"]
        assert isinstance(value, Value) and value.low is not None and value.high is not None
        assert value.low < value.value < value.high


def test_a_longer_walk_never_costs_less() -> None:
    """A walk that came out cheaper than the one before by chance costs as much."""
    times = np.array([[1e-7, 1e-6], [5e-7, 2e-6], [3e-7, 3e-6]])
    costs = _cold._costs(times, np.array([1.0, 1e4]), np.array([1e6, 2e6]))
    assert (np.diff(costs, axis=0) >= 0).all()


def test_a_walk_that_takes_no_longer_than_a_shorter_one_is_left_out() -> None:
    """A machine file has them in ascending order; memory that takes no time tells nothing."""
    records = table()
    computing = pl.col("metric") == "computing"
    flat = records.filter(~computing | (pl.col("walked") != 8 * MIB)).vstack(
        records.filter(computing & (pl.col("walked") == MIB)).with_columns(walked=pl.lit(8 * MIB, pl.Int64))
    )
    kept = [row["walked"].value for row in _cold.rows(flat, asks) if isinstance(row["walked"], Value)]
    assert kept == [MIB, 64 * MIB]


def test_no_walk_is_no_row_however_its_launches_differ() -> None:
    """Half of the launches are slow with most sizes, so that medians over launches and over all differ."""
    computing, bare = pl.col("metric") == "computing", pl.col("walked") == 0
    keys = {"benchmark": "cold", "ranks": 2, "walked": 0, "metric": "computing"}
    slow, fast = [6e-6, 6e-6, 6e-6, 5e-6, 5e-6], [5e-6] * len(SIZES)
    unequal = table().filter(~(computing & bare)).vstack(frame_of(rows([slow, fast] * 3, SIZES, **keys)))
    kept = [row["walked"].value for row in _cold.rows(unequal, asks) if isinstance(row["walked"], Value)]
    assert kept == list(KNOWN)


def test_a_run_without_walks_tells_nothing() -> None:
    """No rows without the benchmark, nor where only the ping-pong without a walk is there."""
    records = table()
    assert _cold.rows(records.clear(), asks) == []
    alone = records.filter(records["walked"] == 0)
    assert _cold.rows(alone, asks) == []
