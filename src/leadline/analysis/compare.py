"""Is B slower than A? Each point's ratio with its interval, and which changes stand when so many are looked
at.

A change is called one when it is beyond chance among all the points compared and its estimate lies beyond the
threshold (`leadline.analysis.verdict`, which also says how launches, days and points are told apart). What is
beyond the threshold by itself only, or together with all other points, is "suspected": more launches, or more
runs on a side, decide. So is a change of a point of which other work heavily disturbed a quarter of the
launches or more, which may have caused it. A and B may each be several runs: only then is it known how much
runs differ.

Where A and B are two MPIs (or stacks, ...) of one run, their launches were taken in turns: the k-th launch of
one is compared with the k-th of the other, and days have no part in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import expm1, log
from typing import Any

import polars as pl

from leadline.analysis.alignment import align
from leadline.analysis.changes import (
    EXACT,
    FAILED_IN_B,
    IMPROVEMENT,
    ONLY_IN_A,
    ONLY_IN_B,
    REGRESSION,
    SUSPECTED,
    UNCHANGED,
    UNDECIDED,
    judge_rows,
)
from leadline.analysis.dependence import Dependence
from leadline.analysis.estimates import launch_estimates
from leadline.analysis.noise import MANY, WILD, groups, with_signs
from leadline.analysis.select import fitting
from leadline.analysis.summary import intervals, run_shifts
from leadline.analysis.verdict import RUN_SPREAD, Common
from leadline.core.errors import UsageError, suggest
from leadline.core.record import FAILED, INVALID, KEYS, OK, Row, concat, point_columns

# The worst first, as they are listed.
VERDICTS = (
    REGRESSION,
    FAILED_IN_B,
    SUSPECTED[REGRESSION],
    UNDECIDED,
    SUSPECTED[IMPROVEMENT],
    IMPROVEMENT,
    UNCHANGED,
    ONLY_IN_A,
    ONLY_IN_B,
)
NEAREST = 200  # points of B among which the nearest is sought
BAD = (REGRESSION, FAILED_IN_B)  # a check of B against A fails for these

THRESHOLD = 0.05  # as near as the quick plan's headline latencies are known

# Columns of a comparison after the keys and the coordinates.
COLUMNS: dict[str, Any] = {
    "unit": pl.String,
    "better": pl.String,
    "a": pl.Float64,  # median over launches, SI, and its interval at 95 % or what the launches reach
    "a_low": pl.Float64,
    "a_high": pl.Float64,
    "b": pl.Float64,
    "b_low": pl.Float64,
    "b_high": pl.Float64,
    "ratio": pl.Float64,  # B / A
    "low": pl.Float64,  # 95 % interval, without what all points share; null with too few launches
    "high": pl.Float64,
    "confidence": pl.Float64,  # what it really reaches
    "detectable": pl.Float64,  # relative change that would have been called with probability 80 %
    "chance": pl.Float64,  # probability that a change of twice the threshold would have been called
    "launches_a": pl.Int64,
    "launches_b": pl.Int64,
    "verdict": pl.String,
    "reason": pl.String,
}


@dataclass(frozen=True)
class Comparison:
    """A table of `compare`, and what concerns all of its points."""

    table: pl.DataFrame
    common: Common  # in logarithms of times: what is above zero is slower in B
    dependence: Mapping[str, list[Dependence]]  # of the launches of each run of A and of B
    within_run: bool  # A and B are of one run
    sides: tuple[pl.DataFrame, pl.DataFrame]  # the records of A and B at the points asked for
    notes: tuple[str, ...]  # which versions of an MPI were taken for the same

    def sentences(self) -> list[str]:
        """What days and drift mean for the verdicts."""
        said = []
        if self.table.get_column("detectable").count() and not self.within_run:
            said.append(_of_days(self.common))
        for name, runs in self.dependence.items():
            for number, found in enumerate(runs, start=1):
                if found.matters:
                    which = name if len(runs) == 1 else f"run {number} of {name}"
                    said.append(
                        f"Launches of {which} are not independent (correlation of neighbours "
                        f"{found.correlation:.2f}): the machine drifted. Intervals are "
                        f"{found.inflation**0.5:.1f} times as wide for that."
                    )
        return said


def compare(
    a: pl.DataFrame | Sequence[pl.DataFrame],
    b: pl.DataFrame | Sequence[pl.DataFrame],
    threshold: float = THRESHOLD,
    benchmarks: Sequence[str] = (),
    across: Sequence[str] = (),
) -> pl.DataFrame:
    """One row a point that either side measured: keys, coordinates and `COLUMNS`, the worst verdict first.

    A side is a record table, or several of one run each. Points are matched on all keys but `run` and on all
    coordinates; keys named in `across` (mpi, source, machine, ...) may differ as well, and so may versions of
    an MPI (`leadline.analysis.alignment`). `threshold` is the relative change that matters, `benchmarks`
    limits the comparison to some.

    Raises UsageError for a threshold outside 0 to 1, for a benchmark in neither table, for a key that is
    none, and where a key in `across` has several values on one side, so that it is not clear which is
    meant.
    """
    return study(a, b, threshold, benchmarks, across).table


def study(
    a: pl.DataFrame | Sequence[pl.DataFrame],
    b: pl.DataFrame | Sequence[pl.DataFrame],
    threshold: float = THRESHOLD,
    benchmarks: Sequence[str] = (),
    across: Sequence[str] = (),
    *,
    earlier: Sequence[pl.DataFrame] = (),
    where: Sequence[str] = (),
) -> Comparison:
    """The table of `compare` with what concerns all of its points; raises as `compare` does.

    `earlier` are the records of runs before A: three or more show how much runs of its points differ as a
    whole, where single runs would be held against `RUN_SPREAD`. `where` has conditions on points, as
    `leadline.analysis.select` reads them. These and `benchmarks` choose the rows: the interval of a point
    follows from all points of both runs, whichever are chosen.
    """
    if not 0 <= threshold < 1:
        raise UsageError(f"a threshold is 0 % or more and less than 100 %, but got {100 * threshold:g} %")
    sides = [one_table(side) for side in (a, b)]
    _refuse_unknown(benchmarks, sides)
    chosen = [_chosen(table, benchmarks, where) for table in sides]
    first, second, keys, notes = align(sides[0], sides[1], across)
    runs = [sorted(table.get_column("run").unique().to_list()) for table in (first, second)]
    within_run = bool(keys) and len(runs[0]) == 1 and runs[0] == runs[1]
    named = {name: _named(table, name) for name, table in (("A", first), ("B", second))}
    run_of_launch = {
        name: dict(table.select("launch", "of_run").unique().iter_rows()) for name, table in named.items()
    }
    both = concat(table.drop("of_run") for table in named.values())
    match = [key for key in KEYS if key != "run" and key not in keys] + point_columns(both)
    launches = launch_estimates(both)
    asked = both.filter(pl.concat(chosen)).select(match).unique().with_columns(chosen=True)
    pairs = _paired(both, launches, match).join(asked, on=match, how="left", nulls_equal=True)
    rows = [_prepared(pair) for pair in pairs.rows(named=True)]
    days = () if within_run else run_shifts(sides[0], earlier)
    met = {
        name: groups(launches.filter(pl.col("run") == name))
        for name, names in zip(named, runs, strict=True)
        if len(names) == 1 and not within_run
    }
    common, dependences = judge_rows(
        rows, run_of_launch, threshold, within_run=within_run, earlier=days, groups=met
    )
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    schema = {name: both.schema[name] for name in match} | COLUMNS
    table = pl.DataFrame([row for row in rows if row.pop("chosen")], schema=schema, orient="row")
    rank = pl.col("verdict").replace_strict(order, return_dtype=pl.Int64)
    table = table.sort([rank, *match], maintain_order=True)
    a, b = (side.filter(fits) for side, fits in zip(sides, chosen, strict=True))
    return Comparison(table, common, dependences, within_run, (a, b), notes)


def is_worse(comparison: pl.DataFrame) -> bool:
    """Whether a comparison holds a regression, or a point that ran in A and failed, or was wrong, in B."""
    return bool(comparison.get_column("verdict").is_in(BAD).any())


def unmatched_keys(a: pl.DataFrame, b: pl.DataFrame) -> list[str]:
    """The keys in which two record tables share no value at all: why nothing matches."""
    a, b, *_ = align(a, b)
    return [key for key in KEYS if key != "run" and not set(a[key].to_list()) & set(b[key].to_list())]


def nearest(a: pl.DataFrame, b: pl.DataFrame) -> str:
    """In which keys and coordinates the two most alike points of two record tables differ, in words.

    "" where they have no benchmark with a metric in common.
    """
    a, b, *_ = align(a, b)
    names = [name for name in (*KEYS, *point_columns(concat([a, b]))) if name != "run"]
    tables = [
        concat([table.head(0), each]).select(names).unique(maintain_order=True).rows(named=True)
        for each, table in ((a, b), (b, a))
    ]
    pairs = [
        [name for name in names if one[name] != other[name]]
        for one in tables[0]
        for other in tables[1][:NEAREST]
        if one["benchmark"] == other["benchmark"] and one["metric"] == other["metric"]
    ]
    if not pairs:
        return ""
    differing = min(pairs, key=len)
    return ", ".join(differing)


def values_of(records: pl.DataFrame, key: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The two sides of a key (mpi, stack, ...) that has two values in a run, in the order of their names.

    Raises UsageError where it has another number of values.
    """
    values = records.get_column(key).drop_nulls().unique().sort().to_list()
    if len(values) != 2:
        raise UsageError(
            f"one run is compared with itself across two values of {key}, but it has {len(values)}"
            + (f": {', '.join(map(str, values))}" if values else "")
        )
    first, second = (records.filter(pl.col(key) == value) for value in values)
    return first, second


