"""How far a simulated run and a measured one are apart, point by point, pattern by pattern, and as a whole.

Points are paired and measured medians get their intervals as in `leadline.analysis.compare`, whatever MPI,
stack,
mapping and partition either run has. What is asked differs: not whether one is worse, but whether the
simulated value lies in the measured interval, and how many per cent it is off where it does not.

A simulation without noise is exact, one value a point, so the ratio's interval is that of the measured median
alone. One with noise has launches of its own, and the interval is that of `compare`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from leadline.analysis.compare import COLUMNS as COMPARED
from leadline.analysis.compare import compare
from leadline.analysis.select import matching
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.record import OK, SIMULATED, Row

WITHIN, OFF = "within the interval", "off"
NOT_SIMULATED, NOT_MEASURED, NO_INTERVAL = "not simulated", "not measured", "no interval"
NEAR = 0.25  # off by so much at most counts as near: what one wants of a prediction for another scale

# What says the same again of a point that has the first of the two: it is shown, and not counted.
_AGAIN = {"mean": "time", "bandwidth": "latency", "message_rate": "bandwidth"}

# Keys that differ between a real run and a simulated one of the same points, or exist on one side only.
_ASIDE = ("source", "mpi", "stack", "mapping", "partition")

# Columns after the keys and the coordinates; quantities in SI units.
COLUMNS: dict[str, Any] = {
    "unit": pl.String,
    "measured": pl.Float64,  # median over launches with its interval
    "measured_low": pl.Float64,
    "measured_high": pl.Float64,
    "launches": pl.Int64,
    "simulated": pl.Float64,
    "ratio": pl.Float64,  # simulated over measured
    "low": pl.Float64,
    "high": pl.Float64,
    "verdict": pl.String,
    "reason": pl.String,
}


def prepared(measured: pl.DataFrame, where: Sequence[str] = (), name: str = "the run") -> pl.DataFrame:
    """The records to hold a simulation against: those that were measured and fit `where` (KEY=VALUE each).

    `name` is what a refusal calls them. Raises UsageError where they are of several MPIs or stacks, so that
    it is not clear which is meant, and where all was simulated; LeadlineError where nothing was measured.
    """
    real = measured.filter(pl.col("source").ne_missing(SIMULATED))
    if real.is_empty() and not measured.is_empty():
        machines = " and ".join(map(str, measured.get_column("mpi").unique().sort().to_list()))
        raise UsageError(
            f"{name} was simulated, on {machines}, not measured; "
            "'leadline compare' compares two simulated runs"
        )
    records = matching(real, where)
    ran = records.filter(pl.col("status") == OK)
    if ran.is_empty():
        raise LeadlineError("the measured run has no point with a result")
    for key in ("mpi", "stack"):
        there = ran.get_column(key).drop_nulls().unique().sort().to_list()
        if len(there) > 1:
            raise UsageError(
                f"the measured run has several values of {key}, {' and '.join(there)}; "
                f"choose with --where {key}={there[0]}"
            )
    return records


def against(measured: pl.DataFrame, simulated: pl.DataFrame) -> pl.DataFrame:
    """One row a point of either table: keys, coordinates and `COLUMNS`; sorted by benchmark and point.

    `measured` is what `prepared` gives. Raises UsageError where `simulated` holds nothing simulated, or
    several machines.
    """
    simulated = simulated.filter(pl.col("source") == SIMULATED)
    machines = simulated.get_column("mpi").unique().sort().to_list()
    if len(machines) != 1:
        held = " and ".join(map(str, machines)) or "none"
        raise UsageError(f"one simulated machine is held against a measured run, but got {held}")
    table = compare(_alike(measured), _alike(simulated))
    named = [name for name in table.columns if name not in COMPARED and name not in _ASIDE]
    rows = [{name: row[name] for name in named} | _judged(row) for row in table.iter_rows(named=True)]
    schema = {name: table.schema[name] for name in named} | COLUMNS
    return pl.DataFrame(rows, schema=schema, orient="row").sort(named, nulls_last=False)


def patterns(table: pl.DataFrame) -> list[Row]:
    """One row a benchmark and metric of what `against` gave: how many points, and how far they are off."""
    compared = _compared(table)
    keys = compared.select("benchmark", "metric").unique(maintain_order=True)
    return [
        {"benchmark": benchmark, "metric": metric}
        | _figures(compared.filter((pl.col("benchmark") == benchmark) & (pl.col("metric") == metric)))
        for benchmark, metric in keys.iter_rows()
    ]


def overall(table: pl.DataFrame) -> Row:
    """The same for all points together."""
    return _figures(_compared(table))


def _alike(records: pl.DataFrame) -> pl.DataFrame:
    """The records with nothing that tells a real run from a simulated one."""
    return records.with_columns(pl.lit(None, dtype=records.schema[key]).alias(key) for key in _ASIDE)


def _judged(row: Row) -> Row:
    """The figures and the verdict of one point, from its row of the comparison."""
    found: Row = dict.fromkeys(COLUMNS) | {
        "unit": row["unit"],
        "measured": row["a"],
        "measured_low": row["a_low"],
        "measured_high": row["a_high"],
        "launches": row["launches_a"],
        "simulated": row["b"],
        "ratio": row["ratio"],
        "reason": row["reason"],
    }
    if row["a"] is None or row["b"] is None:
        return found | {"verdict": NOT_MEASURED if row["a"] is None else NOT_SIMULATED}
    if row["launches_b"] > 1:
        found |= {"low": row["low"], "high": row["high"]}
    elif row["a_low"] is not None and min(row["a_low"], row["b"]) > 0:
        found |= {"low": row["b"] / row["a_high"], "high": row["b"] / row["a_low"], "reason": None}
    # A ratio of medians, where `compare` has the middle of all ratios: what a reader works out himself.
    if row["a"] > 0:
        found["ratio"] = row["b"] / row["a"]
    if found["low"] is None:
        return found | {"verdict": NO_INTERVAL}
    return found | {"verdict": WITHIN if found["low"] <= 1 <= found["high"] else OFF}


def _compared(table: pl.DataFrame) -> pl.DataFrame:
    """The points that both sides have, each once.

    Numbers that every launch counted alike, such as the messages of a rank, are no predictions where they
    agree.
    """
    table = table.filter(pl.col("ratio").is_not_null())
    point = [name for name in table.columns if name not in COLUMNS and name != "metric"]
    metrics = table.group_by(point).agg(pl.col("metric").alias("metrics"))
    table = table.join(metrics, on=point, nulls_equal=True, maintain_order="left")
    again = pl.any_horizontal(
        (pl.col("metric") == second) & pl.col("metrics").list.contains(first)
        for second, first in _AGAIN.items()
    )
    alike = (pl.col("measured_low") == pl.col("measured_high")).fill_null(False) & (pl.col("ratio") == 1)
    return table.filter(~again & ~((pl.col("unit") == "1") & alike)).drop("metrics")


def _figures(points: pl.DataFrame) -> Row:
    """Median and worst distance, and shares, of some points; null where there are none."""
    off = _off(points.get_column("ratio"))
    if not off.size:
        return {"points": 0, "median_off": None, "most_off": None, "near": None, "within": None, "bias": None}
    verdicts = points.get_column("verdict")
    return {
        "points": int(off.size),
        "median_off": float(np.median(off)),
        "most_off": float(off.max()),
        "near": float((off <= NEAR).mean()),
        # Without one interval nothing can lie within.
        "within": None if (verdicts == NO_INTERVAL).all() else float((verdicts == WITHIN).sum() / off.size),
        "bias": float(np.median(points.get_column("ratio").to_numpy()) - 1),
    }


def _off(ratios: Iterable[float]) -> Any:
    """How far off each ratio is, as a share of what was measured."""
    return np.abs(np.array(list(ratios), dtype=np.float64) - 1)
