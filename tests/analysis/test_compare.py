"""Is a planted regression found, in either direction, and is none found where there is none?"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from leadline.analysis.changes import IMPROVEMENT, REGRESSION, UNCHANGED
from leadline.analysis.compare import (
    compare,
    is_worse,
    study,
    unmatched_keys,
    values_of,
)
from leadline.cli.compare import change
from leadline.cli.compare import command as compare_command
from leadline.core import record
from leadline.core.errors import UsageError
from leadline.run import store
from planted import failed, frame_of, rows, table

SIZES = [2**k for k in range(10)]


def launches(
    seed: int, count: int = 10, spread: float = 0.03, factor: Sequence[float] | float = 1.0, **fields: Any
) -> pl.DataFrame:
    """A run of ten sizes whose launches differ by `spread`, each size stretched by its `factor`."""
    rng = np.random.default_rng(seed)
    medians = 1e-6 * np.array(factor) * rng.lognormal(0, spread, (count, len(SIZES)))
    return table(medians, SIZES, **fields)


def verdicts(comparison: pl.DataFrame) -> dict[int, str]:
    """Verdict by size."""
    return dict(comparison.select("bytes", "verdict").iter_rows())


def test_a_planted_regression_is_found_where_it_is_and_nowhere_else() -> None:
    """64 B take 1.2 times as long: more than 5 %, with launches 3 % apart; the interval of the ratio holds
    1.2.
    """
    planted = [1.2 if size == 64 else 1.0 for size in SIZES]
    comparison = compare(launches(1), launches(2, factor=planted))
    assert [size for size, verdict in verdicts(comparison).items() if verdict == "regression"] == [64]
    assert not comparison.get_column("verdict").is_in(["improvement", "suspected regression"]).any()
    worst = comparison.row(0, named=True)
    assert worst["bytes"] == 64  # the worst comes first
    assert worst["low"] < 1.2 < worst["high"]
    assert worst["confidence"] >= 0.95
    assert is_worse(comparison)


@pytest.mark.parametrize(
    ("better", "factor", "verdict"),
    [
        ("lower", 1.3, "regression"),
        ("lower", 0.7, "improvement"),
        ("higher", 0.7, "regression"),
        ("higher", 1.3, "improvement"),
    ],
)
def test_which_way_is_good_is_the_metrics_word(better: str, factor: float, verdict: str) -> None:
    """More time is worse, more bandwidth is better."""
    comparison = compare(launches(1, better=better), launches(2, factor=factor, better=better))
    assert set(verdicts(comparison).values()) == {verdict}
    assert is_worse(comparison) == (verdict == "regression")


def test_a_change_within_the_threshold_is_no_regression() -> None:
    """64 B 8 % slower, launches 0.3 % apart: within 10 %, a regression at 5 %."""
    planted = [1.08 if size == 64 else 1.0 for size in SIZES]
    a, b = launches(1, spread=0.003), launches(2, spread=0.003, factor=planted)
    assert set(verdicts(compare(a, b, threshold=0.15)).values()) == {"unchanged"}
    found = verdicts(compare(a, b, threshold=0.05))
    assert [size for size, verdict in found.items() if verdict == "regression"] == [64]


def test_two_single_runs_cannot_tell_a_small_common_change_from_days() -> None:
    """All sizes 10 % slower may be another day: not called, and said; three runs on each side that lie close
    together know better, and twice as slow is called in any case.
    """
    a, b = launches(1, spread=0.003), launches(2, spread=0.003, factor=1.1)
    found = study(a, b)
    assert set(verdicts(found.table).values()) == {"suspected regression"}
    assert not is_worse(found.table)
    assert "one run on each side" in found.sentences()[0]
    assert set(verdicts(compare(a, launches(2, factor=2.0))).values()) == {"regression"}
    before, after = ([launches(seed, spread=0.003, factor=each) for seed in range(9)] for each in (1.0, 1.1))
    assert set(verdicts(compare(before, after)).values()) == {"regression"}


def test_runs_before_a_show_what_two_single_runs_can_tell_from_days() -> None:
    """20 % slower everywhere: called where six earlier runs lay within 1 %, else not."""
    a, b = launches(1, spread=0.003), launches(2, spread=0.003, factor=1.2)
    assert not is_worse(study(a, b).table)
    steady, restless = (
        [launches(10 + k, spread=0.003, factor=1 + size * (-1) ** k) for k in range(6)]
        for size in (0.005, 0.1)
    )
    found = study(a, b, earlier=steady)
    assert set(verdicts(found.table).values()) == {"regression"}
    assert "may be one between days, by 6 runs before A;" in found.sentences()[0]
    found = study(a, b, earlier=restless)
    assert not is_worse(found.table)
    assert float(re.search(r"up to (\d+) %", found.sentences()[0])[1]) > 25  # type: ignore[index]
    said = study(a, b, earlier=steady[:2]).sentences()[0]  # two show nothing
    assert "up to 16 % may be one between days, assuming a standard deviation of 4 % between runs" in said
    other = [each.with_columns(placement=pl.lit("sockets")) for each in steady]
    assert study(a, b, earlier=other).sentences()[0] == said


def test_six_launches_are_enough_among_many_points() -> None:
    """Six against six, fifty points, one ten times slower: a rank test cannot call it at any level."""
    rng = np.random.default_rng(1)
    sizes = [2**k for k in range(50)]
    a, b = (rng.lognormal(0, 0.05, (6, 50)) for _ in range(2))
    b[:, 7] *= 10
    comparison = compare(table(a, sizes), table(b, sizes))
    assert verdicts(comparison)[128] == "regression"
    assert is_worse(comparison)


def test_two_mpis_of_one_run_are_compared_launch_by_launch() -> None:
    """Launches that drift by half are the same for both: a difference of 8 % is found to within 1 %."""
    rng = np.random.default_rng(2)
    drift = np.exp(np.linspace(0, 0.5, 20))[:, None] * rng.lognormal(0, 0.002, (20, 1))
    first = table(drift * rng.lognormal(0, 0.003, (20, 10)), SIZES)
    second = table(1.08 * drift * rng.lognormal(0, 0.003, (20, 10)), SIZES, mpi="mpich-4.0.2")
    sides = values_of(record.concat([second, first]), "mpi")
    # By name mpich comes first; it is the one that is slower.
    comparison = compare(*sides, across=["mpi"])
    assert set(verdicts(comparison).values()) == {"improvement"}
    assert (comparison["high"] - comparison["low"]).max() < 0.02  # type: ignore[operator]


def test_drift_within_a_run_is_told() -> None:
    """Launches that get slower one after the other are not independent, and the comparison says so."""
    rng = np.random.default_rng(3)
    drift = np.exp(np.linspace(0, 0.3, 20))[:, None]
    found = study(launches(1, count=20), table(1e-6 * drift * rng.lognormal(0, 0.02, (20, 10)), SIZES))
    assert not found.dependence["A"][0].found
    assert found.dependence["B"][0].found
    assert any("B are not independent" in sentence for sentence in found.sentences())


def test_what_launches_cannot_tell_is_undecided() -> None:
    """Launches 20 % apart leave 5 % open either way, and the smallest detectable change says how far off
    that is.
    """
    comparison = compare(launches(1, spread=0.2), launches(2, spread=0.2))
    assert set(verdicts(comparison).values()) == {"undecided"}
    detectable = comparison.get_column("detectable").to_numpy()
    # 3.3 standard errors of 0.2 sqrt(2 / 10) for half a per cent among ten, and 0.84 for four times in five.
    assert np.log1p(np.median(detectable)) == pytest.approx(4.1 * 0.2 * np.sqrt(0.2), rel=0.35)
    assert (comparison.get_column("chance") < 0.2).all()


def test_nothing_is_found_where_nothing_changed() -> None:
    """Sixty comparisons of ten points, none changed, at a threshold of nothing: at most one in twenty fails.

    3 of 60 are expected at the most; 9 would be four standard deviations beyond that.
    """
    alarms = sum(
        is_worse(compare(launches(2 * i, spread=0.1), launches(2 * i + 1, spread=0.1), threshold=0.0))
        for i in range(60)
    )
    assert alarms < 9


def test_a_change_that_may_be_chance_among_so_many_points_is_only_suspected() -> None:
    """Four launches a side that lie 15 % apart: 1.35 at one of ten points is no more than suspected."""
    planted = [1.35 if size == 64 else 1.0 for size in SIZES]
    among = compare(launches(1, count=4, spread=0.15), launches(2, count=4, spread=0.15, factor=planted))
    assert verdicts(among)[64] == "suspected regression"
    assert among.row(0, named=True)["reason"]
    assert not is_worse(among)


@pytest.mark.parametrize("counts", [(3, 3), (1, 9), (1, 1)])
def test_too_few_launches_have_no_interval_and_say_so(counts: tuple[int, int]) -> None:
    """Four launches on either side are the fewest."""
    comparison = compare(launches(1, count=counts[0]), launches(2, count=counts[1], factor=2.0))
    row = comparison.row(0, named=True)
    assert row["ratio"] == pytest.approx(2.0, rel=0.2)
    assert (row["low"], row["high"], row["confidence"], row["detectable"]) == (None, None, None, None)
    assert row["verdict"] == "undecided"
    assert "too few launches" in row["reason"]


def test_points_in_one_run_only_are_listed() -> None:
    """A lacks 2 B, B lacks 1 B, and 4 B crashed in B: that last one fails the check, the others do not."""
    a = table([[1.0, 1.0, 1.0]] * 6, [1, 4, 8])
    b = frame_of([*rows([[1.0, 1.0]] * 6, [2, 8]), failed(4, 0, "rank 1 ended with signal 11")])
    comparison = compare(a, b)
    assert verdicts(comparison) == {4: "failed in B", 1: "only in A", 2: "only in B", 8: "undecided"}
    assert comparison.row(0, named=True)["reason"] == "rank 1 ended with signal 11"
    assert is_worse(comparison)
    assert not is_worse(compare(b, a))  # what failed before and runs now is no regression
    skipped = frame_of([*rows([[1.0]] * 6, [8]), failed(4, 0, "one socket", record.SKIPPED)])
    assert not is_worse(compare(a, skipped))


def test_values_that_have_no_ratio_are_undecided() -> None:
    """A machine that lost nothing to noise has no ratio; metrics in different units neither."""
    zero = compare(table([[0.0]] * 6, [8]), table([[0.1]] * 6, [8])).row(0, named=True)
    assert (zero["verdict"], zero["reason"]) == ("undecided", "a ratio needs values above zero")
    units = compare(table([[1.0]] * 6, [8]), table([[1.0]] * 6, [8], unit="B/s")).row(0, named=True)
    assert (units["verdict"], units["reason"]) == ("undecided", "A is in s, B in B/s")


def test_launches_of_several_runs_in_a_table_stay_apart() -> None:
    """Two runs of five launches each are ten launches, not five."""
    many = record.concat([launches(1, count=5, run="monday"), launches(2, count=5, run="tuesday")])
    assert set(compare(many, launches(3, count=7)).select("launches_a", "launches_b").iter_rows()) == {
        (10, 7)
    }


def test_keys_may_be_compared_across() -> None:
    """Another MPI has another identity: nothing matches, unless mpi may differ."""
    a, b = launches(1), launches(2, factor=1.3, mpi="mpich-4.0.2")
    assert set(compare(a, b).get_column("verdict")) == {"only in A", "only in B"}
    assert unmatched_keys(a, b) == ["mpi"]
    assert set(verdicts(compare(a, b, across=["mpi"])).values()) == {"regression"}
    with pytest.raises(UsageError, match=r"A .*\bmpi\b"):
        compare(record.concat([a, b]), b, across=["mpi"])
    with pytest.raises(UsageError, match="across 'mpj'; did you mean 'mpi'"):
        compare(a, b, across=["mpj"])


def test_benchmarks_are_chosen_by_name() -> None:
    """Only the one named is compared; a name in neither run is refused with the nearest."""
    a = record.concat([launches(1), launches(2, benchmark="overhead", metric="send_overhead")])
    assert set(compare(a, a, benchmarks=["overhead"]).get_column("benchmark")) == {"overhead"}
    with pytest.raises(UsageError, match=r"'pingpnog'.*'pingpong'"):
        compare(a, a, benchmarks=["pingpnog"])


@pytest.mark.parametrize("threshold", [-0.1, 1.0])
def test_a_threshold_is_a_share(threshold: float) -> None:
    """Nothing can become slower than 100 % of its bandwidth."""
    with pytest.raises(UsageError, match="a threshold is 0 % or more and less than 100 %"):
        compare(launches(1), launches(2), threshold=threshold)


@pytest.mark.parametrize(
    ("ratio", "low", "high", "told"),
    [
        (1.123, 1.081, 1.149, "+12 % [+8, +15]"),
        (0.9987, 0.9961, 1.0012, "-0.1 % [-0.4, +0.1]"),
        (0.9996, 0.95, 1.04, "+0 % [-5, +4]"),
        (2.0, None, None, "(+100 %)"),
        (3.4, 3.1, 3.7, "3.4 times [3.1, 3.7]"),
        (340.2, None, None, "(340 times)"),
        (None, None, None, ""),
    ],
)
def test_changes_are_told_with_the_digits_that_their_interval_allows(
    ratio: float | None, low: float | None, high: float | None, told: str
) -> None:
    """Per cent points to one place more than half the width; brackets where there is no interval."""
    assert change(ratio, low, high) == told


# ------------------------------------------------------------------------------------------------ the verb


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Record files: two alike, one with a planted regression, one of another MPI."""
    tables = {
        "a": launches(1),
        "same": launches(2),
        "slow": launches(3, factor=[1.4 if size == 64 else 1.0 for size in SIZES]),
        "other": launches(4, mpi="mpich-4.0.2"),
    }
    for name, each in tables.items():
        store.write_parquet(each, tmp_path / f"{name}.parquet", {})
    return {name: str(tmp_path / f"{name}.parquet") for name in tables}


