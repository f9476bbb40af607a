"""What differs between whole runs, which the launches of one run cannot show; earlier runs of its points can.

The logarithm of a point's value has in each run a deviation of its own (other pages of memory, another
temperature, other users), and that of its launches' median on top. Earlier runs show the variance S^2 of
both together. Few of them know it badly, so each point's is moderated with what all points have in common
(G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004) 3). The interval of a run's value reaches t S to either
side, t the quantile of Student's distribution at the degrees of freedom of the earlier runs alone: all
points share those runs, so that many points do not know better what runs do. It is never narrower than the
interval of the run's own launches. Few runs that differ much, as in two states of a machine, have no such
interval worth the name (three apart by 4.5 would give a factor of 40): beyond a factor of `WILD` it is the
range of all n runs' values, this one's with them, which holds their median with a confidence of 1 - 2^(1-n)
whatever they follow.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import polars as pl

from leadline.analysis.noise import percent
from leadline.analysis.verdict import moderated
from leadline.core.record import SIMULATED
from leadline.core.statistics import CONFIDENCE

WILD = 2.0  # times a value, beyond which an interval by Student's distribution says nothing
LEAST = 3  # earlier runs; two have one degree of freedom, whose interval is 13 standard deviations wide


class History(NamedTuple):
    """What earlier runs show of how much runs differ."""

    runs: int  # the most that any point was measured in
    share: float  # of a run's variance, between runs at least: intervals of few launches are wide; 0 to 1
    spread: float  # median over the points of the standard deviation between runs' values, relative

    @property
    def says(self) -> str:
        """What a person should know of the intervals, in a sentence."""
        return (
            f"{self.runs} earlier runs of these points differ by {percent(self.spread)} (standard "
            f"deviation, median over the points); at least {percent(self.share)} of that variance lies "
            "between runs, not between launches. Intervals of values include it; those of fits do not."
        )


def widened(table: pl.DataFrame, earlier: pl.DataFrame, point: Sequence[str]) -> pl.DataFrame:
    """`table`, a summary, with the intervals of points that `LEAST` earlier runs measured widened by those.

    `earlier` is the summary of the earlier runs, each under a name of its own; `point` names the columns that
    tell points apart. Adds `between`, the standard deviation between runs' values (relative), and
    `earlier_runs`; null and 0 where they are not known. Points without an interval, with values that are not
    above zero, and simulated ones stay as they are. The next launch may be one of another hour: where it will
    lie is not known better than the value.
    """
    from scipy.special import stdtrit  # noqa: PLC0415  (0.1 s to import)

    seen = _spreads(earlier, point)
    quantiles = {
        runs: float(stdtrit(runs - 1, (1 + CONFIDENCE) / 2)) for runs in seen["earlier_runs"].unique()
    }
    reach = (
        pl.col("between")
        * pl.col("earlier_runs").replace_strict(quantiles, default=None, return_dtype=pl.Float64)
    ).exp()
    known = pl.col("between").is_not_null() & (pl.col("value") > 0) & (pl.col("source") != SIMULATED)
    wild = reach > WILD
    least = pl.when(wild).then(pl.min_horizontal("least", "value")).otherwise(pl.col("value") / reach)
    most = pl.when(wild).then(pl.max_horizontal("most", "value")).otherwise(pl.col("value") * reach)
    held = pl.when(wild).then(1 - 0.5 ** pl.col("earlier_runs")).otherwise(CONFIDENCE)
    joined = table.join(seen, on=list(point), how="left", nulls_equal=True, maintain_order="left")
    low, high = pl.min_horizontal("low", least), pl.max_horizontal("high", most)
    return joined.with_columns(
        between=pl.when(known).then(pl.col("between").exp() - 1),
        earlier_runs=pl.when(known).then("earlier_runs").otherwise(0).cast(pl.Int64),
        low=pl.when(known).then(low).otherwise("low"),
        high=pl.when(known).then(high).otherwise("high"),
        next_low=pl.when(known).then(pl.min_horizontal("next_low", low)).otherwise("next_low"),
        next_high=pl.when(known).then(pl.max_horizontal("next_high", high)).otherwise("next_high"),
        confidence=pl.when(known & wild)
        .then(held)
        .when(known)
        .then(pl.max_horizontal("confidence", held))
        .otherwise("confidence"),
    ).drop("least", "most")


def history(earlier: pl.DataFrame, point: Sequence[str]) -> History | None:
    """What the summary of earlier runs shows of all points together; None with fewer than `LEAST` of each."""
    seen = _spreads(earlier, point)
    if seen.is_empty():
        return None
    # Medians: a few disturbed runs have launches so far apart that their mean square would hide the others'.
    of_launches = (
        _with_errors(earlier.filter(pl.col("value") > 0))
        .group_by(list(point))
        .agg((pl.col("error") ** 2).median(), pl.col("value").log().var().alias("total"))
        .filter(pl.col("total") > 0)
        .select((pl.col("error") / pl.col("total")).median())
        .item()
    )
    share = 0.0 if of_launches is None else max(0.0, 1 - of_launches)
    spread = float(np.expm1(seen["between"].median()))  # type: ignore[arg-type]
    return History(int(seen["earlier_runs"].max()), share, spread)  # type: ignore[arg-type]


def run_shifts(earlier: pl.DataFrame, point: Sequence[str]) -> list[float]:
    """How much slower each earlier run is than all of them, as the median over the points that all measured.

    Logarithms; nothing with fewer than `LEAST` runs or without such points.
    """
    runs = earlier.get_column("run").n_unique()
    sign = pl.when(pl.col("better") == "higher").then(-1).otherwise(1)
    logs = (
        earlier.filter((pl.col("value") > 0) & (pl.col("source") != SIMULATED))
        .with_columns(log=sign * pl.col("value").log())
        .filter(pl.col("run").n_unique().over(list(point)) == runs)
        .with_columns(own=pl.col("log") - pl.col("log").mean().over(list(point)))
    )
    if runs < LEAST or logs.is_empty():
        return []
    return logs.group_by("run", maintain_order=True).agg(pl.col("own").median())["own"].to_list()


def _spreads(earlier: pl.DataFrame, point: Sequence[str]) -> pl.DataFrame:
    """Points that `LEAST` runs measured: `between`, the moderated standard deviation of the logarithms of the
    runs' values, and `earlier_runs`.
    """
    seen = (
        earlier.filter((pl.col("value") > 0) & (pl.col("source") != SIMULATED))
        .group_by(list(point), maintain_order=True)
        .agg(
            pl.col("value").log().var().alias("between"),
            pl.len().cast(pl.Int64).alias("earlier_runs"),
            pl.col("value").min().alias("least"),
            pl.col("value").max().alias("most"),
        )
        .filter(pl.col("earlier_runs") >= LEAST)
    )
    if seen.is_empty():
        return seen
    variance, _ = moderated(seen["between"].to_numpy(), seen["earlier_runs"].to_numpy() - 1.0)
    return seen.with_columns(between=pl.Series(np.sqrt(variance)))


def _with_errors(earlier: pl.DataFrame) -> pl.DataFrame:
    """The standard error that each run's launches give the logarithm of its value, from its interval."""
    normal = NormalDist()
    reached = earlier["confidence"].to_list()
    scale = [2 * normal.inv_cdf((1 + each) / 2) if each else None for each in reached]
    usable = (pl.col("low") > 0) & (pl.col("high") > 0)
    return earlier.with_columns(scale=pl.Series(scale, dtype=pl.Float64)).with_columns(
        error=pl.when(usable).then((pl.col("high") / pl.col("low")).log() / pl.col("scale"))
    )
