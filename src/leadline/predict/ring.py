"""Predict the ring application: time of a turn, and latency from its slope over the number of ranks.

In a turn of N ranks, each rank passes on two messages in each of N steps, so T = a + 2 N T_l. T_l is the
latency between the farthest neighbours, which hold up all others, and a is the part that does not
grow with N, taken as 0 where no run has it (M. Celoria, report on ORFEO, 2021, section 1 A). 2 N T_l
is a turn whose way is in-turn, as the benchmark ring calls it; at-once the two messages of a step are
under way together. Neighbours are ranks that follow one another, and the last and the first, in the
usual mapping of the smallest partition.

With --from, Leadline fits straight lines to the turns of a measured or simulated run; an information
criterion chooses how many. The table lists half of each slope, and the latency of the run's ping-pong.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline import machine as machines
from leadline.analysis.bootstrap import bounds, drawn_medians
from leadline.analysis.estimates import launch_estimates, series_columns
from leadline.analysis.fits.piecewise import pieces_of
from leadline.analysis.segments import SHORTEST, lines
from leadline.core.errors import UsageError
from leadline.core.formatting import Column
from leadline.core.record import OK, Row
from leadline.machine import Machine
from leadline.machine.rank_mapping import in_order, nodes_of, usual
from leadline.machine.topologies import kind_of
from leadline.predict import ModelArguments, Option, Prediction, Simulate, count_from
from leadline.predict._asymptotic import Fitted, comparable
from leadline.predict._machine import on, placements, way
from leadline.predict._simulated import answers
from leadline.run import store

Array = NDArray[np.float64]

SMALL = 8  # B, of the messages of which the latency is told
WAYS = ("in-turn", "at-once")  # of a step's two messages


@dataclass(frozen=True)
class Piece:
    """A straight part of the time of a turn over the number of ranks; `latency` is half its slope, s."""

    first: int
    last: int
    latency: float
    low: float | None = None
    high: float | None = None


def pieces(ranks: Sequence[int], medians: Array) -> list[Piece]:
    """The pieces of times of a turn, (launches, numbers of ranks) in s, NaN where not measured.

    Their number and places are found as `leadline.analysis.fits.piecewise` does it; a piece has 3 numbers
    or more.
    """
    x, y = np.asarray(ranks, dtype=np.float64), np.nanmedian(medians, axis=0)
    starts = pieces_of(x, y)
    slope = lines(x[None], y[None], starts[None])[1][0]
    launches = int(np.median(np.isfinite(medians).sum(axis=0)))
    drawn = None
    if launches > 1:
        draws = drawn_medians(medians)
        many = np.broadcast_to(starts, (len(draws), starts.size))
        drawn = lines(np.broadcast_to(x, draws.shape), draws, many)[1]
    ends = [*starts[1:], x.size]
    found = []
    for i, (first, end) in enumerate(zip(starts, ends, strict=True)):
        low, high = (None, None) if drawn is None else bounds(drawn[:, i] / 2, launches)
        found.append(Piece(int(x[first]), int(x[end - 1]), float(slope[i]) / 2, low, high))
    return found


def turns(records: pl.DataFrame) -> Iterator[tuple[dict[str, object], list[Piece]]]:
    """What tells each series of a ring of small messages from another, and its pieces."""
    if not {"bytes", "way"} <= set(records.columns):
        return
    wanted = (pl.col("benchmark") == "ring") & (pl.col("metric") == "time") & (pl.col("bytes") == SMALL)
    table = launch_estimates(
        records.filter(wanted & (pl.col("status") == OK)).with_columns(pl.col("launch").fill_null(0))
    )
    by = [name for name in series_columns(records) if name not in ("ranks", "partition")]
    for part in table.partition_by(by, maintain_order=True):
        ranks, ordinals = (part.get_column(name).unique().sort() for name in ("ranks", "launch"))
        if len(ranks) < SHORTEST:
            continue
        medians = np.full((len(ordinals), len(ranks)), np.nan)
        row, column = ordinals.search_sorted(part["launch"]), ranks.search_sorted(part["ranks"])
        medians[row.to_numpy(), column.to_numpy()] = part["median"].to_numpy()
        yield part.select(by).row(0, named=True), pieces(ranks.to_list(), medians)


def of_run(rows: Sequence[Row], records: pl.DataFrame) -> list[Row]:
    """Time of a turn at each measured point by the latency and bandwidth of the run's own ping-pong.

    In turn 2 N messages one after the other; at once each step's two share one latency.
    """
    fitted = Fitted(records)
    found = []
    for row in rows:
        if (row["benchmark"], row["metric"]) != ("ring", "time") or not comparable(row):
            continue
        messages = row["ranks"] * (1 if row["way"] == "at-once" else 2)
        if ends := fitted.known(row):
            typical, slow, fast = ends.time(messages, 2 * row["ranks"] * row["bytes"])
            found.append({**row, "value": typical, "low": fast, "high": slow})
    return found


def _run(value: str) -> Path:
    return store.find(value)


OPTIONS = (
    on("orfeo-thin"),
    Option("ranks", "Number of ranks, N; needed without --from.", count_from(2), metavar="N"),
    Option("simulate", "Also simulate the benchmark ring on the machine, both ways.", None),
    Option("from", "Fit the ring of this run, and list its ping-pong.", _run, metavar="RUN"),
)

COLUMNS = {
    "from": Column("from"),
    "ranks": Column("N"),
    "time": Column("time of a turn", "s"),
    "latency": Column("T_l", "s", ("low", "high")),
}


def predict(asked: ModelArguments, simulate: Simulate) -> Prediction:
    """A described machine's ring, or the pieces of a run's."""
    if asked["from"] is not None:
        return _found(store.load(asked["from"]))
    if asked["ranks"] is None:
        raise UsageError("give the ranks of the ring with --ranks N, or a run with --from RUN")
    described = machines.load(asked["on"])
    farthest = _farthest(described, asked["ranks"])
    rows = []
    there = placements(described, asked["ranks"])
    for placement in there:
        latency = way(described, placement, farthest).latency
        time = 2 * asked["ranks"] * latency if placement == there[-1] else None
        rows.append(_row(f"formula, {placement}", asked["ranks"], latency, time=time))
    notes = []
    if asked["simulate"]:
        size = {"ranks": asked["ranks"], "partition": asked["ranks"], "bytes": SMALL}
        points = [{**size, "way": each} for each in WAYS]
        for each, answer in zip(WAYS, answers(simulate, described, "ring", "time", points), strict=True):
            if isinstance(answer, str):
                notes.append(f"The simulator gives no answer, {each}: {answer}.")
            else:
                rows.append(_row(f"simulated, {each}", asked["ranks"], None, time=answer))
    return Prediction(rows, COLUMNS, notes)


def _farthest(machine: Machine, ranks: int) -> int:
    """The links between the nodes of those two ranks next to each other that are farthest apart."""
    topology = machine.partition(ranks)
    placed = in_order(usual(topology), topology, machine.ranks_per_node, ranks)
    nodes = nodes_of(placed, topology)
    return int(kind_of(topology).hops(topology, nodes, np.roll(nodes, -1)).max())


def _found(records: pl.DataFrame) -> Prediction:
    """The pieces of the rings of a run, and its ping-pongs of as many bytes."""
    rows = []
    for keys, each in turns(records):
        name = f"ring, {keys['mpi']}, {keys['way']}"
        rows += [_row(name, f"{p.first}-{p.last}", p.latency, low=p.low, high=p.high) for p in each]
    if not rows:
        raise UsageError(f"the run has no ring of {SMALL} B at {SHORTEST} numbers of ranks or more")
    wanted = (
        (pl.col("benchmark") == "pingpong") & (pl.col("metric") == "latency") & (pl.col("bytes") == SMALL)
    )
    latencies = launch_estimates(records.filter(wanted))
    for part in latencies.partition_by("mpi", "placement", maintain_order=True):
        medians = part["median"].to_numpy()[:, None]
        low, high = bounds(drawn_medians(medians)[:, 0], len(medians)) if len(medians) > 1 else (None, None)
        name = f"ping-pong, {part['mpi'][0]}, {part['placement'][0]}"
        rows.append(_row(name, 2, float(np.median(medians)), low=low, high=high))
    return Prediction(rows, COLUMNS)


def _row(
    source: str,
    ranks: int | str,
    latency: float | None,
    *,
    low: float | None = None,
    high: float | None = None,
    time: float | None = None,
) -> Row:
    """A line of the table: `ranks` is a number, or the first and the last of a piece; times in s."""
    return {"from": source, "ranks": ranks, "latency": latency, "low": low, "high": high, "time": time}
