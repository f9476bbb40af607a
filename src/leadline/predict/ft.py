"""Predict NAS FT on a described machine: each way to exchange planes, compared with one all-to-all.

Leadline simulates the application (native/applications/ft.cpp) with one and with two iterations; the
difference is the time of each further iteration. The default way is the library's all-to-all, as in NAS.
Messages and bytes are counts of the program for one transform and process, including what a process sends to
itself. Beside them the table has the number of messages after table 1 of the source, and the part of a
plane's communication that can overlap (Bell, Bonachea, Nishtala, Yelick: Optimizing bandwidth limited
problems using one-sided communication and overlap, 2006).

With --from, the table lists the measured time of each point of a run beside a lower bound: the time for
memory traffic plus the time for messages. An iteration moves 64 B a point through memory: one pass reads the
state and writes the transformed planes to their place, a second pass reads and writes them once more. It
moves 48 B where the result is only summed. The bandwidth is that of the copy which the Jacobi solver timed in
the same run on as many ranks; latency and bandwidth of messages are those of the run's ping-pong. The rest of
the measured time is computation and further passes over memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import polars as pl

from leadline import machine as machines
from leadline.analysis.summary import summarise
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.formatting import Column
from leadline.core.record import OK, Row
from leadline.predict import ModelArguments, Option, Prediction, Simulate, count_from
from leadline.predict._asymptotic import ROTATED, Fitted, comparable
from leadline.predict._beside import COLUMNS as BESIDE
from leadline.predict._beside import beside
from leadline.predict._machine import on
from leadline.run import store


@dataclass(frozen=True)
class Class:
    """A problem of NAS FT: points in each dimension, and iterations."""

    nx: int
    ny: int
    nz: int
    iterations: int

    @property
    def points(self) -> int:
        return self.nx * self.ny * self.nz


CLASSES = {
    "S": Class(64, 64, 64, 6),
    "W": Class(128, 128, 32, 6),
    "A": Class(256, 256, 128, 6),
    "B": Class(512, 256, 256, 20),
    "C": Class(512, 512, 512, 20),
    "D": Class(2048, 1024, 1024, 25),
}
NUMBER = 16  # B, a complex one
PIECES = ("exchange", "slabs", "pencils")
WAYS = ("messages", "put")
DEFAULT = ("exchange", "messages")
KEPT, SUMMED = 64, 48  # B that a point and iteration moves at least, by what becomes of the result
COPIED = 16  # B an update, of which the bound of the Jacobi solver is made
SAME = ("run", "mpi", "stack", "ranks")  # of points that have the same memory
POINT = ("placement", "class", "pieces", "by", "kernel", "result", "depth", "padding", "polls", "iterations")


def messages(problem: Class, ranks: int, pieces: str) -> int:
    """Messages of a process in one transform, to itself as well (table 1, in the dimensions of a class)."""
    counts = {
        "exchange": ranks,
        "slabs": ranks * (problem.nz // ranks),
        "pencils": problem.nx * problem.nz // ranks,
    }
    return counts[pieces]


def volume(problem: Class, ranks: int) -> int:
    """Bytes of a process in one transform, to itself as well: its part of the grid, however it is cut."""
    return NUMBER * problem.points // ranks


def overlap(problem: Class, ranks: int, pieces: str) -> float:
    """Part of a plane's communication that can overlap: all but the first and the last message (table 1).

    Table 1 has it for a cube of n: 1 - 2/n for slabs, 1 - 2 THREADS / n^2 for pencils.
    """
    return 0.0 if pieces == "exchange" else 1 - 2 / messages(problem, ranks, pieces)


def whole(first: float, second: float, iterations: int) -> float:
    """Time of all iterations, s, from the times of a run with one and of a run with two."""
    return first + (iterations - 1) * (second - first)


def totals(records: pl.DataFrame, problem: Class, metric: str = "time") -> dict[tuple[str, str], float]:
    """A metric of the whole benchmark, s, by pieces and way, from runs of one and of two iterations."""
    wanted = (pl.col("benchmark") == "ft") & (pl.col("metric") == metric) & (pl.col("status") == OK)
    found = {
        (row["pieces"], row["by"], row["iterations"]): float(row["samples"][0])
        for row in records.filter(wanted).iter_rows(named=True)
    }
    return {
        (pieces, by): whole(found[pieces, by, 1], found[pieces, by, 2], problem.iterations)
        for pieces in PIECES
        for by in WAYS
        if (pieces, by, 1) in found and (pieces, by, 2) in found
    }


def of_run(rows: Sequence[Row], records: pl.DataFrame) -> list[Row]:
    """What each measured point takes at least by the run's own memory and ping-pong, where it has both."""
    fitted = Fitted(records)
    found = []
    for row in rows:
        if (row["benchmark"], row["metric"]) != ("ft", "time") or not comparable(row):
            continue
        memory, ends = _memory(rows, row), fitted.known(row, ROTATED)
        if memory is None or ends is None:
            continue
        problem = CLASSES[row["class"]]
        many = row["iterations"] or problem.iterations
        moved = (SUMMED if row["result"] == "summed" else KEPT) * problem.points * many
        handed = (1 - 1 / row["ranks"]) * (1 + many)  # transforms, without a rank's own share
        between = ends.time(*(handed * _counted(rows, row, what) for what in ("messages", "bytes")))
        typical, slow, fast = (moved / speed + time for speed, time in zip(memory, between, strict=True))
        found.append({**row, "value": typical, "low": fast, "high": slow})
    return found


