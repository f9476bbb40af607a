"""`show` prints what the records say: intervals, remarks, reasons; filtered; and exports it."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.core.record import Record
from leadline.run.store import Store, load, provenance

PLAN = "question = 'How long?'\n"


def row(launch: int, size: int, mpi: str = "openmpi-4.1.4", **more: Any) -> Record:
    """A launch of a ping-pong whose latency is 100 to 108 ns in no order, or twice that if larger."""
    value = (100 + 4 * launch % 9) * 1e-9 * (1 if size == 8 else 2)
    return Record.of(
        {
            "source": "measured",
            "benchmark": "pingpong",
            "metric": "latency",
            "unit": "s",
            "better": "lower",
            "mpi": mpi,
            "stack": "default",
            "protocol": "default",
            "placement": "default",
            "ranks": 2,
            "oversubscribed": False,
            "launch": launch,
            "status": "ok",
            "samples": [5.0, value, value, value],
            "warmup": 1,
            "bytes": size,
            **more,
        }
    )


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished run: two sizes on one MPI in nine launches, and a point on another MPI that was skipped."""
    monkeypatch.chdir(tmp_path)
    path = Path("runs") / "monday"
    with Store.create(path, PLAN, {"host": "here"}) as store:
        store.append([row(launch, size) for launch in range(9) for size in (8, 1024)])
        store.append(
            [
                row(
                    0,
                    8,
                    mpi="mpich-4.0.2",
                    metric="",
                    status="skipped",
                    samples=None,
                    unit=None,
                    reason="no tcp",
                )
            ]
        )
        store.finish()
    return path


def show(*words: str) -> str:
    """What `leadline show` prints; it must succeed."""
    result = CliRunner().invoke(main, ["show", *words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_points_with_intervals_and_reasons(run: Path) -> None:
    """Median of 100..108 ns is 104; its interval runs from the 2nd to the 8th of nine (96 %): 101 to 107."""
    lines = show("monday", "-b", "pingpong").splitlines()
    assert "pingpong latency, monday, openmpi-4.1.4, 2 ranks" in lines
    table = {line.split("  ")[0]: line for line in lines}
    assert "0.104 µs [0.101, 0.107]" in table["8 B"]
    assert "0.208 µs [0.202, 0.214]" in table["1 KiB"]
    assert "9" in table["8 B"].split()
    assert any("1 skipped" in line and "no tcp" in line for line in lines)


def test_the_summary_comes_first(run: Path) -> None:
    """One screen: the headline of the MPI that ran, how many points there are, and why one was skipped."""
    lines = show("monday").splitlines()
    assert len(lines) <= 25
    assert any("openmpi-4.1.4" in line and "0.104 µs [0.101, 0.107]" in line for line in lines)
    assert any(line.startswith("2 points measured") and "1 skipped" in line for line in lines)
    assert any("no tcp" in line for line in lines)


def test_skipped_points_are_listed_when_asked(run: Path) -> None:
    """Below their reason, and nothing that was measured."""
    listed = show("monday", "--skipped")
    assert listed.splitlines()[0] == "1 skipped: no tcp"
    assert "µs" not in listed
    assert [row["mpi"] for row in json.loads(show("monday", "--skipped", "--json"))] == ["mpich-4.0.2"]


def test_newest_run_is_the_default(run: Path) -> None:
    """Without a name the run that was begun last."""
    one = ["-b", "pingpong"]
    assert show(*one) == show("monday", *one) == show(str(run), *one)
    assert show(*one) == show(str(run / "records.parquet"), *one)


def test_filters(run: Path) -> None:
    """By benchmark, metric, coordinate with a unit, family of MPI; a key given twice means either."""

    def count(*words: str) -> int:
        return len(json.loads(show("monday", "--json", *words)))

    assert count() == 3
    assert count("--where", "bytes=1 KiB") == 1
    assert count("-w", "bytes=8", "-w", "bytes=1024") == 3
    assert count("-w", "mpi=openmpi") == 2
    assert count("-w", "mpi=openmpi", "-w", "mpi=mpich-4.0.2") == 3
    assert count("--benchmark", "pingpong", "--metric", "latency") == 2
    assert count("-w", "status=skipped") == 1
    assert count("-w", "launch=3") == 2


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("bites=8", "records have no key 'bites'; did you mean 'bytes'?"),
        ("bytes=9", "no record has bytes=9; known are: 8, 1024"),
        ("bytes=8 KB", "unknown unit 'KB'"),
        ("ranks=two", "ranks is a whole number, but got 'two'"),
        ("mpi=opnempi-4.1.4", "no record has mpi=opnempi-4.1.4; did you mean 'openmpi-4.1.4'?"),
        ("bytes", "a condition is KEY=VALUE, as in bytes=8, but got 'bytes'"),
        ("samples=1", "records have no key 'samples'"),
    ],
)
def test_filters_that_fit_nothing(run: Path, condition: str, says: str) -> None:
    """An empty answer would look like a result; the nearest that there is is named instead."""
    result = CliRunner().invoke(main, ["show", "monday", "--where", condition])
    assert result.exit_code == 2
    assert says in result.stderr