def test_the_verb_fails_on_a_regression_and_only_then(files: dict[str, str]) -> None:
    """Exit code 1 with the point and its change at the top; 0 where nothing changed, and beyond a wide
    threshold.
    """
    found = CliRunner().invoke(compare_command, [files["a"], files["slow"]])
    assert found.exit_code == 1
    first = found.output.splitlines()[1]
    assert re.match(r"regression  pingpong, latency, 64 B +1\.\d+ µs .* \+4\d % \[\+3\d, \+4\d\]", first)
    assert "10 points" in found.output
    assert "1 regression" in found.output
    assert CliRunner().invoke(compare_command, [files["a"], files["same"]]).exit_code == 0
    wide = CliRunner().invoke(compare_command, [files["a"], files["slow"], "--threshold", "60 %"])
    assert wide.exit_code == 0


def test_the_verb_gives_json(files: dict[str, str]) -> None:
    """A list of objects in SI units, one a point; the exit code is the same."""
    found = CliRunner().invoke(compare_command, [files["a"], files["slow"], "--json"])
    listed = json.loads(found.output)
    assert found.exit_code == 1
    assert len(listed) == 10
    assert (listed[0]["bytes"], listed[0]["verdict"], listed[0]["unit"]) == (64, "regression", "s")


def test_comparing_nothing_is_a_failure_with_a_way_out(files: dict[str, str]) -> None:
    """A check in which no point matched must not pass; the sentence says which key differs and what would
    do.
    """
    found = CliRunner().invoke(compare_command, [files["a"], files["other"]])
    assert isinstance(found.exception, UsageError)
    for word in ("openmpi-4.1.4", "mpich-4.0.2", "--across mpi"):
        assert word in str(found.exception)
    across = CliRunner().invoke(compare_command, [files["a"], files["other"], "--across", "mpi"])
    assert across.exit_code == 0


