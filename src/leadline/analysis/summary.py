"""What the records say of each point: its typical value, how sure that is, and what to expect of the next
launch.

The value of a point is the median over launches of each launch's median. Its interval, and the one in which
the next launch lies, come from ranks alone (`leadline.core.statistics`); each tells the confidence it really
reaches.
"""

from collections.abc import Sequence

import polars as pl

from leadline.analysis import history
from leadline.analysis.dependence import of_runs
from leadline.analysis.estimates import is_exact, launch_estimates, series_columns
from leadline.analysis.noise import (
    JUMP_LAUNCHES,
    MANY,
    MEANINGLESS,
    SIGNS,
    WILD,
    describe,
    factor,
    groups,
    percent,
    with_signs,
)
from leadline.core.record import FAILED, INVALID, MEASURED, OK, SKIPPED, concat
from leadline.core.statistics import median_rank, next_ranks

# Columns of a summary after the keys and the coordinates.
COLUMNS: dict[str, str] = {
    "unit": "SI unit of the numbers",
    "better": "lower or higher",
    "status": "ok, skipped, failed or invalid",
    "reason": "why it was not run or is invalid, or in how many launches it failed",
    "value": "median over launches of each launch's median",
    "low": "lower end of its interval, wider where launches depend on each other; null with one",
    "high": "upper end of it",
    "confidence": "what that interval really reaches, 0 to 1",
    "between": "relative standard deviation of earlier runs' values, which the interval includes, or null",
    "earlier_runs": "how many earlier runs that is from; 0: the interval is of this run's launches alone",
    "next_low": "lower end of the interval in which the next launch's median lies; null with one launch",
    "next_high": "upper end of it",
    "next_confidence": "what that interval really reaches, 0 to 1: (n - 1) / (n + 1) under 39 launches",
    "launches": "how many launches",
    "samples": "how many samples in all of them, without the warm-up",
    "exact": "whether it was simulated without noise: another launch would give the same",
    "tolerance_met": "whether tightness, not time, ended the sampling in every launch; null where not known, "
    "and of exact values",
    "transport": "what the library says that it used",
    "oversubscribed": "more ranks than cores",
    "disturbed": "whether others on the machine may have moved the value",
    "meaningless": "whether they left the interval so wide that it means nothing",
    "disturbance": "what was seen of other work, or null",
    "clock_error": "how far the ranks' common clock was wrong at most, s; null where none was used",
    "late": "share of the samples for which some rank started late, mean of the launches; null as above",
    "late_at": "the most that a rank started late, s; null as above",
}


# A virtual machine was 3.4 times slower a minute later, outside of every interval.
ALONE = (
    "Intervals are of the launches of this run alone: at another hour the machine may differ by more. "
    "Three earlier runs of the plan beside it would show by how much."
)


def summarise(
    records: pl.DataFrame, earlier: Sequence[pl.DataFrame] = (), launches: pl.DataFrame | None = None
) -> pl.DataFrame:
    """One row a point: the keys, the coordinates, and `COLUMNS`; sorted by keys, then coordinates.

    `earlier` are the records of earlier runs: where they measured a point three times or more, its interval
    includes what differs between runs (`leadline.analysis.history`). `launches` are the records'
    `launch_estimates`, where these are known.

    A point is `disturbed` when a quarter of its launches or more show a sign of others
    (`leadline.analysis.noise.SIGNS`), for so many reach the ends of the interval. It is `meaningless` (and
    disturbed) when any launch shows one and the interval reaches further than 25 % of the value to a side,
    which quiet launches do not give; and in any case where it reaches beyond four times the value.
    A point that ran in some launches and failed in others is ok, and
    `reason` says so; one that never ran is a row without numbers, and so is one that was wrong in any launch.
    """
    by = series_columns(records)
    measured = intervals(launch_estimates(records) if launches is None else launches, by).join(
        _circumstances(records, by), on=by, nulls_equal=True
    )
    table = pl.concat(
        [_with_failures(measured, records, by), _never_ran(measured, records, by)], how="diagonal"
    )
    point = [name for name in by if name != "run"]
    table = history.widened(table, _of_each(earlier, table, point), point)
    return _with_disturbance(table).select(*by, *COLUMNS).sort(by, nulls_last=False, maintain_order=True)


def history_of(records: pl.DataFrame, earlier: Sequence[pl.DataFrame]) -> history.History | None:
    """What earlier runs show of how much runs of the points in `records` differ; None with too few."""
    seen, point = _seen(records, earlier)
    return history.history(seen, point)


