"""Comparisons on a machine that has two states, each of which lasts for minutes."""

import polars as pl

from analysis.test_compare import SIZES, launches, verdicts
from leadline.analysis.compare import study
from leadline.analysis.noise import find_jump
from leadline.core import record


def test_a_verdict_never_contradicts_its_change() -> None:
    """Earlier runs differ by a factor of four, so that common changes are days: both points are faster, one
    by 70 % and one by 78 %, and the first is no regression for that.
    """
    sizes = [8, 64]
    a = launches(1, spread=0.003)
    a = a.filter(pl.col("bytes").is_in(sizes))
    b = launches(2, spread=0.003, factor=[0.30 if size == 8 else 0.22 for size in SIZES])
    b = b.filter(pl.col("bytes").is_in(sizes))
    earlier = [launches(10 + k, spread=0.003, factor=4.0 ** (k % 2)) for k in range(5)]
    for one, other, wrong in ((a, b, "regression"), (b, a, "improvement")):
        found = verdicts(study(one, other, earlier=earlier).table)
        assert wrong not in found.values()
    # What differs from run to run by so much differs from point to point as well.
    assert set(found.values()) <= {"suspected regression", "undecided"}


def test_a_point_that_met_one_of_two_states_is_suspected_only() -> None:
    """Of ten points nine had launches in both states, 3 times apart; the tenth was measured in one only."""
    a = launches(1, spread=0.003)
    slow = launches(1, spread=0.003, factor=3.0)
    other = (pl.col("bytes") != 8) & (pl.col("launch") >= 5)
    mixed = record.concat([a.filter(~other), slow.filter(other)])
    b = launches(2, spread=0.003, factor=2.5)
    table = study(mixed, b).table.filter(pl.col("bytes") == 8)
    assert table["verdict"].to_list() == ["suspected regression"]
    assert "launches of A fall into two groups at 9 of 10 values" in table["reason"][0]
    steady = study(a, launches(2, spread=0.003, factor=2.5)).table.filter(pl.col("bytes") == 8)
    assert steady["verdict"].to_list() == ["regression"]


def test_groups_that_last_are_told_from_those_that_alternate() -> None:
    """A block of slow launches in the middle: something began and ended."""
    block = find_jump([1.0, 1.01] * 5 + [4.0, 4.1] * 4 + [1.0, 1.01] * 5)
    assert block is not None
    assert (block.changes, block.in_time) == (2, True)
    turns = find_jump([1.0, 4.0, 1.01, 4.1] * 4)
    assert turns is not None
    assert (turns.changes, turns.in_time) == (15, False)
