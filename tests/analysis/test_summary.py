"""What a summary says of points whose launches are known one by one."""

import numpy as np
import polars as pl
import pytest

from leadline.analysis.estimates import launch_estimates
from leadline.analysis.noise import judge_runs
from leadline.analysis.summary import ALONE, COLUMNS, said_of_runs, summarise
from leadline.core import record
from planted import QUIET, failed, frame_of, rows, table


def only(summary: pl.DataFrame) -> dict[str, object]:
    """The one row of a summary."""
    assert summary.height == 1
    return summary.row(0, named=True)


def test_a_run_alone_says_that_its_intervals_are() -> None:
    """Where nothing tells how much runs differ; simulated values do not differ."""
    run = table([[1e-6], [1.1e-6]] * 3, [8])
    assert said_of_runs(run, []) == ALONE
    assert said_of_runs(run, [run] * 3) not in ("", ALONE)
    assert said_of_runs(run.with_columns(source=pl.lit("simulated")), []) == ""
    two = frame_of(rows([[1.0, 1.0, 1.0]] * 5 + [[3.0, 3.0, 1.0]] * 5, [8, 64, 512]))
    assert "At 2 of 3 values launches fall into two groups, 3 times apart" in said_of_runs(two, [])


def test_the_value_is_the_median_over_launches_of_their_medians() -> None:
    """Six launches 1..6 us: median 3.5, interval min to max at 31/32, the next launch in it with 5/7."""
    row = only(summarise(table([[1e-6 * k] for k in (4, 1, 6, 2, 5, 3)], [8])))
    numbers = {name: row[name] for name in COLUMNS if isinstance(row[name], float)}
    assert numbers == pytest.approx(
        {
            "value": 3.5e-6,
            "low": 1e-6,
            "high": 6e-6,
            "confidence": 31 / 32,
            "next_low": 1e-6,
            "next_high": 6e-6,
            "next_confidence": 5 / 7,
        }
    )
    assert (row["launches"], row["samples"], row["status"], row["unit"]) == (6, 18, "ok", "s")


def test_a_launch_counts_once_however_many_samples_it_took() -> None:
    """Launches of 1, 2 and 300 samples give three medians; the warm-up of each is left out, the rest is
    not.
    """
    samples = [[9.0, 1.0], [9.0, 2.0, 2.0], [9.0] + [3.0] * 300]
    point = only(
        summarise(
            frame_of(
                QUIET | {"launch": i, "bytes": 8, "samples": s, "warmup": 1} for i, s in enumerate(samples)
            )
        )
    )
    assert (point["value"], point["samples"], point["launches"]) == (2.0, 303, 3)


def test_ten_launches_take_the_second_from_either_end() -> None:
    """1 - 2 (1 + 10) / 1024 = 97.9 % is the least that ten values reach above 95 %."""
    row = only(summarise(table([[float(k)] for k in (3, 8, 1, 10, 5, 2, 9, 4, 7, 6)], [8])))
    assert (row["low"], row["high"]) == (2.0, 9.0)
    assert row["confidence"] == pytest.approx(1 - 22 / 1024)


def test_one_launch_has_a_value_and_no_interval() -> None:
    """Nothing is known of the spread between launches from one of them, so it is null, not zero."""
    row = only(summarise(table([[2.0]], [8])))
    assert row["value"] == 2.0
    assert [row[n] for n in ("low", "high", "confidence", "next_low", "next_high", "next_confidence")] == [
        None
    ] * 6


def test_series_and_points_stay_apart() -> None:
    """Two sizes, two placements and two words for buffers are six points, each with its own value."""
    tables = [
        frame_of(rows([[1.0, 2.0]], [0, 8], placement="core-group", buffers="reused")),
        frame_of(rows([[3.0, 4.0]], [0, 8], placement="sockets", buffers="reused")),
        frame_of(rows([[5.0, 6.0]], [0, 8], placement="sockets", buffers="rotated")),
    ]
    summary = summarise(record.concat(tables))
    assert summary.select("placement", "buffers", "bytes", "value").rows() == [
        ("core-group", "reused", 0, 1.0),
        ("core-group", "reused", 8, 2.0),
        ("sockets", "reused", 0, 3.0),
        ("sockets", "rotated", 0, 5.0),
        ("sockets", "reused", 8, 4.0),
        ("sockets", "rotated", 8, 6.0),
    ]


