"""The Jacobi solver simulated beside its formula: the same sweep, and ranks where the machine has places."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from leadline.cli import main


def predicted(*words: str) -> dict[str, dict[str, Any]]:
    """Rows of `leadline predict jacobi --simulate` by their source."""
    done = CliRunner().invoke(main, ["predict", "jacobi", *words, "--simulate", "--json"])
    assert done.exit_code == 0, done.output
    return {row["from"]: row for row in json.loads(done.stdout)}


@pytest.mark.parametrize("edge", [100, 200])
def test_a_rank_alone_is_slowed_down_by_its_own_sides_only(edge: int) -> None:
    """Where memory limits a sweep, 16 B a point; six sides are packed and unpacked at 32 B a point.

    The simulated sweep moved 24 B, and the difference was called communication: 1.62 times as slow.
    """
    rows = predicted("--on", "bgp", "--ranks", "1", "--edge", str(edge))
    assert rows["formula"]["slowdown"] == 1
    assert rows["simulated"]["slowdown"] == pytest.approx(1 + 6 * 32 / 16 / edge, rel=1e-3)


@pytest.mark.parametrize("ranks", [4, 8])
def test_ranks_are_placed_on_a_torus(ranks: int) -> None:
    """On one node, and from node to node along three axes; the order of one axis was asked for."""
    rows = predicted("--on", "bgp", "--ranks", str(ranks), "--edge", "100")
    assert rows["formula"]["slowdown"] < rows["simulated"]["slowdown"] < 1.5 * rows["formula"]["slowdown"]


def test_numbers_that_the_simulator_would_not_take_are_refused() -> None:
    """Its row would be compared with a sweep that is not its own."""
    words = ["predict", "jacobi", "--ranks", "4", "--serial", "1 ms", "--latency", "1 us", "--simulate"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "leave out --serial and --latency" in done.output
