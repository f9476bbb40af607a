"""Are points of another definition named, rather than passed over?"""

from typing import Any

import polars as pl

from leadline.analysis.alignment import FIGURES, other_cadences
from leadline.analysis.compare import COLUMNS, compare
from planted import QUIET, frame_of


def run(cadence: str, sizes: tuple[int, ...]) -> pl.DataFrame:
    """A run of one collective by one cadence."""
    point: dict[str, Any] = {**QUIET, "benchmark": "allreduce", "metric": "mean", "cadence": cadence}
    return frame_of([{**point, "bytes": size, "launch": 0, "samples": [1e-6]} for size in sizes])


def test_points_of_another_cadence_are_named() -> None:
    """Two sizes are on both sides by other definitions; by one definition there is nothing to say."""
    [sentence] = other_cadences(compare(run("back-to-back", (8, 64)), run("osu", (8, 64, 512))))
    assert sentence.startswith("2 points differ in their cadence only (back-to-back in A, osu in B)")
    assert other_cadences(compare(run("osu", (8,)), run("osu", (8, 64)))) == []


def test_figures_are_those_of_a_comparison() -> None:
    """No column of a comparison is taken for a coordinate."""
    assert set(FIGURES) == set(COLUMNS)