def said_of_runs(
    records: pl.DataFrame, earlier: Sequence[pl.DataFrame], launches: pl.DataFrame | None = None
) -> str:
    """What is known of how much runs differ, and whether this one met two states; empty where nothing was
    measured.
    """
    if not (records["source"] == MEASURED).any():
        return ""
    known = history_of(records, earlier)
    met = groups(launch_estimates(records) if launches is None else launches)
    states = (
        f" At {met.jumps} of {met.points} values launches fall into two groups, {factor(met.factor)} times "
        "apart: a point with few launches may have met one of them only."
    )
    return (known.says if known else ALONE) + (states if met.many else "")


def run_shifts(records: pl.DataFrame, earlier: Sequence[pl.DataFrame]) -> list[float]:
    """How much slower each earlier run is as a whole, at the points in `records` (`history.run_shifts`)."""
    return history.run_shifts(*_seen(records, earlier)) if earlier else []


def _seen(records: pl.DataFrame, earlier: Sequence[pl.DataFrame]) -> tuple[pl.DataFrame, list[str]]:
    """The summary of earlier runs at the points in `records`, and the columns that tell points apart."""
    point = [name for name in series_columns(records) if name != "run"]
    there = records.filter(pl.col("status") == OK).select(point).unique()
    seen = _of_each(earlier, there, point)
    return seen.join(there, on=point, how="semi", nulls_equal=True), point


def _of_each(earlier: Sequence[pl.DataFrame], table: pl.DataFrame, point: list[str]) -> pl.DataFrame:
    """Value and interval of each point in each earlier run, told apart where several have one name.

    Coordinates are those of `table`: points of others, or with words where `table` has numbers, are left out.
    """
    named = concat(
        each.with_columns(run=pl.format("{} {}", pl.lit(number), "run"))
        for number, each in enumerate(earlier)
    )
    launches = launch_estimates(named)
    known = set(point) | {"run"}
    other = [name for name in series_columns(named) if name not in known]
    launches = launches.filter(pl.all_horizontal(pl.lit(True), *(pl.col(name).is_null() for name in other)))
    for name in point:
        wanted = table.schema[name]
        if name not in launches.columns:
            launches = launches.with_columns(pl.lit(None, dtype=wanted).alias(name))
        elif launches.schema[name] != wanted:
            launches = launches.filter(pl.col(name).is_null()).with_columns(pl.col(name).cast(wanted))
    return intervals(launches.drop(other), ["run", *point])


