"""Do intervals follow from all points of both runs, whichever are chosen, and is one run told from two?"""

import json
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from analysis.test_compare import launches
from leadline.analysis.compare import study
from leadline.cli.compare import command
from leadline.core.errors import UsageError
from leadline.core.record import concat
from leadline.run import store


def test_the_interval_of_a_point_is_the_same_whichever_are_chosen() -> None:
    """What launches and days do follows from all points; the correction is for as many as were chosen."""
    whole = study(launches(1), launches(2, factor=1.1))
    one = study(launches(1), launches(2, factor=1.1), where=["bytes=64 B"])
    assert one.table.height == 1
    assert {side.get_column("bytes").unique().item() for side in one.sides} == {64}
    known = ("a_low", "a_high", "b_low", "b_high", "ratio", "low", "high")
    same = whole.table.filter(pl.col("bytes") == 64)
    assert one.table.select(known).equals(same.select(known))
    assert one.common == whole.common
    assert one.table["detectable"].item() < same["detectable"].item()


def test_the_verb_chooses_points_and_launches(tmp_path: Path) -> None:
    """A condition on a key of points chooses rows; any other, such as on launches, chooses records."""
    for name, seed in (("a", 1), ("b", 2)):
        store.write_parquet(launches(seed), tmp_path / f"{name}.parquet", {})

    def found(*where: str) -> dict[int, dict[str, object]]:
        words = [*(str(tmp_path / f"{name}.parquet") for name in "ab"), "--json", *where]
        return {row["bytes"]: row for row in json.loads(CliRunner().invoke(command, words).output)}

    one = found("--where", "bytes=64")
    assert one.keys() == {64}
    assert one[64]["high"] == found()[64]["high"]
    words = [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"), "--where", "launch=1"]
    result = CliRunner().invoke(command, words)
    assert "1 against 1" in str(result.exception)


def test_a_run_that_is_compared_with_itself_is_told(tmp_path: Path) -> None:
    """All of a side, or a run of several."""
    for name in "abc":
        store.write_parquet(launches(ord(name)), tmp_path / f"{name}.parquet", {})
    a, b, c = (str(tmp_path / f"{name}.parquet") for name in "abc")

    def said(*runs: str) -> str:
        return " ".join(CliRunner().invoke(command, runs).output.split())

    same, shared = "A and B are the same: nothing can have changed.", "a.parquet is on both sides, so A and B"
    assert same in said(a, a)
    assert "the same:" not in said(a, b)
    assert shared in said(a, b, "vs", a, c)
    assert "on both sides, so" not in said(a, "vs", b, c)


def test_a_benchmark_without_the_points_asked_for_is_refused(tmp_path: Path) -> None:
    """Both are there, but not together: one sentence, and not one on each key."""
    other = launches(2, benchmark="barrier", metric="time").filter(pl.col("bytes") == 1)
    store.write_parquet(concat([launches(1), other]), tmp_path / "a.parquet", {})
    words = [str(tmp_path / "a.parquet")] * 2 + ["-b", "barrier", "--where", "bytes=64"]
    found = CliRunner().invoke(command, words)
    assert isinstance(found.exception, UsageError)
    assert str(found.exception) == "A and B: no record fits all of --benchmark and --where"
