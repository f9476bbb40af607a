"""Jacobi solvers of a run: what was measured beside what the run's own ping-pong and streams predict.

A sweep of a rank's part takes as long as the bandwidth of a copy, measured in the same run, allows (the
roofline); then come its sides at the fitted bandwidth, and a fitted latency each. So the error has what the
kernel does not reach of its bandwidth and what the exchange takes beyond a ping-pong, but nothing that was
taken from the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from leadline.analysis.summary import summarise
from leadline.core.errors import UsageError
from leadline.core.grids import even_grid
from leadline.core.record import Row
from leadline.predict._asymptotic import Asymptotes, Fitted, comparable

NUMBER = 8  # B

# What tells one point of the solver from another beside library and ranks.
POINT = ("edge", "scaling", "grid", "ends", "kernel", "depth", "halo")


@dataclass(frozen=True)
class Compared:
    """A point: updates a second of all ranks, measured with its interval, bound by memory, and predicted.

    The prediction's interval has all that it is made from at its worse end, and at its better one.
    """

    mpi: str
    ranks: int
    point: str
    measured: float
    low: float | None
    high: float | None
    bound: float
    predicted: float
    predicted_low: float | None = None
    predicted_high: float | None = None


def lengths_of(word: str, ranks: int) -> tuple[int, ...]:
    """The ranks along each axis, of "1d", "2d", "3d" (native/applications/jacobi/division.cpp) or "3x2x2"."""
    if "x" in word:
        return tuple(int(length) for length in word.split("x"))
    axes = int(word.removesuffix("d"))
    return (*reversed(even_grid(ranks, axes)), *[1] * (3 - axes))


def exchange(row: Row, latency: float, bandwidth: float) -> float:
    """Time of the exchange of an inner rank, s: each of its sides out and in, and a latency for each.

    With sides for several sweeps in one go, as many planes at once, and so many sweeps fewer between them.
    """
    messages, volume = traffic(row)
    return messages * latency + volume / bandwidth


def traffic(row: Row) -> tuple[float, float]:
    """Messages, and bytes out and in, of an inner rank in a sweep."""
    grid = lengths_of(row["grid"], row["ranks"])
    parts = [row["edge"] / (1 if row["scaling"] == "weak" else count) for count in grid]
    points = parts[0] * parts[1] * parts[2]
    messages = volume = 0.0
    for length, count in zip(parts, grid, strict=True):
        sides = 0 if count == 1 else 1 if count == 2 and row["ends"] == "fixed" else 2
        messages += sides / row["depth"]
        volume += sides * 2 * NUMBER * points / length
    return messages, volume


def expected(rows: Sequence[Row], records: pl.DataFrame) -> list[Row]:
    """The rows of the rate of measured points with what is predicted in place of what was measured."""
    fitted = Fitted(records)
    bounds = {_key(row): row for row in _of(rows, "bound")}
    found = []
    for row in _of(rows, "rate"):
        if _key(row) not in bounds:
            continue
        ends = fitted.known(row)
        if ends is None and row["ranks"] == 1:
            ends = Asymptotes((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))  # a rank alone exchanges nothing
        if ends is None:
            continue
        typical, low, high = _rates(row, bounds[_key(row)], ends)
        found.append({**row, "value": typical, "low": low, "high": high})
    return found


def _rates(row: Row, bound: Row, ends: Asymptotes) -> tuple[float, float, float]:
    """Points a second: typical, and at the slower and the faster end of what it is made from."""
    total = row["edge"] ** 3 * (row["ranks"] if row["scaling"] == "weak" else 1)
    value = bound["value"]
    # What is written without streaming stores is read before: 24 B a point in place of 16.
    moved = 1.0 if row["kernel"] == "streaming" else 1.5
    limits = tuple(limit / moved for limit in (value, bound["low"] or value, bound["high"] or value))
    times = [total / limit + time for limit, time in zip(limits, ends.time(*traffic(row)), strict=True)]
    return total / times[0], total / times[1], total / times[2]


def _of(rows: Sequence[Row], metric: str) -> list[Row]:
    """The measured rows of a metric of the solver."""
    return [
        row for row in rows if row["benchmark"] == "jacobi" and row["metric"] == metric and comparable(row)
    ]


def _key(row: Row) -> tuple[object, ...]:
    """What tells a point of the solver from the others."""
    return tuple(row.get(name) for name in ("run", "mpi", "stack", "ranks", "placement", *POINT))


def compared(records: pl.DataFrame) -> list[Compared]:
    """Every point of the run; UsageError where it has no solver, or no ping-pong of the same library."""
    rows = summarise(records).rows(named=True)
    measured = _of(rows, "rate")
    if not measured:
        raise UsageError("the run has no jacobi; 'leadline run applications' has one")
    bounds = {_key(row): row["value"] for row in _of(rows, "bound")}
    predicted = {_key(row): row for row in expected(rows, records)}
    if not predicted:
        Fitted(records).of(measured[0])  # says what is missing
    found = []
    for row in measured:
        key = _key(row)
        if key not in predicted:
            continue
        words = ", ".join(str(row[name]) for name in POINT)
        what = predicted[key]
        found.append(
            Compared(
                row["mpi"],
                row["ranks"],
                words,
                row["value"],
                row["low"],
                row["high"],
                bounds[key],
                what["value"],
                what["low"],
                what["high"],
            )
        )
    return found
