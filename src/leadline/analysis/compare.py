"""Is B slower than A? Each point's ratio with its interval, and which changes stand when so many are looked
at.

The ratio is Hodges and Lehmann's on logarithms of launch medians, its interval exact from the Mann-Whitney
distribution (`leadline.core.statistics`). A change beyond the threshold is called one when the whole interval
lies beyond it, and when it also stands among all the points compared: of 200 points at 95 % some lie beyond
by chance alone, and a nightly check that fails for those is soon ignored. What lies beyond but could be
chance is "suspected"; more launches decide. At most one in twenty of the changes called is false
(Benjamini-Hochberg).

The interval covers what differs between launches of these two runs. What differs between days does not show
in launches of one hour.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from leadline.analysis.alignment import align
from leadline.analysis.estimates import is_exact, launch_estimates
from leadline.core.errors import UsageError, suggest
from leadline.core.record import FAILED, INVALID, KEYS, OK, concat, point_columns
from leadline.core.statistics import CONFIDENCE, chance_of_ratio, discoveries, median_interval, ratio_interval

REGRESSION, IMPROVEMENT = "regression", "improvement"
UNCHANGED, UNDECIDED = "unchanged", "undecided"
SUSPECTED = {REGRESSION: "suspected regression", IMPROVEMENT: "suspected improvement"}
FAILED_IN_B, ONLY_IN_A, ONLY_IN_B = "failed in B", "only in A", "only in B"
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
BAD = (REGRESSION, FAILED_IN_B)  # a check of B against A fails for these

THRESHOLD = 0.05  # as near as the quick plan's headline latencies are known
EXACT = "both simulated: exact"  # the reason of a verdict that no chance has a part in
FALSE_SHARE = 0.05  # of the changes called, at most so many are false

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
    "low": pl.Float64,  # 95 % interval of the ratio; null with too few launches
    "high": pl.Float64,
    "confidence": pl.Float64,  # what it really reaches
    "detectable": pl.Float64,  # relative change that would have been found with probability 80 %
    "launches_a": pl.Int64,
    "launches_b": pl.Int64,
    "verdict": pl.String,
    "reason": pl.String,
}

Row = dict[str, Any]


def compare(
    a: pl.DataFrame,
    b: pl.DataFrame,
    threshold: float = THRESHOLD,
    benchmarks: Sequence[str] = (),
    across: Sequence[str] = (),
) -> pl.DataFrame:
    """One row a point that either record table measured: keys, coordinates and `COLUMNS`, the worst verdict
    first.

    Points are matched on all keys but `run` and on all coordinates; keys named in `across` (mpi, source,
    machine, ...) may differ as well, and so may versions of an MPI (`leadline.analysis.alignment`).
    `threshold` is the relative change that matters, `benchmarks` limits the comparison to some.

    Raises UsageError for a threshold outside 0 to 1, for a benchmark in neither table, for a key that is
    none, and where a key in `across` has several values on one side, so that it is not clear which is
    meant.
    """
    if not 0 <= threshold < 1:
        raise UsageError(f"a threshold is 0 % or more and less than 100 %, but got {100 * threshold:g} %")
    _refuse_unknown(benchmarks, (a, b))
    if benchmarks:
        a, b = (table.filter(pl.col("benchmark").is_in(benchmarks)) for table in (a, b))
    a, b, across, _ = align(a, b, across)
    tables = [_named(table, name) for table, name in ((a, "A"), (b, "B"))]
    both = concat(tables)
    match = [key for key in KEYS if key != "run" and key not in across] + point_columns(both)
    rows = [_compared(row, threshold) for row in _paired(both, match)]
    _settle(rows, threshold)
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    schema = {name: both.schema[name] for name in match} | COLUMNS
    table = pl.DataFrame(rows, schema=schema, orient="row")
    rank = pl.col("verdict").replace_strict(order, return_dtype=pl.Int64)
    return table.sort([rank, *match], maintain_order=True)


def is_worse(comparison: pl.DataFrame) -> bool:
    """Whether a comparison holds a regression, or a point that ran in A and failed, or was wrong, in B."""
    return bool(comparison.get_column("verdict").is_in(BAD).any())


def unmatched_keys(a: pl.DataFrame, b: pl.DataFrame) -> list[str]:
    """The keys in which two record tables share no value at all: why nothing matches."""
    a, b, *_ = align(a, b)
    return [key for key in KEYS if key != "run" and not set(a[key].to_list()) & set(b[key].to_list())]


def _named(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """The records of one side as those of one run called `name`, launches of several runs apart."""
    launch = pl.struct("run", "launch").rank("dense").cast(pl.Int64)
    return table.with_columns(launch=launch, run=pl.lit(name))


def _refuse_unknown(benchmarks: Sequence[str], tables: Iterable[pl.DataFrame]) -> None:
    """Raises UsageError for a benchmark that is in none of the tables."""
    known = {name for table in tables for name in table.get_column("benchmark").unique()}
    for name in benchmarks:
        if name not in known:
            raise UsageError(f"neither run has the benchmark {name!r}{suggest(name, known)}")


def _paired(both: pl.DataFrame, match: list[str]) -> list[Row]:
    """For each point the launch medians of either side (`medians_a`, `medians_b`; null where not measured).

    `lost_a` and `lost_b` are a dictionary with status and reason where the point was tried and did not run.
    """
    launches = launch_estimates(both).with_columns(exact=is_exact())
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
        side = launches.filter(pl.col("run") == name).group_by(match, maintain_order=True)
        sides.append(
            side.agg(
                pl.col("unit", "better").first(), pl.col("median").alias("medians"), pl.col("exact").all()
            ).rename({each: f"{each}_{name.lower()}" for each in ("unit", "better", "medians", "exact")})
        )
    paired = sides[0].join(sides[1], on=match, how="full", coalesce=True, nulls_equal=True)
    for name in ("A", "B"):
        missed = lost.filter(pl.col("run") == name).drop("run").rename({"lost": f"lost_{name.lower()}"})
        paired = paired.join(missed, on=point, how="left", nulls_equal=True)
    return paired.rows(named=True)


def _compared(pair: Row, threshold: float) -> Row:
    """The row of one point: its ratio and interval, and the verdict where one point alone decides it."""
    medians = {side: pair.pop(f"medians_{side}") for side in "ab"}
    units = {side: pair.pop(f"unit_{side}") for side in "ab"}
    better = {side: pair.pop(f"better_{side}") for side in "ab"}
    lost = {side: pair.pop(f"lost_{side}") for side in "ab"}
    exact = [bool(pair.pop(f"exact_{side}")) for side in "ab"]
    row = pair | {name: None for name in COLUMNS}
    row |= {"unit": units["a"] or units["b"], "better": better["a"] or better["b"], "verdict": UNDECIDED}
    for side in "ab":
        row[f"launches_{side}"] = len(medians[side] or ())
        row |= _typical(side, medians[side] or [])
    if not medians["a"] or not medians["b"]:
        return row | _one_sided(medians, lost)
    if units["a"] != units["b"]:
        return row | {"reason": f"A is in {units['a']}, B in {units['b']}"}
    if min(*medians["a"], *medians["b"]) <= 0:
        return row | {"reason": "a ratio needs values above zero"}
    if all(exact):
        return row | _exact_ratio(row["b"] / row["a"], row["better"] == "higher", threshold)
    return row | _ratio(medians["a"], medians["b"], row["better"] == "higher", threshold)


def _typical(side: str, medians: list[float]) -> Row:
    """The median of one side, and its interval where there is more than one launch."""
    if not medians:
        return {}
    row: Row = {side: float(np.median(medians))}
    if len(medians) > 1:
        interval = median_interval(medians)
        row |= {f"{side}_low": interval.low, f"{side}_high": interval.high}
    return row


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


def _exact_ratio(ratio: float, higher_is_better: bool, threshold: float) -> Row:
    """The verdict on two values that were simulated without noise: nothing about their ratio is chance."""
    up, down = (IMPROVEMENT, REGRESSION) if higher_is_better else (REGRESSION, IMPROVEMENT)
    verdict = up if ratio > 1 + threshold else down if ratio < 1 - threshold else UNCHANGED
    return {"ratio": ratio, "verdict": verdict, "reason": EXACT}


def _ratio(a: list[float], b: list[float], higher_is_better: bool, threshold: float) -> Row:
    """Ratio, interval, the chance of either verdict being false, and the verdict of this point alone."""
    found = ratio_interval(a, b)
    row: Row = {"ratio": found.value, "confidence": found.interval.confidence}
    if found.interval.confidence < CONFIDENCE:
        reached = f"{100 * found.interval.confidence:.0f} %"
        return row | {
            "confidence": None,
            "reason": f"too few launches: {len(a)} against {len(b)} reach {reached} at most, 4 against 4 do",
        }
    low, high = found.interval.low, found.interval.high
    row |= {"low": low, "high": high, "detectable": found.detectable}
    above = chance_of_ratio(a, b, 1 + threshold)[0]
    below = chance_of_ratio(a, b, 1 - threshold)[1]
    up, down = (IMPROVEMENT, REGRESSION) if higher_is_better else (REGRESSION, IMPROVEMENT)
    row["chances"] = {up: above, down: below}
    if low > 1 + threshold:
        return row | {"verdict": up}
    if high < 1 - threshold:
        return row | {"verdict": down}
    return row | {"verdict": UNCHANGED if 1 - threshold <= low and high <= 1 + threshold else UNDECIDED}


def _settle(rows: list[Row], threshold: float) -> None:
    """Turns changes that may be chance, among all the points compared, into suspected ones."""
    tested = [row for row in rows if "chances" in row]
    for change in (REGRESSION, IMPROVEMENT):
        stand = discoveries([row["chances"][change] for row in tested], FALSE_SHARE)
        for row, stands in zip(tested, stand, strict=True):
            if row["verdict"] == change and not stands:
                row["verdict"] = SUSPECTED[change]
                row["reason"] = (
                    f"beyond {100 * threshold:g} % by itself, but among {len(tested)} points "
                    "it may be chance: more launches would tell"
                )
    for row in tested:
        del row["chances"]