def test_a_point_that_failed_now_and_then_is_ok_and_says_so() -> None:
    """Two of five launches crashed: both metrics keep their three launches, and the reason tells."""
    good = rows([[1.0]] * 3, [8]) + rows([[2.0]] * 3, [8], metric="bandwidth", unit="B/s", better="higher")
    bad = [failed(8, launch, "rank 1 ended with signal 11") for launch in (3, 4)]
    summary = summarise(frame_of(good + bad))
    assert summary.get_column("status").to_list() == ["ok", "ok"]
    assert set(summary.get_column("reason")) == {"failed in 2 of 5 launches: rank 1 ended with signal 11"}
    assert summary.get_column("launches").to_list() == [3, 3]


def test_a_point_that_never_ran_is_a_row_with_its_reason() -> None:
    """No numbers, no launches, status and reason; a failure outweighs a skip at the same point."""
    summary = summarise(
        frame_of(
            [
                *rows([[1.0]], [8]),
                failed(16, 0, "this machine has one socket", record.SKIPPED),
                failed(32, 0, "asked for", record.SKIPPED),
                failed(32, 1, "time limit"),
            ]
        )
    ).filter(pl.col("status") != "ok")
    assert summary.select("bytes", "status", "launches", "value").rows() == [
        (16, "skipped", 0, None),
        (32, "failed", 0, None),
    ]
    assert summary.get_column("reason")[0] == "this machine has one socket"


def test_a_point_that_was_wrong_once_has_no_numbers() -> None:
    """Two launches were right, the third was not: one row says why, and no launch enters."""
    wrong = failed(8, 2, "wrong result", record.INVALID)
    records = frame_of([*rows([[1.0, 5.0]] * 2, [8, 16]), wrong])
    summary = summarise(records)
    assert summary.select("bytes", "status", "value", "launches", "reason").rows() == [
        (8, "invalid", None, 0, "wrong result"),
        (16, "ok", 5.0, 2, None),
    ]
    assert launch_estimates(records)["bytes"].unique().to_list() == [16]
    assert records.filter(pl.col("status") == record.OK)["bytes"].unique().to_list() == [16]


def test_samples_that_are_not_numbers_are_left_out() -> None:
    """A launch of nothing but warm-up or NaN is no launch; one NaN among numbers spoils nothing."""
    records = frame_of(
        QUIET | {"launch": i, "bytes": 8, "samples": s, "warmup": 1}
        for i, s in enumerate([[1.0], [1.0, float("nan")], [1.0, 2.0, float("nan"), 4.0], []])
    )
    row = only(summarise(records))
    assert (row["launches"], row["value"], row["samples"]) == (1, 3.0, 2)


def test_tolerance_is_met_only_if_every_launch_met_it() -> None:
    """One launch that ran out of time makes it false; imported records, which do not say, make it null."""
    good = rows([[1.0]] * 3, [8])
    assert only(summarise(frame_of(good)))["tolerance_met"] is True
    assert (
        only(summarise(frame_of([*good, good[0] | {"launch": 3, "stopped_by": "time"}])))["tolerance_met"]
        is False
    )
    for unknown in (None, "exact"):
        none = rows([[1.0]] * 3, [8], stopped_by=unknown)
        assert only(summarise(frame_of(none)))["tolerance_met"] is None


def test_a_disturbed_point_is_marked_and_says_by_what() -> None:
    """One launch of four (a quarter) waited 30 % of its time: marked, with the figure; one of five is not."""
    quiet = rows([[1.0]] * 4, [8])
    waiting = {"run_delay": 0.03, "launch": 4}
    marked = only(summarise(frame_of([*quiet[:3], quiet[3] | waiting])))
    assert marked["disturbed"] is True
    said = str(marked["disturbance"])
    assert "in 25 % of its launches: a rank waited for its processor up to 30 % of the time" in said
    spared = only(summarise(frame_of([*quiet, quiet[0] | waiting])))
    assert (spared["disturbed"], spared["disturbance"]) == (False, None)


def test_a_wide_interval_is_meaningless_only_where_something_disturbed_it() -> None:
    """Launches from 1.0 to 1.6: the interval reaches 45 % from the value; one disturbed launch makes it
    meaningless.
    """
    wide = rows([[v] for v in (1.0, 1.05, 1.06, 1.1, 1.1, 1.1, 1.6, 1.1)], [8])
    by_itself = only(summarise(frame_of(wide)))
    assert (by_itself["meaningless"], by_itself["disturbed"]) == (False, False)
    disturbed = only(summarise(frame_of([*wide[:-1], wide[-1] | {"others": 1.5}])))
    assert (disturbed["meaningless"], disturbed["disturbed"]) == (True, True)
    assert "other processes kept up to 1.5 processors busy" in str(disturbed["disturbance"])
    said = str(disturbed["disturbance"])
    assert said.startswith("the interval is too wide to use, from 9.1 % below the value to 45 % above it")
    wild = rows([[v] for v in (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 5201.0)], [8], others=1.5)
    said = str(only(summarise(frame_of(wild)))["disturbance"])
    assert said.startswith("the interval is too wide to use, from 0 % below the value to 5,201 times it")


