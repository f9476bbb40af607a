"""Series to fit: one metric along message size, with every launch's median at every size.

One series is what a single run measured under one condition: run, source, MPI, stack, protocol, placement,
ranks, and whatever coordinates there are beside the size (buffers, window).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.bootstrap import bounds, drawn_medians
from leadline.analysis.estimates import launch_estimates, series_columns
from leadline.core.record import KEYS, SIMULATED
from leadline.core.units import format_bytes

Array = NDArray[np.float64]

FULL_COVERAGE = 6  # launches from which intervals reach 95 %; n fewer ones reach about 1 - 2^(1 - n)


@dataclass(frozen=True)
class Series:
    """A metric along size: `sizes` (S,) ascending in bytes, `medians` (launches, S) in SI, NaN where not
    measured.
    """

    keys: dict[str, str | int]
    sizes: Array
    medians: Array
    ordinals: tuple[int, ...]  # which launch of the run each row is

    @property
    def typical(self) -> Array:
        """The median over launches at each size: (S,)."""
        return np.asarray(np.nanmedian(self.medians, axis=0), dtype=np.float64)

    @cached_property
    def draws(self) -> Array:
        """`typical` in each draw of launches: (draws, S)."""
        return drawn_medians(self.medians)

    @cached_property
    def launches(self) -> int:
        """How many launches a size has, the one with the fewest: it may decide a parameter."""
        return int(self._counts.min())

    @property
    def _counts(self) -> NDArray[np.int64]:
        return np.asarray(np.isfinite(self.medians).sum(axis=0))

    def interval(self, draws: Array) -> tuple[float | None, float | None]:
        """95 % interval of a parameter from its value in each draw; none from a single launch."""
        return bounds(draws, self.launches)

    def notes(self) -> list[str]:
        """What must be said of the intervals of every fit of this series."""
        if self.launches < 2 and self.keys.get("source") == SIMULATED:
            return ["simulated, without intervals"]
        fewest = self._counts == self.launches
        at = "" if fewest.all() else f" of {format_bytes(round(float(self.sizes[fewest][0])))}"
        if self.launches < 2:
            return [f"one launch{at}: no intervals"]
        if self.launches < FULL_COVERAGE:
            reached = 100 * (1 - 2.0 ** (1 - self.launches))
            return [f"{self.launches} launches{at}: the intervals reach about {reached:.0f} % only"]
        return []


def series(records: pl.DataFrame, benchmark: str, metric: str, fewest: int = 1) -> Iterator[Series]:
    """Every series of `metric` of `benchmark` along `bytes` in `records` with at least `fewest` sizes.

    Values that are not above zero are left out, for relative residuals have no meaning there; but not those
    of a difference of times, which falls below zero in some launches: the rest would be typically too large.
    """
    if "bytes" not in records.columns:
        return
    wanted = (pl.col("benchmark") == benchmark) & (pl.col("metric") == metric) & pl.col("bytes").is_not_null()
    chosen = records.filter(wanted).with_columns(pl.col("launch").fill_null(0))
    table = launch_estimates(chosen)
    if not chosen.get_column("difference").any():
        table = table.filter(pl.col("median") > 0)
    by = [name for name in series_columns(records) if name != "bytes"]
    for part in table.partition_by(by, maintain_order=True):
        sizes, ordinals = (part.get_column(name).unique().sort() for name in ("bytes", "launch"))
        if len(sizes) >= fewest:
            medians = np.full((len(ordinals), len(sizes)), np.nan)
            row, column = ordinals.search_sorted(part["launch"]), sizes.search_sorted(part["bytes"])
            medians[row.to_numpy(), column.to_numpy()] = part["median"].to_numpy()
            known = {
                name: value for name, value in part.select(by).row(0, named=True).items() if value is not None
            }
            yield Series(known, sizes.cast(pl.Float64).to_numpy(), medians, tuple(ordinals))


def pingpong(records: pl.DataFrame, fewest: int = 3) -> Iterator[Series]:
    """Every series of one-way times by size: benchmark `pingpong`, metric `latency`."""
    return series(records, "pingpong", "latency", fewest)


def draw_jointly(parts: list[Series]) -> list[Array]:
    """`typical` of each series in each draw, (draws, S) each, where one draw of launches serves all of
    them.
    """
    ordinals = sorted({ordinal for part in parts for ordinal in part.ordinals})
    draws = []
    for part in parts:
        medians = np.full((len(ordinals), part.sizes.size), np.nan)
        medians[np.searchsorted(ordinals, part.ordinals)] = part.medians
        draws.append(drawn_medians(medians))
    return draws


# What a series of another metric may share with this one when both describe the same way through the machine.
CONDITION = [name for name in KEYS if name not in ("benchmark", "metric")]
