"""Are the launches of a run independent? A machine that drifts gives launches that resemble their neighbours.

Intervals take launches as independent. Where neighbours in time resemble each other, n launches tell as much
as n (1 - r) / (1 + r) independent ones, r the correlation of neighbours (G. V. Bayley and J. M. Hammersley,
J. R. Statist. Soc. Suppl. 8 (1946) 184, for a series whose correlation decays as powers of r). One point's
launches are too few to show r; all points of a run together do. A trend shows as well: its r is near 1.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

ORDERS = 199  # random orders that the found one is held against
CHANCE = 0.01  # of independent launches to be called dependent
VALUES = ("launch", "unit", "better", "median", "samples", "spread")  # of an estimate; the rest is its point
LEAST = 6  # launches of a point; fewer show nothing of their order


class Dependence(NamedTuple):
    """How much launches resemble the launch before."""

    correlation: float
    chance: float  # that independent launches resemble each other so much
    launches: float  # typical number of launches of a point

    @property
    def found(self) -> bool:
        """Whether the launches are not independent."""
        return self.chance <= CHANCE

    @property
    def matters(self) -> bool:
        """Whether intervals are wider for it by what a person would notice, 5 %."""
        return self.inflation > 1.1

    @property
    def says(self) -> str:
        """What a person should know of it, in a sentence; empty where none was found."""
        if not self.matters:
            return ""
        return (
            f"Launches resemble the one before (correlation {self.correlation:.2f}), as on a machine that "
            f"drifts: {self.launches:.0f} of them count as {self.launches / self.inflation:.1f} independent "
            "ones, and intervals are wider for it."
        )

    @property
    def inflation(self) -> float:
        """By how much a mean's variance is larger than of independent launches; 1 where none was found."""
        if not self.found or self.correlation <= 0:
            return 1.0
        r = min(self.correlation, 0.99)
        return min((1 + r) / (1 - r), max(1.0, self.launches / 2))


NONE = Dependence(0.0, 1.0, 0.0)


def dependence(points: Sequence[Mapping[int, float]], seed: int = 1) -> Dependence:
    """The dependence that all points of a run show; each maps launch ordinals to logarithms of medians.

    The launches that points share are put into random orders together, so that points which rise and fall
    together are not taken for evidence of many.
    """
    series = [sorted(point.items()) for point in points if len(point) >= LEAST]
    if not series:
        return NONE
    longest = max(map(len, series))
    values, launches = np.zeros((len(series), longest)), np.zeros((len(series), longest), dtype=np.int64)
    there = np.zeros(values.shape, dtype=bool)
    names = {launch: place for place, launch in enumerate(sorted({k for each in series for k, _ in each}))}
    for row, each in enumerate(series):
        values[row, : len(each)] = _scores([value for _, value in each])
        launches[row, : len(each)] = [names[launch] for launch, _ in each]
        there[row, : len(each)] = True
    found = _neighbours(values, there)
    random = np.random.default_rng(seed)
    as_far = 0
    for _ in range(ORDERS):
        keys = random.random(len(names))[launches]
        order = np.argsort(np.where(there, keys, 2.0), axis=1)  # what is not there stays behind
        as_far += _neighbours(np.take_along_axis(values, order, axis=1), there) >= found - 1e-12
    typical = float(np.median(there.sum(axis=1)))
    # The mean that was taken out of n values makes neighbours differ by about 1 / n.
    return Dependence(found + 1 / typical, (1 + as_far) / (1 + ORDERS), typical)


def of_runs(launches: pl.DataFrame) -> dict[str, Dependence]:
    """The dependence that each run shows, by the run's name; `launches` as `launch_estimates` gives them."""
    by = [name for name in launches.columns if name not in VALUES]
    points = (
        launches.filter(pl.col("median").is_finite() & (pl.col("median") > 0))
        .group_by(by, maintain_order=True)
        .agg(pl.col("launch"), pl.col("median").log())
        .filter(pl.col("launch").list.len() >= LEAST)
    )
    series: dict[str, list[dict[int, float]]] = {}
    for run, ordinals, values in points.select("run", "launch", "median").iter_rows():
        series.setdefault(run, []).append(dict(zip(ordinals, values, strict=True)))
    return {run: dependence(each) for run, each in series.items()}


def _scores(values: Sequence[float]) -> NDArray[np.float64]:
    """Deviations in normal scores of their ranks: a wild launch counts as the largest, no more."""
    from scipy.special import ndtri  # noqa: PLC0415  (0.1 s to import)

    array = np.asarray(values)
    above = np.searchsorted(np.sort(array), array, side="left") + np.searchsorted(
        np.sort(array), array, "right"
    )
    scores = ndtri(above / 2 / array.size * array.size / (array.size + 1) + 0.5 / (array.size + 1))
    centred = scores - scores.mean()
    deviation = float(np.sqrt((centred**2).mean()))
    return np.asarray(centred / deviation if deviation > 0 else centred)


def _neighbours(values: NDArray[np.float64], there: NDArray[np.bool_]) -> float:
    """Correlation of neighbours over all rows."""
    both = there[:, 1:] & there[:, :-1]
    return float((values[:, 1:] * values[:, :-1])[both].sum() / max(1.0, (values**2)[there].sum()))
