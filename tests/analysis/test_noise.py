"""Is a quiet machine called quiet, and a planted disturbance found, told in numbers, and not found
elsewhere?
"""

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from leadline.analysis import noise
from leadline.core import record
from planted import QUIET, frame_of, rows, table


def quiet_launches(
    launches: int = 8, spread: float = 0.05, seed: int = 1
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Launch medians of three sizes that differ as those of a quiet machine do."""
    rng = np.random.default_rng(seed)
    return np.array([3e-7, 4e-7, 1e-6]) * rng.lognormal(0, spread, (launches, 1))


SIZES = [8, 1024, 65536]


def judged(**fields: Any) -> noise.Quietness:
    """The verdict on eight launches of three sizes with some fields other than quiet ones."""
    return noise.judge(table(quiet_launches(), SIZES, **fields))


def test_a_quiet_machine_is_called_quiet_in_numbers() -> None:
    """Every sign watched has a sentence with a number; nothing is called disturbed."""
    verdict = judged()
    assert verdict.level == "quiet"
    assert verdict.figures["disturbed_share"] == 0
    assert verdict.figures["waiting_max"] == pytest.approx(0.001)
    assert all(re.search(r"\d", sentence) for sentence in verdict.sentences)
    assert (
        "A rank waited for its processor up to 0.1 % of the time (median over the records 0.1 %)."
        in verdict.sentences
    )


@pytest.mark.parametrize(
    ("field", "level", "said"),
    [
        ({"run_delay": 0.0019}, "quiet", "up to 1.9 % of the time"),
        ({"run_delay": 0.0021}, "disturbed", "up to 2.1 % of the time"),
        ({"run_delay": 0.03}, "loaded", "up to 30 % of the time"),
        ({"steal": 0.04}, "disturbed", "hypervisor took up to 4 % of one processor's time"),
        ({"steal": 0.50}, "loaded", "hypervisor took up to 50 % of one processor's time"),
        ({"others": 1.3}, "disturbed", "kept up to 1.3 processors busy"),
        ({"switches": 60}, "disturbed", "taken off its processor up to 300 times a second"),
        ({"switches": 9}, "quiet", "records show other work"),
    ],
)
def test_each_sign_is_found_at_its_threshold(field: dict[str, float], level: str, said: str) -> None:
    """2 % of the time disturbs, 20 % loads; points take 0.1 s and have 2 ranks: 60 switches are 300 a
    second.
    """
    verdict = judged(**field)
    assert verdict.level == level
    assert said in " ".join(verdict.sentences)


def test_ranks_that_share_processors_by_plan_do_not_count_as_disturbed() -> None:
    """Oversubscribed ranks wait for each other; others on the machine are still seen."""
    assert judged(oversubscribed=True, run_delay=0.05, switches=300).level == "quiet"
    assert judged(oversubscribed=True, run_delay=0.05, others=1.0).level == "disturbed"


@pytest.mark.parametrize(("loaded", "level"), [(0, "quiet"), (1, "quiet"), (2, "disturbed"), (10, "loaded")])
def test_the_verdict_counts_how_many_records_were_hit(loaded: int, level: str) -> None:
    """Of 30 records one is 3 % (below 5 %), two are 7 %, ten are a third (above a quarter)."""
    quiet = rows([[1.0]] * 30, [8])
    hit = [row | {"run_delay": 0.05} for row in quiet[:loaded]]
    assert noise.judge(frame_of(hit + quiet[loaded:])).level == level


def test_records_that_tell_nothing_are_called_unknown() -> None:
    """Imported numbers hold no signs: that is not the same as quiet."""
    unwatched = {"run_delay": None, "switches": None, "steal": None, "others": None, "duration": None}
    verdict = judged(**unwatched)
    assert verdict.level == "unknown"
    assert verdict.sentences[0].startswith("These records have no data")
    assert noise.judge(frame_of([])).level == "unknown"


@pytest.mark.parametrize(("lost", "level"), [(0.04, "quiet"), (0.06, "disturbed"), (0.4, "loaded")])
def test_the_noise_benchmark_is_heard(lost: float, level: str) -> None:
    """Shares of fixed work lost, one of a hundred twice as large; 5 % disturb, 20 % load; warm-up is not
    heard.
    """
    row = QUIET | {"benchmark": "noise", "metric": "lost", "unit": "1", "launch": 0, "warmup": 1}
    delays = row | {"metric": "longest", "unit": "s", "samples": [9.0, 1e-4, 3e-3]}
    verdict = noise.judge(frame_of([row | {"samples": [0.9] + [lost] * 99 + [lost * 2]}, delays]))
    assert verdict.level == level
    assert verdict.figures["noise_mean"] == pytest.approx(lost * 1.01)
    said = " ".join(verdict.sentences)
    assert f"in its worst sample {200 * lost:.2g} %; the longest delay was 3.00 ms." in said


def test_a_clock_that_moves_disturbs() -> None:
    """Half of the records at 2 GHz and half at 3 GHz: a third; steady within 2 % is no disturbance."""
    moving = [row | {"frequency": 2e9 + 1e9 * (i % 2)} for i, row in enumerate(rows([[1.0]] * 20, [8]))]
    verdict = noise.judge(frame_of(moving))
    assert verdict.level == "disturbed"
    assert "moved between 2.00 GHz and 3.00 GHz" in " ".join(verdict.sentences)
    steady = [row | {"frequency": 3e9 + 5e7 * (i % 2)} for i, row in enumerate(rows([[1.0]] * 20, [8]))]
    assert noise.judge(frame_of(steady)).level == "quiet"


def test_a_shift_between_launches_is_found_and_told() -> None:
    """From the fifth launch on everything takes 1.6 times as long: something began, though no sign was
    seen.
    """
    medians = quiet_launches(10, spread=0.03)
    medians[4:] *= 1.6
    verdict = noise.judge(table(medians, SIZES))
    assert verdict.level == "disturbed"
    assert verdict.figures["jump_share"] == verdict.figures["shift_share"] == 1.0
    said = " ".join(verdict.sentences)
    assert "At 3 of 3 values the launches fall into two groups" in said
    assert "4 launches at about" in said
    assert "something began or ended" in said


def test_groups_that_alternate_are_told_but_disturb_nothing() -> None:
    """Every other launch takes 1.6 times as long: a lottery of the launch, as quiet machines have it too."""
    medians = quiet_launches(10, spread=0.03)
    medians[::2] *= 1.6
    verdict = noise.judge(table(medians, SIZES))
    assert verdict.level == "quiet"
    assert "in no order of time" in " ".join(verdict.sentences)
    assert (verdict.figures["jump_share"], verdict.figures["shift_share"]) == (1.0, 0.0)


@pytest.mark.parametrize("count", [6, 10, 20, 40])
@pytest.mark.parametrize("name", ["normal", "uniform", "exponential"])
def test_one_group_is_seldom_taken_for_two(name: str, count: int) -> None:
    """Launches of one distribution, wide enough to be looked at, are parted one time in twenty at most.

    1000 trials: the count may exceed 5 % by four standard deviations, 2.8 %.
    """
    rng = np.random.default_rng(7)
    draws: dict[str, Any] = {"normal": rng.normal, "uniform": rng.uniform, "exponential": rng.exponential}
    found = [noise.find_jump(np.exp(0.5 * row)) is not None for row in draws[name](size=(1000, count))]
    assert np.mean(found) <= 0.05 + 0.028


def test_two_clear_groups_are_found_with_their_places() -> None:
    """Three launches at 1 and five at 2, 3 % wide: means and counts are those planted."""
    jump = noise.find_jump([1.0, 1.03, 2.0, 2.03, 1.01, 2.06, 2.0, 2.01])
    assert jump is not None
    assert (jump.count_low, jump.count_high, jump.in_time) == (3, 5, False)
    assert (jump.low, jump.high) == pytest.approx((1.013, 2.02), abs=0.001)


@pytest.mark.parametrize(
    "medians", [[1.0, 1.0, 1.0, 2.0, 2.0], [1.0] * 8, [1.0] * 4 + [1.2] * 4, [0.0] * 4 + [1.0] * 4]
)
def test_what_is_no_jump(medians: list[float]) -> None:
    """Fewer than six launches, equal ones, groups 20 % apart, and values that have no logarithm."""
    assert noise.find_jump(medians) is None


def test_a_gap_within_the_spread_of_samples_is_no_jump() -> None:
    """Groups 30 % apart mean nothing where samples of one launch lie 50 % apart."""
    medians = [1.0, 1.01, 1.02, 1.3, 1.31, 1.32]
    assert noise.find_jump(medians, spread=0.02) is not None
    assert noise.find_jump(medians, spread=0.5) is None


def test_runs_are_judged_one_by_one() -> None:
    """A quiet run and a loaded one in a table get a verdict each, in their order."""
    both = record.concat(
        [table([[1.0]] * 6, [8], run="night"), table([[1.0]] * 6, [8], run="day", steal=0.9)]
    )
    assert {run: verdict.level for run, verdict in noise.judge_runs(both).items()} == {
        "night": "quiet",
        "day": "loaded",
    }


def test_failed_points_are_not_evidence_of_noise() -> None:
    """A rank that hung waited long: its record is no measurement and is not judged."""
    bad = QUIET | {
        "status": record.FAILED,
        "reason": "time limit",
        "run_delay": 0.1,
        "launch": 9,
        "samples": [],
    }
    verdict = noise.judge(frame_of([*rows([[1.0]] * 6, [8]), bad]))
    assert verdict.level == "quiet"
    assert verdict.figures["records"] == 6


def test_signs_are_null_where_they_were_not_watched() -> None:
    """No figure is made up for a record without it, and null disturbs nobody."""
    signs = noise.with_signs(table([[1.0]], [8], steal=None, duration=None)).row(0, named=True)
    assert [signs[f"sign_{name}"] for name in ("waiting", "steal", "switches")] == [None] * 3
    assert signs["sign_others"] == pytest.approx(0.02)
    assert signs["disturbed"] is False
    assert isinstance(noise.SIGNS[0].figure, pl.Expr)


def test_a_simulated_run_has_no_machine_to_judge() -> None:
    """Beside a real run only that one has a verdict; alone there is none, rather than "unknown"."""
    simulated = table([[1e-6]], [8], source="simulated", run="on a machine")
    assert noise.judge_runs(simulated) == {}
    assert list(noise.judge_runs(record.concat([table([[1e-6]], [8]), simulated]))) == ["planted"]