def test_a_loaded_run_is_told_beside_its_numbers(tmp_path: Path, files: dict[str, str]) -> None:
    """A comparison with a run whose ranks waited half of their time says so."""
    store.write_parquet(launches(5, run_delay=0.05), tmp_path / "loaded.parquet", {})
    found = CliRunner().invoke(compare_command, [files["a"], str(tmp_path / "loaded.parquet")])
    assert "B: busy. 100 % of the 100 records show other work" in found.output
    assert "A: " not in found.output


def test_two_simulated_values_differ_or_do_not() -> None:
    """Nothing about them is chance: 10 % slower is a regression from one launch each, 1 % is unchanged."""
    a = table([[1.0, 1.0, 1.0]], [8, 16, 32], source="simulated")
    b = table([[1.1, 1.01, 0.9]], [8, 16, 32], source="simulated")
    single = pl.col("samples").list.head(1)
    found = compare(a.with_columns(single), b.with_columns(single)).sort("bytes")
    assert found["verdict"].to_list() == [REGRESSION, UNCHANGED, IMPROVEMENT]
    assert found["low"].to_list() == [None] * 3
    assert set(found["reason"]) == {"both simulated: exact"}


def test_an_exact_change_is_told_without_brackets() -> None:
    """Brackets say that nobody knows how sure a change is."""
    assert change(1.1, None, None, exact=True) == "+10 %"
    assert change(1.0, None, None, exact=True) == "+0 %"
    assert change(1.1, None, None) == "(+10 %)"
    assert change(1.9991, None, None, exact=True) == "+100 %"
    assert change(1 + 1e-9, None, None, exact=True) == "+0 %"


