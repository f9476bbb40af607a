"""What NAS FT's table 1 says, and how a run of it is predicted from two."""

import polars as pl
import pytest

from leadline.predict import ft


def test_messages_and_sizes_of_class_d_are_the_papers() -> None:
    """Section 6.1: 1024 messages of 128 KiB and 8192 of 16 KiB."""
    d = ft.CLASSES["D"]
    assert [ft.messages(d, 256, each) for each in ft.PIECES] == [256, 1024, 8192]
    assert [ft.volume(d, 256) // ft.messages(d, 256, each) for each in ft.PIECES[1:]] == [128 << 10, 16 << 10]


def test_overlap_is_table_1s_for_a_cube() -> None:
    """1 - 2/n and 1 - 2 THREADS / n^2."""
    c, ranks = ft.CLASSES["C"], 64
    assert ft.overlap(c, ranks, "exchange") == 0
    assert ft.overlap(c, ranks, "slabs") == pytest.approx(1 - 2 / 512)
    assert ft.overlap(c, ranks, "pencils") == pytest.approx(1 - 2 * ranks / 512**2)


def test_all_iterations_are_made_of_runs_of_one_and_two() -> None:
    """4 s with one and 5 s with two make 9 s with six."""
    rows = [
        {
            "benchmark": "ft",
            "metric": "time",
            "status": "ok",
            "pieces": "slabs",
            "by": "put",
            "iterations": iterations,
            "samples": [3.0 + iterations],
        }
        for iterations in (1, 2)
    ]
    assert ft.totals(pl.DataFrame(rows), ft.CLASSES["S"]) == {("slabs", "put"): 9.0}
