"""Predict the sum of two arrays: the time to scatter them from rank 0 and to gather their sum.

All data pass through rank 0: T = 3 (N - 1) (T_l + 8 E / (N B)) for E numbers, N ranks, and the latency T_l
and bandwidth B of one rank's messages (M. Celoria, report on ORFEO, 2021, section 1 B, has the measurements
but no model). The time of the part that rank 0 keeps, and of the addition, is neglected.

With --from, the table lists the measured and the predicted time of each point of a run. Latency and bandwidth
are those of the run's ping-pong; if it was measured with buffers outside the caches, Leadline uses that
measurement, because the arrays do not fit into caches either. With --simulate, it also has the simulated
time: there receivers copy side by side, sums come back while later parts leave, and addition takes time.
"""

from collections.abc import Sequence
from math import prod

import polars as pl

from leadline import machine as machines
from leadline.analysis.summary import summarise
from leadline.core.errors import UsageError
from leadline.core.formatting import Column
from leadline.core.record import Row
from leadline.predict import ModelArguments, Option, Prediction, Simulate, count_from
from leadline.predict._asymptotic import ROTATED, Fitted, comparable
from leadline.predict._beside import COLUMNS as BESIDE
from leadline.predict._beside import beside
from leadline.predict._machine import PLACEMENT, chosen_placement, on, way
from leadline.predict._simulated import answers, placed
from leadline.run import store

NUMBER = 8  # B
ARRAYS = 3  # two out, one back


def lengths(word: str) -> tuple[int, ...]:
    """The lengths of an array written as 2400x100x100; UsageError for anything else."""
    parts = word.split("x")
    if len(parts) != 3 or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"an array is written like 2400x100x100, but got {word!r}")
    return tuple(map(int, parts))


def traffic(array: str, ranks: int) -> tuple[float, float]:
    """Messages and bytes through rank 0."""
    return ARRAYS * (ranks - 1), ARRAYS * NUMBER * prod(lengths(array)) * (ranks - 1) / ranks


def of_run(rows: Sequence[Row], records: pl.DataFrame) -> list[Row]:
    """The time at each measured point by the latency and bandwidth of the run's own ping-pong."""
    fitted = Fitted(records)
    found = []
    for row in rows:
        if (row["benchmark"], row["metric"]) != ("sum3d", "time") or not comparable(row):
            continue
        if row["ranks"] > 1 and (ends := fitted.known(row, ROTATED)):
            typical, slow, fast = ends.time(*traffic(row["array"], row["ranks"]))
            found.append({**row, "value": typical, "low": fast, "high": slow})
    return found


OPTIONS = (
    on("orfeo-thin"),
    Option("ranks", "Number of ranks, N; needed without --from.", count_from(2), metavar="N"),
    Option("array", "Lengths of the arrays.", default="2400x100x100", metavar="AxBxC"),
    PLACEMENT,
    Option("simulate", "Also simulate the application sum3d on the machine.", None),
    Option(
        "from", "Compare measured and predicted times of each point of this run.", store.find, metavar="RUN"
    ),
)
COLUMNS = {
    "from": Column("from"),
    "ranks": Column("N"),
    "array": Column("array"),
    "time": Column("time", "s"),
}
SHOWN = {key: Column(key) for key in ("mpi", "ranks", "array", "grid", "split")}


def predict(asked: ModelArguments, simulate: Simulate) -> Prediction:
    """A described machine's answer, or a run's points beside what its ping-pong predicts."""
    if asked["from"] is not None:
        return _of_run(store.load(asked["from"]))
    if asked["ranks"] is None:
        raise UsageError("give the ranks with --ranks N, or a run with --from RUN")
    described = machines.load(asked["on"])
    described.partition(asked["ranks"])
    placement = chosen_placement(described, asked["ranks"], asked["placement"])
    between = way(described, placement)
    messages, volume = traffic(asked["array"], asked["ranks"])
    time = messages * between.latency + volume / between.bandwidth
    row = {"from": "formula", "ranks": asked["ranks"], "array": asked["array"], "time": time}
    if not asked["simulate"]:
        return Prediction([row], COLUMNS)
    point = {"array": asked["array"], "grid": f"{asked['ranks']}x1x1", "split": "even"}
    placed_ranks = placed(described, placement, asked["ranks"])
    (answer,) = answers(simulate, described, "sum3d", "time", [{**placed_ranks, **point}])
    if isinstance(answer, str):
        return Prediction([row], COLUMNS, [f"The simulator gives no answer: {answer}."])
    return Prediction([row, {**row, "from": "simulated", "time": answer}], COLUMNS)


def _of_run(records: pl.DataFrame) -> Prediction:
    """Measured and predicted times of a run; UsageError where it has none."""
    rows = summarise(records).rows(named=True)
    found = beside(of_run(rows, records), rows, tuple(SHOWN))
    if not found:
        raise UsageError("the run has no sum3d on two ranks or more with a ping-pong over several sizes")
    return Prediction(found, SHOWN | BESIDE)