def test_versions_of_an_mpi_match_by_their_family(tmp_path: Path, files: dict[str, str]) -> None:
    """One version on either side is compared, and a line says so; of two, it is not clear which."""
    newer = launches(5, mpi="openmpi-5.0.3")
    store.write_parquet(newer, tmp_path / "newer.parquet", {})
    found = CliRunner().invoke(compare_command, [files["a"], str(tmp_path / "newer.parquet")])
    assert found.exit_code == 0
    assert re.search(r"openmpi-4\.1\.4 .*openmpi-5\.0\.3", found.output)
    two = record.concat([newer, launches(6, mpi="openmpi-5.0.4")])
    with pytest.raises(AssertionError):
        assert "unchanged" in compare(launches(1), two).get_column("verdict").to_list()


def test_machines_are_slower_or_faster_and_fail_nothing(tmp_path: Path, files: dict[str, str]) -> None:
    """Keys that differ because the machine does need not be named; the exit code is 0."""
    other = launches(3, factor=2.0, mpi="bgp", source="simulated")
    store.write_parquet(other, tmp_path / "bgp.parquet", {})
    words = [files["a"], str(tmp_path / "bgp.parquet"), "--across"]
    found = CliRunner().invoke(compare_command, [*words, "machine"])
    assert found.exit_code == 0, found.output
    assert "10 slower" in found.output
    assert "regression" not in found.output
    assert "source is measured in A, simulated in B." in " ".join(found.output.split())
    assert CliRunner().invoke(compare_command, [*words, "mpi", "--across", "source"]).exit_code == 1
    store.write_parquet(launches(3, factor=2.0, partition=512), tmp_path / "part.parquet", {})
    found = CliRunner().invoke(
        compare_command, [files["a"], str(tmp_path / "part.parquet"), "--across", "partition"]
    )
    assert (found.exit_code, "10 slower" in found.output) == (0, True), found.output


def test_two_mpis_of_one_run_fail_nothing(tmp_path: Path) -> None:
    """That one MPI is slower than another is no regression of it."""
    both = record.concat([launches(1, mpi="mpich-4.0.2"), launches(2, factor=2.0, mpi="openmpi-4.1.4")])
    store.write_parquet(both, tmp_path / "both.parquet", {})
    found = CliRunner().invoke(compare_command, [str(tmp_path / "both.parquet"), "--across", "mpi"])
    assert found.exit_code == 0, found.output
    assert "10 slower" in found.output
    assert "regression" not in found.output


def test_a_comparison_without_one_interval_does_not_pass(tmp_path: Path) -> None:
    """Three launches a side decide no point: exit code 2, as for a request that cannot be understood."""
    for name in "ab":
        store.write_parquet(launches(1, count=3), tmp_path / f"{name}.parquet", {})
    found = CliRunner().invoke(compare_command, [str(tmp_path / f"{name}.parquet") for name in "ab"])
    assert isinstance(found.exception, UsageError)
    assert found.exception.exit_code == 2
