"""Latency and bandwidth of a run's own ping-pong, with their intervals, for models of its applications."""

from dataclasses import dataclass

import polars as pl

from leadline.analysis.fits import Parameter, fit_all
from leadline.core.errors import UsageError
from leadline.core.record import OK, SIMULATED, Row

KEYS = ("run", "mpi", "stack")
REUSED, ROTATED = "reused", "rotated"  # how a ping-pong's buffers are: in the caches, and out of them


@dataclass(frozen=True)
class Asymptotes:
    """Latency, s, and bandwidth, B/s: each fitted, and at the slow and the fast end of its interval."""

    latency: tuple[float, float, float]
    bandwidth: tuple[float, float, float]

    def time(self, messages: float, volume: float) -> tuple[float, float, float]:
        """Time of `messages` one after the other, `volume` bytes in all, s: typical, slowest, fastest."""
        pairs = zip(self.latency, self.bandwidth, strict=True)
        typical, slow, fast = (messages * latency + volume / bandwidth for latency, bandwidth in pairs)
        return typical, slow, fast


def comparable(row: Row) -> bool:
    """Whether a row of a summary was measured, so that a model may be held against it."""
    return row["status"] == OK and row.get("source") != SIMULATED


class Fitted:
    """Latency and bandwidth of every MPI library of some runs, fitted on first use."""

    def __init__(self, records: pl.DataFrame) -> None:
        self._records = records.filter(
            (pl.col("benchmark") == "pingpong") & (pl.col("source") != SIMULATED).fill_null(True)
        )
        self._known: dict[tuple[object, ...], Asymptotes] = {}

    def of(self, row: Row, buffers: str = REUSED) -> Asymptotes:
        """Latency and bandwidth of a point's run, library and stack, by a ping-pong with such buffers if any.

        UsageError where the run has no ping-pong of the library.
        """
        key = (*(row.get(name) for name in KEYS), buffers)
        if key not in self._known:
            self._known[key] = self._fit(row, buffers)
        return self._known[key]

    def known(self, row: Row, buffers: str = REUSED) -> Asymptotes | None:
        """The same, or None without a ping-pong of the library."""
        try:
            return self.of(row, buffers)
        except UsageError:
            return None

    def _fit(self, row: Row, buffers: str) -> Asymptotes:
        wanted = [
            pl.col(name) == row[name]
            for name in KEYS
            if name in self._records.columns and row.get(name) is not None
        ]
        found = self._records.filter(*wanted)
        alike = found.filter(pl.col("buffers") == buffers) if "buffers" in found.columns else found.clear()
        for records in (alike, found):
            for fit in fit_all(records, ["asymptotic"]):
                latency, bandwidth = fit.parameter("latency"), fit.parameter("bandwidth")
                if latency and bandwidth:
                    return Asymptotes(
                        _bounds(latency, worst="high"),
                        _bounds(bandwidth, worst="low"),
                    )
        raise UsageError(
            f"the run has no ping-pong of {row.get('mpi')} over several sizes, "
            "from which latency and bandwidth follow"
        )


def _bounds(parameter: Parameter, worst: str) -> tuple[float, float, float]:
    """The value, and the two ends of its interval, the worse first."""
    low = parameter.value if parameter.low is None else parameter.low
    high = parameter.value if parameter.high is None else parameter.high
    return (parameter.value, high, low) if worst == "high" else (parameter.value, low, high)
