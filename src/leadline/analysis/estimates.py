"""What each launch says of each point: one value a launch, the sample that every interval is made of.

Samples within a launch lie close together and launches lie far apart (docstring of
`leadline.core.statistics`), so
a launch counts once, whether it took ten samples or ten thousand.
"""

from collections.abc import Sequence
from typing import TypeVar

import polars as pl

from leadline.core.record import KEYS, OK, SIMULATED, point_columns

Samples = TypeVar("Samples", pl.Expr, pl.Series)


def series_columns(records: pl.DataFrame) -> list[str]:
    """The columns that tell one measured point from another: the keys and the coordinates."""
    return [*KEYS, *point_columns(records)]


def is_exact() -> pl.Expr:
    """Of a row of `launch_estimates`: whether its one sample was simulated without noise, which is the value.

    It has no interval, and needs none.
    """
    return (pl.col("source") == SIMULATED) & (pl.col("samples") == 1)


def _finite(samples: Samples) -> Samples:
    """The samples that are numbers, of a series or within an expression: one rule for both."""
    return samples.filter(samples.is_finite())


def estimate(samples: Sequence[float], warmup: int | None) -> float | None:
    """A launch's value of a point: the median of its samples without the first `warmup`; None without any.

    Stopping and resuming a run, its summary and its comparisons all take this value.
    """
    median = _finite(pl.Series(samples[warmup or 0 :], dtype=pl.Float64)).median()
    return median if isinstance(median, float) else None


def launch_estimates(records: pl.DataFrame) -> pl.DataFrame:
    """One row a point and launch: the median of its samples without the warm-up, in the records' SI unit.

    Columns: keys, coordinates, `launch`, `unit`, `better`, `median`, `samples` (how many) and `spread`, the
    distance between the quartiles within the launch as a share of the median. Points that were not run, and
    launches with nothing but warm-up or values that are not numbers, are left out. A point taken twice in one
    launch counts as one longer take.
    """
    by = [*series_columns(records), "launch"]
    kept = pl.col("samples").list.slice(pl.col("warmup").fill_null(0))
    value = _finite(pl.col("kept"))
    return (
        records.lazy()
        .filter(pl.col("status") == OK)
        .select(*by, "unit", "better", kept=kept)
        .explode("kept")
        .group_by(by, maintain_order=True)
        .agg(
            pl.col("unit", "better").first(),
            median=value.median(),
            samples=value.len(),
            quartiles=value.quantile(0.75, "linear") - value.quantile(0.25, "linear"),
        )
        .filter(pl.col("samples") > 0)
        .with_columns(spread=pl.when(pl.col("median") > 0).then(pl.col("quartiles") / pl.col("median")))
        .drop("quartiles")
        .collect()
    )