def test_no_records_give_no_points() -> None:
    """An empty table has the columns of a summary and no row."""
    summary = summarise(frame_of([]))
    assert summary.height == 0
    assert set(COLUMNS) <= set(summary.columns)


def test_a_point_taken_twice_in_a_launch_is_one_longer_take() -> None:
    """Samples 1, 1, 1 and 2, 2, 2 of one launch have the median 1.5: one launch, six samples."""
    estimates = launch_estimates(frame_of(rows([[1.0]], [8]) + rows([[2.0]], [8])))
    assert estimates.select("median", "samples").rows() == [(1.5, 6)]


def test_every_row_agrees_with_the_plain_computation() -> None:
    """Many points at once give what numpy gives for each: ranks are not mixed up between points."""
    rng = np.random.default_rng(5)
    counts = [1, 2, 5, 6, 9, 10, 20, 40]
    values = np.full((40, len(counts)), np.nan)
    for column, count in enumerate(counts):
        values[:count, column] = rng.lognormal(0, 0.2, count)
    summary = summarise(table(values, list(range(len(counts)))))
    for row, count in zip(summary.sort("bytes").iter_rows(named=True), counts, strict=True):
        known = np.sort(values[:count, row["bytes"]])
        assert row["value"] == pytest.approx(np.median(known))
        assert row["launches"] == count
        if count == 20:
            assert (row["low"], row["high"]) == (known[5], known[14])
        if count == 40:
            assert (row["low"], row["high"]) == (known[13], known[26])


def test_a_simulated_value_is_exact_and_has_no_interval() -> None:
    """One sample without noise: another launch would give the same. With noise there are many samples."""
    exact = rows([[2e-6]], [8], source="simulated", samples=[2e-6])
    noisy = rows([[2e-6]], [16], source="simulated")
    found = summarise(frame_of(exact + noisy)).sort("bytes").to_dicts()
    assert [row["exact"] for row in found] == [True, False]
    assert [row["value"] for row in found] == [2e-6, 2e-6]
    assert found[0]["low"] is found[0]["next_low"] is found[0]["confidence"] is None
    assert not found[0]["disturbed"]


def test_one_real_launch_is_not_exact() -> None:
    """A single measured sample has no interval either, but another launch would give something else."""
    assert summarise(table([[2e-6]], [8], samples=[2e-6]))["exact"].to_list() == [False]


def covered(correlation: float, seed: int) -> float:
    """The share of 40 points whose interval holds the truth: 24 launches of 5 %, each like the one before."""
    rng = np.random.default_rng(seed)
    logs = np.zeros((24, 40))
    shocks = rng.standard_normal((24, 40)) * np.sqrt(1 - correlation**2)
    logs[0] = rng.standard_normal(40)
    for launch in range(1, 24):
        logs[launch] = correlation * logs[launch - 1] + shocks[launch]
    found = summarise(table(1e-6 * np.exp(0.05 * logs), list(range(1, 41))))
    return int(((found["low"] <= 1e-6) & (found["high"] >= 1e-6)).sum()) / found.height


def test_intervals_are_wider_where_launches_resemble_each_other() -> None:
    """97.7 % (24 launches) where they are independent; no less where neighbours correlate by 0.7."""
    independent = [covered(0.0, seed) for seed in range(12)]
    dependent = [covered(0.7, seed) for seed in range(12)]
    assert np.mean(independent) == pytest.approx(0.977, abs=0.015)
    assert np.mean(dependent) > 0.95


def test_a_run_whose_launches_depend_on_each_other_says_so() -> None:
    """In the first sentence about how quiet it was; independent launches say nothing."""
    drifting = table(1e-6 * np.exp(0.01 * np.arange(20))[:, None] * np.ones((20, 5)), [1, 2, 3, 4, 5])
    assert judge_runs(drifting)["planted"].sentences[0].startswith("Launches resemble the one before")
    still = table(1e-6 * np.exp(0.05 * np.random.default_rng(1).standard_normal((20, 5))), [1, 2, 3, 4, 5])
    assert not any("resemble" in each for each in judge_runs(still)["planted"].sentences)