def intervals(launches: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Value, intervals and counts of each point of `launch_estimates`; the columns `by` tell points apart."""
    inflation = {run: each.inflation for run, each in of_runs(launches).items()}
    points = (
        launches.group_by(by, maintain_order=True)
        .agg(
            pl.col("unit", "better").first(),
            pl.col("median").sort().alias("medians"),
            pl.col("samples").sum().cast(pl.Int64),
            pl.len().cast(pl.Int64).alias("launches"),
            is_exact().all().alias("exact"),
        )
        .with_columns(inflation=pl.col("run").replace_strict(inflation, default=1.0, return_dtype=pl.Float64))
    )
    medians, several = pl.col("medians").list, pl.col("launches") > 1
    return (
        points.join(_ranks(points.select("launches", "inflation").unique()), on=["launches", "inflation"])
        .with_columns(
            value=medians.median(),
            low=pl.when(several).then(medians.get(pl.col("rank") - 1)),
            high=pl.when(several).then(medians.get(pl.col("launches") - pl.col("rank"))),
            confidence=pl.when(several).then("confidence"),
            next_low=pl.when(several).then(medians.get(pl.col("next_first") - 1)),
            next_high=pl.when(several).then(medians.get(pl.col("next_last") - 1)),
            next_confidence=pl.when(several).then("next_confidence"),
        )
        .drop("medians", "rank", "next_first", "next_last", "inflation")
    )


def _ranks(counts: pl.DataFrame) -> pl.DataFrame:
    """Which order statistics bound the intervals, for each number of launches and their `inflation`."""
    schema = {"launches": pl.Int64, "inflation": pl.Float64, "rank": pl.Int64, "confidence": pl.Float64}
    schema |= {"next_first": pl.Int64, "next_last": pl.Int64, "next_confidence": pl.Float64}
    rows = [
        (count, inflation, *median_rank(count, inflation=inflation), *next_ranks(count))
        for count, inflation in counts.iter_rows()
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _circumstances(records: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Of each point that ran: how sampling ended, what carried it, and the largest figure of each sign of
    noise.
    """
    signs = [f"sign_{sign.name}" for sign in SIGNS]
    return (
        with_signs(records.filter(pl.col("status") == OK))
        .group_by(by)
        .agg(
            pl.when(~(pl.col("stopped_by") == "exact").any())
            .then((pl.col("stopped_by") == "tolerance").all(ignore_nulls=False))
            .alias("tolerance_met"),
            pl.col("transport").drop_nulls().unique(maintain_order=True).str.join("; "),
            pl.col("oversubscribed").any(),
            pl.col("disturbed").mean().alias("disturbed_share"),
            pl.col(*signs).max(),
            pl.col("clock_error", "late_at").max(),
            pl.col("late").mean(),
        )
        .with_columns(pl.when(pl.col("transport") != "").then("transport"))
    )


def _not_run(records: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """The points of `by` that were skipped, failed or wrong in some launch: in how many, and the first
    reason given.
    """
    status = pl.col("status")
    # The records of an invalid point's metrics are not its only ones: one without a metric says why.
    return (
        records.filter((status != OK) & ((status != INVALID) | (pl.col("metric") == "")))
        .group_by(by, maintain_order=True)
        .agg(
            pl.col("unit", "better").first(),
            pl.when((status == INVALID).any())
            .then(pl.lit(INVALID))
            .when((status == FAILED).any())
            .then(pl.lit(FAILED))
            .otherwise(pl.lit(SKIPPED))
            .alias("status"),
            pl.col("reason").drop_nulls().first(),
            pl.len().cast(pl.Int64).alias("times"),
        )
    )


def _with_failures(measured: pl.DataFrame, records: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """`measured` with status ok, and in `reason` how many launches failed at the point, if any did.

    A failed point has no metric, so it is matched on everything else.
    """
    point = [name for name in by if name != "metric"]
    failures = _not_run(records, point).drop("unit", "better")
    said = pl.format(
        "{} in {} of {} launches: {}", "status", "times", pl.col("launches") + pl.col("times"), "reason"
    )
    return (
        measured.join(failures, on=point, how="left", nulls_equal=True)
        .with_columns(reason=pl.when(pl.col("times") > 0).then(said), status=pl.lit(OK))
        .drop("times")
    )


def _never_ran(measured: pl.DataFrame, records: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """The points that ran in no launch, without numbers."""
    point = [name for name in by if name != "metric"]
    lost = _not_run(records, by).join(measured, on=point, how="anti", nulls_equal=True)
    zero = pl.lit(0, dtype=pl.Int64)
    return lost.drop("times").with_columns(launches=zero, samples=zero)


def _with_disturbance(table: pl.DataFrame) -> pl.DataFrame:
    """`table` with the marks `disturbed` and `meaningless` and the text that says why."""
    value = pl.col("value").abs()
    share = pl.col("disturbed_share").fill_null(0.0)
    reach = pl.max_horizontal("below", "above")
    wide = (share > 0) & (reach > MEANINGLESS)
    wild = (pl.col("launches") >= JUMP_LAUNCHES) & (reach > WILD)
    marked = (
        table.with_columns(
            below=(pl.col("value") - pl.col("low")) / value,
            above=(pl.col("high") - pl.col("value")) / value,
            share=share,
        ).with_columns(meaningless=(wide | wild).fill_null(False))
    ).with_columns(disturbed=(share >= MANY) | pl.col("meaningless"))
    names = [f"sign_{sign.name}" for sign in SIGNS]
    texts = [
        _disturbance(row) if row["disturbed"] else None
        for row in marked.select(
            "disturbed", "meaningless", "below", "above", "share", "launches", "earlier_runs", *names
        ).iter_rows(named=True)
    ]
    return marked.with_columns(pl.Series("disturbance", texts, dtype=pl.String))


def _disturbance(row: dict[str, float | None]) -> str:
    """What disturbed the point of `row`, in how many of its launches, and whether its interval still means
    anything.
    """
    share = row["share"] or 0.0
    told = describe({sign.name: row[f"sign_{sign.name}"] for sign in SIGNS})
    said = [f"other work in {percent(share)} of its launches: {told}"] if share else []
    if row["meaningless"]:
        below, above = row["below"] or 0.0, row["above"] or 0.0
        end = f"{percent(above)} above it" if above <= 1 else f"{1 + above:,.0f} times it"
        start = f"from {percent(below)} below the value" if below <= 1 else "from beyond zero"
        reach = f"the interval is too wide to use, {start} to {end}"
        said.insert(0, reach if share or not row["earlier_runs"] else f"{reach}, because earlier runs differ")
    return "; ".join(said)
