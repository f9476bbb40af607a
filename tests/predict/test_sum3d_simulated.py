"""The sum of arrays simulated beside its formula, between what must be and what the formula allows."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main

MADE_UP = """
title = "Eight nodes"
[topology]
kind = "fat-tree"
arity = {{ value = [8], source = "made up" }}
[links]
source = "made up"
rate = "1 GB/s"
hop = "0 ns"
base = "2 us"
[node]
source = "made up"
cores = 1
ranks = 1
[[protocol]]
name = "eager"
source = "made up"
send_overhead = "0 us"
receive_overhead = "0 us"
{more}
"""


def predicted(place: Path, *words: str, more: str = "") -> dict[str, float]:
    """The times of `leadline predict sum3d --simulate`, s, by their source."""
    file = place / "made.toml"
    file.write_text(MADE_UP.format(more=more))
    done = CliRunner().invoke(main, ["predict", "sum3d", "--on", str(file), *words, "--simulate", "--json"])
    assert done.exit_code == 0, done.output
    return {row["from"]: row["time"] for row in json.loads(done.stdout)}


@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_what_leaves_rank_0_and_the_last_part_back_are_the_least(ranks: int, tmp_path: Path) -> None:
    """Over one link of 1 GB/s each way: parts of two arrays go out, sums come back while later ones leave."""
    times = predicted(tmp_path, "--ranks", str(ranks), "--array", "700x60x10")
    part = 8 * 420_000 / ranks / 1e9
    in_turn = 3 * (ranks - 1) * part
    assert times["formula"] == pytest.approx(in_turn, rel=0.02)
    assert (2 * (ranks - 1) + 1) * part <= times["simulated"] <= 1.02 * in_turn


def test_receivers_copy_side_by_side(tmp_path: Path) -> None:
    """Where ranks copy what they receive at 1 GB/s, the formula has rank 0 wait for each of them."""
    times = predicted(tmp_path, "--ranks", "5", "--array", "700x60x10", more='receive_copy = "1 GB/s"')
    part = 8 * 420_000 / 5 / 1e9
    assert times["formula"] == pytest.approx(12 * 2 * part, rel=0.02)
    assert times["simulated"] < 0.8 * times["formula"]