def _memory(rows: Sequence[Row], point: Row) -> tuple[float, float, float] | None:
    """Bandwidth of the solver's copy, B/s: typical, slowest and fastest; None where the run has no solver."""
    bounds = [
        row
        for row in rows
        if (row["benchmark"], row["metric"]) == ("jacobi", "bound")
        and comparable(row)
        and _alike(row, point, SAME)
    ]
    if not bounds:
        return None
    largest = max(row["edge"] for row in bounds)  # what no cache holds
    told = [row for row in bounds if row["edge"] == largest]
    typical, slow, fast = (
        COPIED * median(row[end] or row["value"] for row in told) for end in ("value", "low", "high")
    )
    return typical, slow, fast


def _counted(rows: Sequence[Row], point: Row, metric: str) -> float:
    """What the program counted at the same point, of one rank in one transform."""
    counted = (row for row in rows if (row["benchmark"], row["metric"]) == ("ft", metric))
    return float(next(row["value"] for row in counted if _alike(row, point, SAME + POINT)))


def _alike(row: Row, point: Row, names: Sequence[str]) -> bool:
    """Whether two rows agree in so many columns."""
    return all(row.get(name) == point.get(name) for name in names)


OPTIONS = (
    on("itanium2-elan4"),
    Option("class", "Problem size.", default="D", words=tuple(CLASSES)),
    Option("ranks", "Number of processes.", count_from(0), "256", "N"),
    Option("depth", "Receives posted in advance; 0: all receives of a transform.", count_from(0), "0", "N"),
    Option("from", "Compare each point of this run with the lower bound.", store.find, metavar="RUN"),
)
RUN = {
    **{key: Column(key) for key in ("mpi", "ranks", "class", "pieces", "by")},
    "measured": BESIDE["measured"],
    "predicted": replace(BESIDE["predicted"], heading="at least"),
    "error": replace(BESIDE["error"], heading="that is off by"),
}

COLUMNS = {
    "pieces": Column("pieces"),
    "by": Column("by"),
    "messages": Column("messages"),
    "formula": Column("table 1"),
    "bytes": Column("each", "B"),
    "overlap": Column("can overlap", "%", digits=2, worth=0.01),
    "time": Column("time", "s"),
    "waiting": Column("in communication", "s"),
    "speedup": Column("against the default", digits=2),
}


def predict(asked: ModelArguments, simulate: Simulate) -> Prediction:
    """Simulates the class on the machine, every way of handing its planes over; or a run's points."""
    if asked["from"] is not None:
        return _of_run(store.load(asked["from"]))
    problem, ranks = CLASSES[asked["class"]], asked["ranks"]
    if ranks < 2 or problem.nx % ranks or problem.nz % ranks:
        raise UsageError(
            f"class {asked['class']} has {problem.nx} planes of x and {problem.nz} of z, of which each rank "
            f"has equally many, but got --ranks {ranks}: take 2 or more that divide both"
        )
    described = machines.load(asked["on"])
    described.partition(ranks)
    measure = {
        **{"benchmark": "ft", "ranks": ranks, "class": asked["class"], "depth": asked["depth"]},
        **{"pieces": PIECES, "by": WAYS, "iterations": [1, 2]},
    }
    records = simulate(described, [measure])
    return _table(records, asked["class"], ranks)


def _of_run(records: pl.DataFrame) -> Prediction:
    """Measured times of a run and the least; UsageError where it does not tell them."""
    rows = summarise(records).rows(named=True)
    found = beside(of_run(rows, records), rows, ("mpi", "ranks", *POINT[1:]))
    if not found:
        raise UsageError("the run has no ft with a ping-pong and a Jacobi solver on as many ranks beside it")
    return Prediction(found, RUN)


def _table(records: pl.DataFrame, name: str, ranks: int) -> Prediction:
    """A row a way."""
    problem = CLASSES[name]
    times = totals(records, problem)
    parts = {metric: totals(records, problem, metric) for metric in ("initiation", "completion", "barrier")}
    if DEFAULT not in times:
        reasons = [row for row in records["reason"].to_list() if row]
        raise LeadlineError(f"nothing was simulated: {reasons[0] if reasons else 'no point ran'}")
    counted = (pl.col("metric") == "messages") & (pl.col("status") == OK)
    counts = {row["pieces"]: int(row["samples"][0]) for row in records.filter(counted).iter_rows(named=True)}
    rows = []
    for (pieces, by), time in times.items():
        waiting = sum(part[pieces, by] for part in parts.values())
        each = volume(problem, ranks) // counts[pieces]
        rows.append(
            {
                "pieces": pieces,
                "by": by,
                "messages": counts[pieces],
                "formula": messages(problem, ranks, pieces),
                "bytes": each,
                "overlap": overlap(problem, ranks, pieces),
                "time": time,
                "waiting": waiting,
                "speedup": times[DEFAULT] / time,
            }
        )
    return Prediction(rows, COLUMNS, _notes(times))


def _notes(times: Mapping[tuple[str, str], float]) -> list[str]:
    """The best of each kind against the default, and against one another."""
    best = {by: min((time, pieces) for (pieces, each), time in times.items() if each == by) for by in WAYS}
    lines = [
        f"best by {by}: {pieces}, {times[DEFAULT] / time:.2f} times as fast as the default all-to-all"
        for by, (time, pieces) in best.items()
    ]
    ratio = best["messages"][0] / best["put"][0]
    return [*lines, f"one-sided against two-sided, the best of each: {ratio:.2f} times as fast"]
