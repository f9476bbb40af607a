"""Jacobi solvers of a run: what was measured beside what the run's own ping-pong and streams predict.

A sweep of a rank's part takes as long as the bandwidth of a copy, measured in the same run, allows (the
roofline); then come its sides at the fitted bandwidth, and a fitted latency each. So the error has what the
kernel does not reach of its bandwidth and what the exchange takes beyond a ping-pong, but nothing that was
taken from the result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from leadline.errors import UsageError
from leadline.fits import fit_all
from leadline.record import OK
from leadline.summary import summarise

Row = Mapping[str, Any]
NUMBER = 8  # B

# What tells one point of the solver from another beside library and ranks.
POINT = ("edge", "scaling", "grid", "ends", "kernel", "depth", "halo")


@dataclass(frozen=True)
class Compared:
    """A point: updates a second of all ranks, measured with its interval, bound by memory, and predicted."""

    mpi: str
    ranks: int
    point: str
    measured: float
    low: float | None
    high: float | None
    bound: float
    predicted: float


def lengths_of(word: str, ranks: int) -> tuple[int, ...]:
    """The ranks along each axis, of "1d", "2d", "3d" or "3x2x2"."""
    if "x" in word:
        return tuple(int(length) for length in word.split("x"))
    axes, rest = int(word.removesuffix("d")), ranks
    lengths = []
    for left in range(axes, 0, -1):
        root = round(rest ** (1 / left))
        length = next(n for n in range(max(root, 1), rest + 1) if rest % n == 0)
        lengths.append(length)
        rest //= length
    return (*lengths, *[1] * (3 - axes))


def exchange(row: Row, latency: float, bandwidth: float) -> float:
    """Time of the exchange of an inner rank, s: each of its sides out and in, and a latency for each.

    With sides for several sweeps in one go, as many planes at once, and so many sweeps fewer between them.
    """
    grid = lengths_of(row["grid"], row["ranks"])
    parts = [row["edge"] / (1 if row["scaling"] == "weak" else count) for count in grid]
    volume = parts[0] * parts[1] * parts[2]
    time = 0.0
    for length, count in zip(parts, grid, strict=True):
        sides = 0 if count == 1 else 1 if count == 2 and row["ends"] == "fixed" else 2
        time += sides * (2 * NUMBER * volume / length / bandwidth + latency / row["depth"])
    return time


def compared(records: pl.DataFrame) -> list[Compared]:
    """Every point of the run; UsageError where it has no solver, or no ping-pong of the same library."""
    rows = [row for row in summarise(records).rows(named=True) if row["status"] == OK]
    rates, bounds = (_by_point(rows, metric) for metric in ("rate", "bound"))
    if not rates:
        raise UsageError("the run has no jacobi; 'leadline run applications' has one")
    found = []
    for key, row in rates.items():
        latency, bandwidth = _fitted(records, row["mpi"])
        if key not in bounds:
            continue
        bound = bounds[key]["value"]
        total = row["edge"] ** 3 * (row["ranks"] if row["scaling"] == "weak" else 1)
        predicted = total / (total / bound + exchange(row, latency, bandwidth))
        words = ", ".join(str(row[name]) for name in POINT)
        value, low, high = row["value"], row["low"], row["high"]
        found.append(Compared(row["mpi"], row["ranks"], words, value, low, high, bound, predicted))
    return found


def _by_point(rows: Sequence[Row], metric: str) -> dict[tuple[Any, ...], Row]:
    """The rows of a metric of the solver by what tells them apart."""
    return {
        (row["mpi"], row["ranks"], row["placement"], *(row[name] for name in POINT)): row
        for row in rows
        if row["benchmark"] == "jacobi" and row["metric"] == metric
    }


def _fitted(records: pl.DataFrame, mpi: str) -> tuple[float, float]:
    """Latency, s, and bandwidth, B/s, of a library's ping-pong by its two ends."""
    fits = fit_all(records.filter(pl.col("mpi") == mpi), ["ends"])
    for fit in fits:
        latency, bandwidth = fit.parameter("latency"), fit.parameter("bandwidth")
        if latency and bandwidth:
            return latency.value, bandwidth.value
    raise UsageError(
        f"the run has no ping-pong of {mpi} over several sizes, which tells latency and bandwidth"
    )
