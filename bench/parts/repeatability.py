"""Do whole runs give the same answers, and do their intervals say how far apart they may lie?

Takes the runs named (`bench.py RUN...`), or makes BENCH_RUNS new ones with `plans/quick.toml` (10 for the
whole claim; each takes up to three minutes).
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import polars as pl

from found import Found, at_least, at_most
from leadline.analysis import summary
from leadline.analysis.history import LEAST
from leadline.core import record
from leadline.core.errors import LeadlineError
from leadline.core.paths import state_dir
from leadline.core.statistics import median_interval
from leadline.run import store

LEADLINE = Path(sys.executable).with_name("leadline")
PLAN = Path(__file__).parents[2] / "plans" / "quick.toml"
RUNS = int(os.environ.get("BENCH_RUNS", "3"))
HEADLINE = {"benchmark": "pingpong", "bytes": 8, "buffers": "reused"}


def measure(runs: Sequence[Path] = ()) -> Iterator[Found]:
    """A row for the headline of each series, one for all intervals; LeadlineError for fewer than two runs."""
    named = _tables(runs or _new_runs())
    points = beside_all(named)
    for _, series in points.filter(**HEADLINE).group_by(_series(points), maintain_order=True):
        yield _headline(series)
    yield _intervals(points)
    if len(named) > LEAST:
        yield _intervals_after_earlier_runs(named, points)


def _new_runs() -> list[Path]:
    """Runs of the quick plan, one after the other; they stay, to be looked at."""
    place = state_dir() / "bench" / f"{datetime.now():%Y%m%d-%H%M%S}"
    paths = [place / f"quick-{number}" for number in range(1, RUNS + 1)]
    for path in paths:
        print(f"{path}", file=sys.stderr, flush=True)
        # Points that failed make the exit code 1; those that were measured count all the same.
        subprocess.run([LEADLINE, "run", PLAN, "-o", path], check=False, stdout=subprocess.DEVNULL)
    return paths


def _tables(runs: Sequence[Path]) -> list[pl.DataFrame]:
    """The records of each run, in the order in which they began; LeadlineError for fewer than two."""
    if len(runs) < 2:
        raise LeadlineError(f"repeatability needs two runs or more, but got {len(runs)}")
    dated = sorted(runs, key=lambda path: str(store.provenance(path).get("date", "")))
    # Two runs may have one name in different places.
    return [store.load(path).with_columns(run=pl.lit(str(path))) for path in dated]


def beside_all(runs: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The summary of each run with `overall`, the median over runs of a point's value; points of all runs."""
    table = summary.summarise(record.concat(runs)).filter(pl.col("low").is_not_null())
    point = _point(table)
    return table.with_columns(
        overall=pl.col("value").median().over(point), runs=pl.col("run").n_unique().over(point)
    ).filter(pl.col("runs") == len(runs))


def _point(table: pl.DataFrame) -> list[str]:
    """The columns of a summary that tell one point from another."""
    return [name for name in table.columns if name not in {"run", *summary.COLUMNS}]


def _series(points: pl.DataFrame) -> list[str]:
    """What tells one headline from another: everything but its run."""
    return [name for name in points.columns if name in record.KEYS and name != "run"]


def _headline(series: pl.DataFrame) -> Found:
    """How far the farthest run lies from the median of all."""
    first = series.row(0, named=True)
    apart = (series["value"] / series["overall"] - 1).abs()
    where = " ".join(first[name] for name in ("mpi", "placement", "stack") if first[name] != "default")
    return Found(
        f"8 B latency, farthest run from the median of {series.height}, {where}",
        100 * float(apart.max()),  # type: ignore[arg-type]
        "%",
        None,
        "at most 5 %",
        at_most(5.0),
        f"median {1e9 * first['overall']:.0f} ns; disturbed in {series['disturbed'].sum()} runs",
    )


def _intervals_after_earlier_runs(runs: Sequence[pl.DataFrame], points: pl.DataFrame) -> Found:
    """The same of each run after the first `LEAST`, whose intervals include what the runs before it show."""
    every = points.select(*_point(points.drop("overall", "runs")), "overall").unique()
    after = [summary.summarise(runs[k], runs[:k]) for k in range(LEAST, len(runs))]
    judged = pl.concat(after, how="diagonal").join(
        every, on=[name for name in every.columns if name != "overall"], nulls_equal=True
    )
    shown = summary.history_of(runs[-1], runs[:-1])
    found = _intervals(judged.filter(pl.col("low").is_not_null()))
    what = found.what.replace("intervals", "intervals that include earlier runs,", 1)
    return replace(found, what=what, note=f"{found.note}; {shown.says if shown else 'no history'}")


def _intervals(points: pl.DataFrame) -> Found:
    """How many of the intervals that the runs print hold the median of all; the interval is over runs."""
    holds = points.with_columns(holds=pl.col("overall").is_between("low", "high").cast(pl.Float64) * 100)
    each = holds.group_by("run").agg(pl.col("holds").mean())["holds"]
    return Found(
        f"intervals that hold the median of {each.len()} runs",
        float(holds["holds"].mean()),  # type: ignore[arg-type]
        "%",
        median_interval(each.to_list()),
        "at least 90 %",
        at_least(90.0),
        f"{points.height} intervals",
    )
