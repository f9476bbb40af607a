"""Latency and bandwidth of a run's own ping-pong, with their intervals, for models of its applications."""

from dataclasses import dataclass

import polars as pl

from leadline.analysis.fits import Parameter, fit_all
from leadline.core.errors import UsageError
from leadline.core.record import OK, SIMULATED, Row

KEYS = ("run", "mpi", "stack")
REUSED, ROTATED = "reused", "rotated"  # how a ping-pong's buffers are: in the caches, and out of them


@dataclass(frozen=True)
class Ends:
    """Latency, s, and bandwidth, B/s: each fitted, and at the slow and the fast end of its interval."""

    latency: tuple[float, float, float]
    bandwidth: tuple[float, float, float]

    def time(self, messages: float, volume: float) -> tuple[float, float, float]:
        """So many messages of so many bytes in all, one after the other, s: typical, slowest, fastest."""
        pairs = zip(self.latency, self.bandwidth, strict=True)
        typical, slow, fast = (messages * latency + volume / bandwidth for latency, bandwidth in pairs)
        return typical, slow, fast


def comparable(row: Row) -> bool:
    """Whether a row of a summary was measured, so that a model may be held against it."""
    return row["status"] == OK and row.get("source") != SIMULATED


class Fitted:
    """The ends of every library of some runs, fitted when they are asked for."""

    def __init__(self, records: pl.DataFrame) -> None:
        self._records = records.filter(
            (pl.col("benchmark") == "pingpong") & (pl.col("source") != SIMULATED).fill_null(True)
        )
        self._known: dict[tuple[object, ...], Ends] = {}

    def of(self, row: Row, buffers: str = REUSED) -> Ends:
        """Those of a point's run, library and stack, by a ping-pong whose buffers are as told if it has one.

        UsageError where the run has no ping-pong of the library.
        """
        key = (*(row.get(name) for name in KEYS), buffers)
        if key not in self._known:
            self._known[key] = self._fit(row, buffers)
        return self._known[key]

    def known(self, row: Row, buffers: str = REUSED) -> Ends | None:
        """The same, or None where the run does not tell them."""
        try:
            return self.of(row, buffers)
        except UsageError:
            return None

    def _fit(self, row: Row, buffers: str) -> Ends:
        wanted = [
            pl.col(name) == row[name]
            for name in KEYS
            if name in self._records.columns and row.get(name) is not None
        ]
        told = self._records.filter(*wanted)
        alike = told.filter(pl.col("buffers") == buffers) if "buffers" in told.columns else told.clear()
        for records in (alike, told):
            for fit in fit_all(records, ["ends"]):
                latency, bandwidth = fit.parameter("latency"), fit.parameter("bandwidth")
                if latency and bandwidth:
                    return Ends(_ends(latency, worst="high"), _ends(bandwidth, worst="low"))
        raise UsageError(
            f"the run has no ping-pong of {row.get('mpi')} over several sizes, "
            "which tells latency and bandwidth"
        )


def _ends(told: Parameter, worst: str) -> tuple[float, float, float]:
    """The value, and the two ends of its interval, the worse first."""
    low = told.value if told.low is None else told.low
    high = told.value if told.high is None else told.high
    return (told.value, high, low) if worst == "high" else (told.value, low, high)
