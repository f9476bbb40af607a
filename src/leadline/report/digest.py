"""A report's first screen for a terminal: machine, quietness, costs, and what was not run."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from leadline.analysis.counts import count_points, point_names
from leadline.analysis.estimates import launch_estimates
from leadline.analysis.fits import fit_all
from leadline.analysis.summary import said_of_runs, summarise
from leadline.core.json_types import JsonObject
from leadline.core.record import FAILED, INVALID, OK, SKIPPED
from leadline.report.costs import Cost, costs
from leadline.report.page import Findings, Quiet, quietness, subtitles, title


@dataclass(frozen=True)
class Lost:
    """Points that were not measured for one reason: their state, how many, and of which benchmarks."""

    state: str
    reason: str
    points: int
    benchmarks: list[str]


@dataclass(frozen=True)
class Digest:
    """What the first screen says; `counts` are points by state, `disturbed` those with a value in doubt."""

    title: str
    subtitles: list[str]
    quietness: list[Quiet]
    costs: list[Cost]
    counts: dict[str, int]
    disturbed: int
    exact: bool
    lost: list[Lost]
    benchmarks: list[str]


def digest(
    records: pl.DataFrame, provenances: Sequence[JsonObject], earlier: Sequence[pl.DataFrame] = ()
) -> Digest:
    """The digest of runs; fits are made of the ping-pong alone, which the headlines quote."""
    telling = records.filter(pl.col("benchmark") == "pingpong")
    fits = fit_all(telling) if telling.height else []
    launches = launch_estimates(records)
    summary, said = summarise(records, earlier, launches), said_of_runs(records, earlier, launches)
    findings = Findings.of(records, summary, fits, said)
    measured = [row for row in findings.rows if row["status"] == OK]
    point = point_names(records)
    wrong = records.filter(pl.col("status") == INVALID).select(point).unique().rows()
    doubtful = {tuple(row.get(name) for name in point) for row in measured if row["disturbed"]} - set(wrong)
    return Digest(
        title=title(provenances),
        subtitles=subtitles(findings, provenances),
        quietness=quietness(findings),
        costs=costs(measured, findings.fits, findings.names),
        counts=count_points(records),
        disturbed=len(doubtful),
        exact=bool(measured) and all(row.get("exact") for row in measured),
        lost=lost(records),
        benchmarks=findings.benchmarks(),
    )


def lost(records: pl.DataFrame) -> list[Lost]:
    """Points that have no value, by reason: failures first, then the commonest; the newest reason counts."""
    names = point_names(records)
    order = {INVALID: 0, FAILED: 1, SKIPPED: 2}
    points = (
        records.group_by(names, maintain_order=True)
        .agg(
            pl.col("status").is_in([OK]).any().alias("ran"),
            pl.col("status").is_in([INVALID]).any().alias("wrong"),
            pl.col("status").filter(pl.col("status") != OK).last(),
            pl.col("reason").filter(pl.col("status") != OK).last(),
        )
        .filter(~pl.col("ran") | pl.col("wrong"))
    )
    grouped = points.group_by("status", "reason", maintain_order=True).agg(
        pl.len().alias("points"), pl.col("benchmark").unique(maintain_order=True)
    )
    rows = [
        Lost(state, reason or "no reason was recorded", count, named)
        for state, reason, count, named in grouped.select(
            "status", "reason", "points", "benchmark"
        ).iter_rows()
    ]
    return sorted(rows, key=lambda each: (order.get(each.state, 3), -each.points))
