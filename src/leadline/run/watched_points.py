"""The points of a watched run, with what a verdict needs of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from leadline.analysis import watch
from leadline.analysis.estimates import series_columns
from leadline.analysis.summary import summarise
from leadline.analysis.watch import Finding
from leadline.core.record import FAILED, INVALID, OK, Row


@dataclass(frozen=True)
class RunPoints:
    """The values of a run by point, and why others have none."""

    names: Sequence[str]
    rows: Mapping[tuple[Any, ...], Row]
    failures: Mapping[tuple[Any, ...], str]  # by the point without its metric

    def lost(self, key: tuple[Any, ...]) -> str | None:
        """Why a point has no value; None where it has one, or was not tried."""
        return (
            None
            if key in self.rows
            else self.failures.get(tuple(each for each in key if each[0] != "metric"))
        )


def points_of(records: pl.DataFrame) -> RunPoints:
    """The points of a run's records; of an MPI family with one version the version is no part of them."""
    names = [name for name in series_columns(records) if name != "run"]
    families: dict[str, set[str]] = {}
    for mpi in records["mpi"].drop_nulls().unique().to_list():
        families.setdefault(mpi.partition("-")[0], set()).add(mpi)
    rows, failures = {}, {}
    for row in summarise(records).iter_rows(named=True):
        key = []
        for name in names:
            value = row[name]
            if name == "mpi" and value is not None and len(families[value.partition("-")[0]]) == 1:
                value = value.partition("-")[0]
            if value is not None and value != "":
                key.append((name, value))
        # A ratio needs an interval above zero, which a difference of times may not have.
        if (
            row["status"] == OK
            and row["value"] is not None
            and min(row["value"], row["low"] or row["value"]) > 0
        ):
            rows[tuple(key)] = row
        elif row["status"] in (FAILED, INVALID):
            failures[tuple(each for each in key if each[0] != "metric")] = row["reason"] or row["status"]
    return RunPoints(names, rows, failures)


def log_of(row: Row) -> float:
    """The logarithm of a value, larger is slower."""
    return -log(row["value"]) if row["better"] == "higher" else log(row["value"])


def error_of(row: Row) -> float:
    """The standard error that a run's launches give the logarithm of its value, from its interval."""
    if not row["confidence"] or not row["low"] or row["low"] <= 0:
        return 0.0
    return log(row["high"] / row["low"]) / 2 / NormalDist().inv_cdf((1 + row["confidence"]) / 2)


def is_exact(key: tuple[Any, ...], tables: Sequence[RunPoints]) -> bool:
    """Whether a point is exact in every run that has it."""
    return all(table.rows[key]["exact"] for table in tables if key in table.rows)


def exactly(logs: np.ndarray[Any, np.dtype[np.float64]], threshold: float) -> Finding:
    """The finding of a point that was simulated without noise: chance has no part in it."""
    if not np.isfinite(logs[[0, -1]]).all():
        return Finding(watch.ABSENT, None, None, None, None, None, 0)
    shift = float(logs[-1] - logs[0])
    change = exp(shift) - 1
    changed = abs(shift) > log(1 + threshold)
    verdict = (watch.REGRESSION if shift > 0 else watch.IMPROVEMENT) if changed else watch.UNCHANGED
    since = int(np.flatnonzero(np.abs(logs - logs[-1]) > 1e-9)[-1]) + 1 if changed else None
    return Finding(
        verdict, change, change, change, 0.0 if changed else 1.0, threshold, 1, since, worse=shift > 0
    )
