"""`import` makes a run of other suites' output; what it cannot read it refuses and makes nothing."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.run.store import load, provenance

TEXT = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n0   0.25\n8   0.26\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with one result in it."""
    monkeypatch.chdir(tmp_path)
    Path("latency.out").write_text(TEXT)


def test_a_file_becomes_a_run() -> None:
    """In runs/, named after the suite and the file; what was said of it is in records and provenance."""
    result = CliRunner().invoke(
        main,
        ["import", "osu", "latency.out", "--mpi", "openmpi-4.1.4", "--placement", "nodes", "--at", "rails=2"],
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("runs/osu-latency: 2 points imported, 2 records")
    records = load(Path("runs/osu-latency"))
    assert records.select("run", "mpi", "placement", "rails", "ranks").unique().rows() == [
        ("osu-latency", "openmpi-4.1.4", "nodes", 2, 2)
    ]
    assert provenance(Path("runs/osu-latency"))["given"] == {
        "mpi": "openmpi-4.1.4",
        "placement": "nodes",
        "rails": 2,
    }


def test_it_can_be_shown_at_once() -> None:
    """From the standard input to a table."""
    result = CliRunner().invoke(main, ["import", "osu", "-", "-o", "old"], input=TEXT)
    assert result.exit_code == 0, result.output
    rows = json.loads(CliRunner().invoke(main, ["show", "old", "--json"]).stdout)
    assert [(row["bytes"], row["value"]) for row in rows] == [(0, 0.25e-6), (8, 0.26e-6)]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["osu", "missing.out"], 2, "cannot read missing.out: No such file or directory"),
        (["osu", "."], 2, "cannot read .: Is a directory"),
        (["imb", "latency.out"], 2, "latency.out:1: this is no output of the Intel MPI Benchmarks"),
        (["osu"], 2, "Missing argument"),
        (["netpipe", "latency.out"], 2, "'netpipe'"),
        (
            ["osu", "latency.out", "--at", "window"],
            2,
            "--at takes KEY=VALUE, as in window=32, but got 'window'",
        ),
    ],
)
def test_what_cannot_be_imported(words: list[str], code: int, says: str) -> None:
    """One sentence, and no run is left behind."""
    result = CliRunner().invoke(main, ["import", *words])
    assert result.exit_code == code
    assert says in result.stderr
    assert not Path("runs").exists()


def test_a_run_is_not_overwritten() -> None:
    """A second import of the same name is refused."""
    assert CliRunner().invoke(main, ["import", "osu", "latency.out"]).exit_code == 0
    result = CliRunner().invoke(main, ["import", "osu", "latency.out"])
    assert result.exit_code == 2
    assert "--resume runs/osu-latency" in result.stderr
