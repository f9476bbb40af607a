"""A point is counted alike by the end of a run, `show`, `compare` and the report: once for all metrics."""

from pathlib import Path

import click
import polars as pl
import pytest
from click.testing import CliRunner

import planted
from leadline.analysis.counts import count_points
from leadline.cli import main
from leadline.cli.run import _conclude, command
from leadline.core.record import FAILED, INVALID, SKIPPED, Record, concat
from leadline.report import _findings
from leadline.report.page import compose
from leadline.run.store import Store, load


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two points with two metrics each; one that failed, one that is invalid and one that was skipped."""
    monkeypatch.chdir(tmp_path)
    path = Path("runs") / "two"
    with Store.create(path, "", {}) as store:
        for metric, unit in (("latency", "s"), ("bandwidth", "B/s")):
            store.append(planted.records([[1.0, 2.0]] * 6, [8, 1024], metric=metric, unit=unit, run=None))
        lost = [(16, FAILED), (32, INVALID), (64, SKIPPED)]
        rows = [planted.failed(size, 0, "why", state, run=None) for size, state in lost]
        store.append(map(Record.of, rows))
        store.finish()
    return path


def test_every_command_counts_alike(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two measured, one failed, one invalid, one skipped; the comparison has what both sides asked for."""
    with click.Context(command).scope(), pytest.raises(click.exceptions.Exit):
        _conclude(load(run), run, ())
    assert "2 points measured in 6 launches, 1 skipped, 1 failed, 1 invalid" in capsys.readouterr().out

    shown = CliRunner().invoke(main, ["show", str(run)]).output
    assert "2 points measured, 1 invalid, 1 failed, 1 skipped." in shown

    counts = {each.name: each.value for each in compose(_findings(load(run)), [{}]).counts}
    assert [counts[name] for name in ("points measured", "failed", "invalid", "skipped")] == [*"2111"]

    compared = CliRunner().invoke(main, ["compare", str(run), str(run)]).output
    assert "2 points with 4 values" in compared


def test_a_point_counts_once() -> None:
    """Whatever the number of its metrics and launches; its state is the best that a launch had."""
    once = planted.table([[1e-6] * 10] * 6, [2**k for k in range(10)])
    both = concat([once, once.with_columns(metric=pl.lit("bandwidth"))])
    assert count_points(both) == {"invalid": 0, "ok": 10, "failed": 0, "skipped": 0}
    lost = both.with_columns(
        status=pl.when((pl.col("launch") == 0) | (pl.col("bytes") == 8))
        .then(pl.lit("failed"))
        .otherwise("status")
    )
    assert count_points(lost) == {"invalid": 0, "ok": 9, "failed": 1, "skipped": 0}