def one_table(side: pl.DataFrame | Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The runs of a side as one table; two of one name in different places stay apart."""
    if isinstance(side, pl.DataFrame):
        return side
    if len(side) == 1:
        return side[0]
    return concat(
        table.with_columns(run=pl.format("{} {}", pl.lit(number), "run")) for number, table in enumerate(side)
    )


def _named(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """The records of one side as those of one run called `name`; `of_run` numbers the run each is of."""
    launch = pl.struct("run", "launch").rank("dense").cast(pl.Int64)
    run = pl.col("run").rank("dense").cast(pl.Int64) - 1
    return table.with_columns(launch=launch, of_run=run, run=pl.lit(name))


def _refuse_unknown(benchmarks: Sequence[str], tables: Iterable[pl.DataFrame]) -> None:
    """Raises UsageError for a benchmark that is in none of the tables."""
    known = {name for table in tables for name in table.get_column("benchmark").unique()}
    for name in benchmarks:
        if name not in known:
            raise UsageError(f"neither run has the benchmark {name!r}{suggest(name, known)}")


def _chosen(table: pl.DataFrame, benchmarks: Sequence[str], where: Sequence[str]) -> pl.Series:
    """Which records are of the points asked for."""
    fits = fitting(table, where)
    return fits & table.get_column("benchmark").is_in(list(benchmarks)) if benchmarks else fits


def _paired(both: pl.DataFrame, launches: pl.DataFrame, match: list[str]) -> pl.DataFrame:
    """For each point the launch medians of either side (`medians_a`, `medians_b`; null where not measured).

    `launches` are the `launch_estimates` of `both`; `lost_a` and `lost_b` are a dictionary with status and
    reason where the point was tried and did not run.
    """
    point = [name for name in match if name != "metric"]
    lost = (
        both.filter(pl.col("status") != OK)
        # A failure says more than a skip.
        .sort(~pl.col("status").is_in([FAILED, INVALID]), maintain_order=True)
        .group_by(["run", *point], maintain_order=True)
        .agg(pl.struct(pl.col("status", "reason").first()).first().alias("lost"))
    )
    sides = []
    for name in ("A", "B"):
        of_side = launches.filter(pl.col("run") == name)
        side = of_side.group_by(match, maintain_order=True).agg(
            pl.col("median").alias("medians"), pl.col("launch").alias("taken")
        )
        known = intervals(of_side, ["run", *match]).select(
            *match, "unit", "better", "exact", "value", "low", "high"
        )
        side = side.join(known, on=match, how="left", nulls_equal=True, maintain_order="left")
        sides.append(
            side.rename({each: f"{each}_{name.lower()}" for each in side.columns if each not in match})
        )
    paired = sides[0].join(sides[1], on=match, how="full", coalesce=True, nulls_equal=True)
    for name in ("A", "B"):
        missed = lost.filter(pl.col("run") == name).drop("run").rename({"lost": f"lost_{name.lower()}"})
        paired = paired.join(missed, on=point, how="left", nulls_equal=True)
    loaded = (
        with_signs(both.filter(pl.col("status") == OK))
        .group_by(["run", *point])
        .agg(pl.col("loaded").mean() >= MANY)
    )
    busy = loaded.filter("loaded").group_by(point).agg(pl.col("run").sort().alias("busy"))
    paired = paired.join(busy, on=point, how="left", nulls_equal=True)
    return paired


def _prepared(pair: Row) -> Row:
    """The row of one point; `logs` holds the launches of both sides where chance decides its verdict."""
    medians, taken, units, better, lost, value, low, high = (
        {side: pair.pop(f"{name}_{side}") for side in "ab"}
        for name in ("medians", "taken", "unit", "better", "lost", "value", "low", "high")
    )
    exact = [bool(pair.pop(f"exact_{side}")) for side in "ab"]
    busy = pair.pop("busy") or []
    row = pair | {name: None for name in COLUMNS}
    row |= {"unit": units["a"] or units["b"], "better": better["a"] or better["b"], "verdict": UNDECIDED}
    for side in "ab":
        row[f"launches_{side}"] = len(medians[side] or ())
        row |= {side: value[side], f"{side}_low": low[side], f"{side}_high": high[side]}
    if not medians["a"] or not medians["b"]:
        return row | _one_sided(medians, lost)
    if units["a"] != units["b"]:
        return row | {"reason": f"A is in {units['a']}, B in {units['b']}"}
    if min(*medians["a"], *medians["b"]) <= 0:
        return row | {"reason": "a ratio needs values above zero"}
    if all(exact):
        return row | {"ratio": row["b"] / row["a"], "reason": EXACT}
    sign = -1 if row["better"] == "higher" else 1  # what is above zero is slower
    logs = [
        {launch: sign * log(value) for launch, value in zip(taken[side], medians[side], strict=True)}
        for side in "ab"
    ]
    return row | {"logs": logs, "busy": busy}


def _one_sided(medians: Mapping[str, list[float] | None], lost: Mapping[str, Row | None]) -> Row:
    """Verdict and reason of a point that only one side measured."""
    there, missing = ("a", "b") if medians["a"] else ("b", "a")
    gone = lost[missing]
    if gone is None:
        return {"verdict": f"only in {there.upper()}"}
    if there == "a" and gone["status"] in (FAILED, INVALID):
        return {"verdict": FAILED_IN_B, "reason": gone["reason"]}
    return {
        "verdict": f"only in {there.upper()}",
        "reason": f"{gone['status']} in {missing.upper()}: {gone['reason']}",
    }


def _of_days(common: Common) -> str:
    """How far all points moved together, and how much of that days explain."""
    if common.moved:
        together = f"All points together are {100 * abs(expm1(common.shift)):.1f} % "
        together += f"{'slower' if common.shift > 0 else 'faster'} in B"
    else:
        together = "All points together do not differ by more than launches scatter"
    share = expm1(common.explained)
    explained = f"{100 * share:.0f} %" if share <= 1 else f"a factor of {1 + share:.0f}"
    if share > WILD:
        return f"{together}; these runs differ too much among themselves to say more."
    if max(common.runs) > 1:
        counts = f"{common.runs[0]} and {common.runs[1]}"
        return f"{together}; by these {counts} runs, days explain up to {explained}."
    if common.earlier:
        by = f"by {common.earlier} runs before A"
    else:
        by = f"assuming a standard deviation of {100 * RUN_SPREAD:g} % between runs"
    return (
        f"{together}. With one run on each side, a difference of up to {explained} may be one between days, "
        f"{by}; several runs on each side narrow this."
    )