def test_csv_and_json_are_in_si_units(run: Path) -> None:
    """All columns of the summary, numbers as they are."""
    rows = list(csv.DictReader(io.StringIO(show("monday", "--csv", "-w", "bytes=8", "-m", "latency"))))
    assert [float(r["value"]) for r in rows] == [pytest.approx(104e-9)]
    objects = json.loads(show("monday", "--json"))
    assert objects[-1]["value"] == pytest.approx(208e-9) or objects[0]["value"] is None
    assert {"benchmark", "bytes", "value", "low", "high", "launches", "disturbed"} <= set(objects[0])


def test_samples_are_all_there(run: Path) -> None:
    """One row a sample with its launch; warm-up is marked, not left out; no rows for what was not run."""
    rows = json.loads(show("monday", "--samples", "--json", "-w", "bytes=8"))
    assert len(rows) == 9 * 4
    assert [r["is_warmup"] for r in rows[:4]] == [True, False, False, False]
    assert [r["value"] for r in rows[:2]] == [5.0, pytest.approx(100e-9)]
    assert [r["sample"] for r in rows[:4]] == [0, 1, 2, 3]
    assert "warm-up" in show("monday", "--samples", "-w", "launch=2")
    assert len(show("monday", "--samples", "--csv").splitlines()) == 1 + 2 * 9 * 4


def test_parquet_is_a_record_file_again(run: Path, tmp_path: Path) -> None:
    """The filtered records with their samples, and the provenance within."""
    assert show("monday", "--parquet", "out.parquet", "-w", "bytes=8") == ""
    assert load(tmp_path / "out.parquet").height == 10
    assert provenance(tmp_path / "out.parquet") == {"host": "here"}
    assert "0.104 µs" in show("out.parquet", "-b", "pingpong")


def test_a_killed_run_is_shown_and_told(run: Path) -> None:
    """What it has, and how to go on."""
    with Store.create(Path("runs/tuesday"), PLAN, {}) as store:
        store.append([row(0, 8)])
    result = CliRunner().invoke(main, ["show", "tuesday", "-b", "pingpong"])
    assert result.exit_code == 0
    assert "one launch, so no interval" in result.stdout
    assert "leadline run --resume runs/tuesday" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["sunday"], 2, "there is no run or record file 'sunday'; did you mean 'monday'?"),
        (["pyproject.toml"], 2, "there is no run or record file 'pyproject.toml'"),
        (["notes.txt"], 2, "notes.txt is no file of records"),
        (["monday", "--parquet", "missing/out.parquet"], 1, "cannot write missing/out.parquet: No such file"),
    ],
)
def test_what_cannot_be_shown(run: Path, words: list[str], code: int, says: str) -> None:
    """One sentence, 2 for what is not there or of another kind, and 1 for what cannot be written."""
    Path("notes.txt").write_text("bytes 8\n")
    result = CliRunner().invoke(main, ["show", *words])
    assert result.exit_code == code
    assert says in result.stderr


def test_no_runs_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newcomer who begins with `show` is told what makes a run."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["show"])
    assert result.exit_code == 2
    assert "there are no runs in runs/ yet; 'leadline run quick' makes one" in result.stderr


@pytest.mark.usefixtures("run")
def test_simulated_points_are_exact(tmp_path: Path) -> None:
    """One value without interval, launches or a remark that they are too few; the network as a column."""
    where: dict[str, Any] = {
        "source": "simulated",
        "mpi": "bgp",
        "stack": "auto",
        "mapping": "XYZT",
        "partition": 512,
    }
    with Store.create(tmp_path / "exact", PLAN, {}) as store:
        store.append(
            [
                row(0, size, samples=[value], warmup=0, transport=network, **where)
                for size, value, network in ((8, 2.5e-6, "loggp"), (1024, 5e-6, "flow"))
            ]
        )
        store.finish()
    lines = show(str(tmp_path / "exact"), "-b", "pingpong").splitlines()
    assert lines[0] == (
        "pingpong latency, exact, simulated, bgp, stack=auto, 2 ranks, mapping=XYZT, partition=512"
    )
    assert [re.split(r"  +", line) for line in lines[1:]] == [
        ["bytes", "simulated", "network"],
        ["8 B", "2.50 µs", "loggp"],
        ["1 KiB", "5.00 µs", "flow"],
    ]


@pytest.mark.usefixtures("run")
def test_a_point_that_was_wrong_is_not_counted_as_measured(tmp_path: Path) -> None:
    """One of its two metrics was wrong: the point is invalid, also where the other metric was disturbed."""
    with Store.create(tmp_path / "wrong", PLAN, {}) as store:
        store.append(
            [row(0, 8, run_delay=1.0), row(0, 8, metric="bandwidth", status="invalid", reason="wrong")]
        )
        store.append([row(0, 1024, run_delay=1.0)])
        store.finish()
    said = show(str(tmp_path / "wrong"))
    assert "1 point measured" in said
    assert "1 invalid" in said
    assert "2 of them noisy" not in said
