"""The sum of arrays simulated beside its formula, between what must be and what the formula allows."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main

from .test_messages_simulated import made


def predicted(place: Path, ranks: int, **copies: str) -> dict[str, float]:
    """The times of `leadline predict sum3d --simulate` of 420,000 numbers on as many nodes, s, by source."""
    machine = made(place, copies=copies, on_node=1)
    words = ["--on", str(machine.path), "--ranks", str(ranks), "--array", "700x60x10"]
    asked = ["predict", "sum3d", *words, "--placement", "nodes", "--simulate", "--json"]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    return {row["from"]: row["time"] for row in json.loads(done.stdout)}


@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_what_leaves_rank_0_and_the_last_part_back_are_the_least(ranks: int, tmp_path: Path) -> None:
    """Over one link of 1 GB/s each way: parts of two arrays go out, sums come back while later ones leave."""
    times = predicted(tmp_path, ranks)
    part = 8 * 420_000 / ranks / 1e9
    in_turn = 3 * (ranks - 1) * part
    assert times["formula"] == pytest.approx(in_turn, rel=0.02)
    assert (2 * (ranks - 1) + 1) * part <= times["simulated"] <= 1.02 * in_turn


def test_receivers_copy_side_by_side(tmp_path: Path) -> None:
    """Where ranks copy what they receive at 1 GB/s, the formula has rank 0 wait for each of them."""
    times = predicted(tmp_path, 5, receive_copy="1 GB/s")
    part = 8 * 420_000 / 5 / 1e9
    assert times["formula"] == pytest.approx(12 * 2 * part, rel=0.02)
    assert times["simulated"] < 0.8 * times["formula"]


@pytest.mark.parametrize("model", ["ring", "sum3d", "jacobi"])
def test_what_a_run_would_overrule_is_refused(model: str, tmp_path: Path) -> None:
    """A run has its own ranks, and nothing of it is simulated; both options were ignored."""
    words = ["predict", model, "--from", str(tmp_path), "--ranks", "3", "--simulate"]
    (tmp_path / "records.parquet").touch()
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "leave out --ranks and --simulate" in done.output
