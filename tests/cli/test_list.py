"""`list` shows benchmarks, plans, MPIs and metrics, as tables and as JSON."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.native import registry
from leadline.native.registry import Benchmark, Metric, Sweep
from leadline.plan import files as plan_files

PINGPONG = Benchmark(
    "pingpong",
    "How long does one message take?",
    2,
    2,
    (Sweep("bytes", "B", "bytes", (0, 8), "message size"),),
    (Metric("latency", "s", "lower", "half of one round trip"),),
)


@pytest.fixture(autouse=True)
def one_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry without a compiler."""
    monkeypatch.setattr(registry, "benchmarks", lambda ranks=2: {"pingpong": PINGPONG})


def listed(*words: str) -> str:
    """What `leadline list` prints."""
    result = CliRunner().invoke(main, ["list", *words])
    assert result.exit_code == 0, result.output
    return result.stdout


def listed_json(what: str) -> list[dict[str, Any]]:
    """The objects that `leadline list WHAT --json` prints."""
    rows: list[dict[str, Any]] = json.loads(listed(what, "--json"))
    return rows


def test_benchmarks() -> None:
    """Name, question, sweeps and metrics, with their units."""
    (row,) = listed_json("benchmarks")
    assert (row["name"], row["question"]) == ("pingpong", "How long does one message take?")
    assert [(s["name"], s["unit"], s["default"]) for s in row["sweeps"]] == [("bytes", "B", [0, 8])]
    assert [(m["name"], m["unit"], m["better"]) for m in row["metrics"]] == [("latency", "s", "lower")]
    assert listed("benchmarks").splitlines()[1].split("  ")[0] == "pingpong"


def test_one_benchmark() -> None:
    """Its question, keys with defaults, metrics; another name, or a name of something else, is refused."""
    lines = listed("benchmarks", "pingpong").splitlines()
    assert lines[:2] == ["pingpong: How long does one message take?", "Ranks: 2"]
    assert ["bytes", "0 B, 8 B", "message size"] in [line.split("  ") for line in lines]
    assert any(line.startswith("latency") for line in lines)
    for words in (["benchmarks", "pinpong"], ["plans", "quick"]):
        result = CliRunner().invoke(main, ["list", *words])
        assert result.exit_code == 2
        assert words[-1] in result.output


def test_keys() -> None:
    """Those of every benchmark are explained, others named; one, a benchmark's, or all are reachable."""
    keys = {row["key"]: row["meaning"] for row in listed_json("keys")}
    assert "core-group" in keys["placement"]
    assert keys["bytes"] == "message size"
    brief = listed("keys")
    assert "core-group" in brief
    assert "bytes" in brief
    assert "message size" not in brief
    for name in ("bytes", "pingpong", "all"):
        assert "message size" in listed("keys", name)
    assert "core-group" in listed("keys", "placement")
    assert "core-group" in listed("keys", "all")
    result = CliRunner().invoke(main, ["list", "keys", "placment"])
    assert result.exit_code == 2
    assert "'placement'" in result.output


def test_a_name_of_a_key_and_of_a_benchmark_lists_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key's meaning, and the keys of the benchmark."""
    way = Sweep("way", "1", "choice", ("sendrecv",), "side by side", ("sendrecv",))
    both = replace(PINGPONG, name="bytes", sweeps=(way,))
    monkeypatch.setattr(registry, "benchmarks", lambda ranks=2: {"pingpong": PINGPONG, "bytes": both})
    assert {"message size", "sendrecv: side by side"} <= {
        row["meaning"] for row in json.loads(listed("keys", "bytes", "--json"))
    }


def test_metrics() -> None:
    """One row a metric, with the benchmark that measures it."""
    assert listed_json("metrics") == [
        {
            "benchmark": "pingpong",
            "metric": "latency",
            "unit": "s",
            "better": "lower",
            "difference": False,
            "description": "half of one round trip",
        }
    ]


def test_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shipped plans with their questions; one that is broken is still listed."""
    (tmp_path / "quick.toml").write_text('question = "What does it cost?"\n')
    (tmp_path / "broken.toml").write_text("= 3\n")
    monkeypatch.setattr(plan_files, "shipped", lambda: {p.stem: p for p in sorted(tmp_path.glob("*.toml"))})
    assert [(row["name"], row["question"]) for row in listed_json("plans")] == [
        ("broken", ""),
        ("quick", "What does it cost?"),
    ]


def test_mpis(monkeypatch: pytest.MonkeyPatch) -> None:
    """What discovery tells, as it tells it."""
    row = {"id": "mpich-4.0.2", "library": "MPICH", "version": "4.0.2", "origin": "Debian", "launcher": None}
    monkeypatch.setattr("leadline.mpi.discover.rows", lambda: [row])
    assert listed_json("mpis") == [row]
    assert listed("mpis").splitlines()[1].split() == ["mpich-4.0.2", "MPICH", "4.0.2", "Debian"]


@pytest.mark.parametrize("width", ["80", "100"])
def test_sizes_of_machines_line_up_on_the_right(width: str) -> None:
    """With commas, so that a column shows which machine is larger; a narrow terminal has a line for each."""
    done = CliRunner(env={"COLUMNS": width}).invoke(main, ["list", "machines"])
    lines = [line for line in done.output.splitlines() if not line.startswith(" ")]
    assert {len(line) for line in lines} == {len(lines[0])}
    assert lines[0].endswith("nodes      ranks")
    assert any(line.endswith(" 262,144  1,048,576") for line in lines)
    narrow = CliRunner(env={"COLUMNS": "30"}).invoke(main, ["list", "machines"]).output
    assert "  nodes: 432\n  ranks: 864\n" in narrow
