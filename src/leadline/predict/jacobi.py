"""Predict the 3-D Jacobi solver in weak scaling: million updates per second of all ranks, and the slow-down.

The slow-down is relative to the same number of ranks without communication.

The model is P = L^3 N / (T_s + c / B + k T_l) with c = 16 k L^2 bytes. Each of N ranks has a cube of L^3
points; T_s is the time of a sweep on one core; k is the number of sides exchanged, two for each dimension of
the grid with more than one rank. A side has L^2 numbers of 8 B, sent and received (M. Celoria, report on
ORFEO, 2021, section 3, equations 14 to 16; Hager and Wellein 2010, section 9.3.2).

With --on orfeo-thin or orfeo-gpu, the table also has the measurements of the source; with --simulate, also
the simulated result.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from leadline import machine as machines
from leadline.core import paths
from leadline.core.errors import UsageError
from leadline.core.formatting import Column
from leadline.core.grids import even_grid
from leadline.core.record import Row
from leadline.core.units import parse_rate, parse_time
from leadline.predict import ModelArguments, Option, Prediction, Simulate, count_from
from leadline.predict._beside import COLUMNS as BESIDE
from leadline.predict._jacobi_runs import Compared, compared, expected
from leadline.predict._machine import (
    NODES,
    PLACEMENT,
    SOCKET,
    SOCKETS,
    chosen_placement,
    on,
    serial_rate,
    way,
)
from leadline.predict._simulated import answers, placed
from leadline.run import store

FLOPS, MOVED = 6, 16  # operations and bytes to and from memory of an update; stores bypass the caches
EDGE = 1200  # points, of the source's cubes
MILLION = 1e6

_PLACED = {"serial": SOCKET, "one socket": SOCKET, "two sockets": SOCKETS, "two nodes": NODES}
of_run = expected  # what a report asks for
_ONE_NODE = SOCKETS  # how the rows of hyper-threading were mapped


@dataclass(frozen=True)
class Model:
    """The formula's answer; times in s, volumes in B, rates in updates and bytes a second."""

    edge: int
    grid: tuple[int, int, int]
    serial: float
    latency: float
    bandwidth: float

    @property
    def ranks(self) -> int:
        return prod(self.grid)

    @property
    def sides(self) -> int:
        """Sides that an inner rank swaps, k: two for each dimension that is cut."""
        return 2 * sum(length > 1 for length in self.grid)

    @property
    def halo(self) -> float:
        """Bytes that a rank exchanges a sweep, c."""
        return 16.0 * self.sides * self.edge**2

    @property
    def communication(self) -> float:
        """Time of the exchange, s."""
        return self.halo / self.bandwidth + self.sides * self.latency

    @property
    def performance(self) -> float:
        """Updates a second of all ranks, P."""
        return self.edge**3 * self.ranks / (self.serial + self.communication)

    def slowdown(self, performance: float) -> float:
        """How many times as fast N single ranks would be: N P_1 / P."""
        return self.ranks * self.edge**3 / self.serial / performance


@dataclass(frozen=True)
class Measured:
    """A row of the source's tables IV to XI; rates in updates a second."""

    table: str
    machine: str
    placement: str
    grid: tuple[int, int, int]
    halo: float
    model: float
    measured: float

    @property
    def ranks(self) -> int:
        return prod(self.grid)


def measured() -> list[Measured]:
    """Every row of the source's tables, in their order."""
    path = next(iter(paths.shipped("papers").values())).with_name("orfeo-jacobi.csv")
    with path.open(encoding="utf-8", newline="") as lines:
        return [_measured(row) for row in csv.DictReader(lines)]


def _measured(row: Mapping[str, str]) -> Measured:
    """One line of the file."""
    return Measured(
        table=row["table"],
        machine=f"orfeo-{row['node']}",
        placement=_PLACED.get(row["placement"], _ONE_NODE),
        grid=grid_of(row["grid"]),
        halo=float(row["halo_MB"]) * MILLION,
        model=float(row["model_MLUPs"]) * MILLION,
        measured=float(row["measured_MLUPs"]) * MILLION,
    )


def grid_of(value: str) -> tuple[int, int, int]:
    """A grid of three dimensions as it is written: "3x2x2"."""
    parts = value.split("x")
    if not 1 <= len(parts) <= 3 or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"a grid is written like 3x2x2, but got {value!r}")
    x, y, z = [*map(int, parts), 1, 1][:3]
    return x, y, z


def on_machine(described: machines.Machine, grid: tuple[int, int, int], placement: str, edge: int) -> Model:
    """The model with a described machine's own latency, bandwidth and core."""
    between = way(described, placement)
    serial = edge**3 / serial_rate(described, FLOPS, MOVED)
    return Model(edge, grid, serial, between.latency, between.bandwidth)


OPTIONS = (
    on("orfeo-thin"),
    Option(
        "ranks",
        "Number of ranks, N; this or --grid is needed. Default: the product of --grid.",
        count_from(1),
        metavar="N",
    ),
    Option(
        "grid", "Ranks in each dimension. Default: as near to a cube as N allows.", grid_of, metavar="AxBxC"
    ),
    PLACEMENT,
    Option(
        "edge", "Points along each edge of a rank's cube, L.", count_from(1), default=str(EDGE), metavar="L"
    ),
    Option(
        "serial",
        "Time of a sweep on one core, T_s. Default: from the machine file.",
        parse_time,
        metavar="TIME",
    ),
    Option(
        "latency", "Latency of a message, T_l. Default: from the machine file.", parse_time, metavar="TIME"
    ),
    Option(
        "bandwidth", "Bandwidth of a message, B. Default: from the machine file.", parse_rate, metavar="RATE"
    ),
    Option("simulate", "Also simulate the application jacobi on the machine.", None),
    Option(
        "from", "Compare measured and predicted times of each point of this run.", store.find, metavar="RUN"
    ),
    Option("table", "List every row of the source's tables IV to XI instead of one point.", None),
)

# Units as the source writes them: million updates, and million bytes, a second.
_RATE: dict[str, Any] = {"unit": "MLUPs/s", "digits": 3, "worth": MILLION}
COLUMNS = {
    "from": Column("from"),
    "ranks": Column("N"),
    "grid": Column("grid"),
    "sides": Column("k"),
    "serial": Column("T_s", "s"),
    "halo": Column("c", "MB", digits=3, worth=MILLION),
    "latency": Column("T_l", "µs", digits=2, worth=1 / MILLION),
    "bandwidth": Column("B", "MB/s", digits=0, worth=MILLION),
    "performance": Column("P", **_RATE),
    "slowdown": Column("slow-down", digits=3),
}
TABLE = {
    **{key: Column(key) for key in ("table", "machine", "placement")},
    **{key: COLUMNS[key] for key in ("ranks", "grid", "halo")},
    "source_performance": Column("source's model", **_RATE),
    "performance": Column("model here", **_RATE),
    "measured": Column("measured", **_RATE),
    "ratio": Column("measured / model", digits=3),
}
RUN = {
    "mpi": Column("mpi"),
    "ranks": Column("ranks"),
    "point": Column("edge, scaling, grid, ends, kernel, depth, halo"),
    "measured": Column("measured", "1/s", ("low", "high")),
    "bound": Column("bound by memory", "1/s"),
    "predicted": Column("predicted", "1/s", ("predicted_low", "predicted_high")),
    "error": BESIDE["error"],
}
SIMULATED = {"simulated": Column("simulated", **_RATE), "off": Column("measured / simulated", digits=3)}


def predict(asked: ModelArguments, simulate: Simulate) -> Prediction:
    """The formula's answer at one point, or at every row of the source's tables."""
    if asked["from"] is not None:
        return _of_run(compared(store.load(asked["from"])))
    if asked["table"]:
        return _table(simulate if asked["simulate"] else None)
    described = machines.load(asked["on"])
    grid = _grid(asked["grid"], asked["ranks"])
    ranks = grid[0] * grid[1] * grid[2]
    described.partition(ranks)  # refuses more ranks than there are
    placement = chosen_placement(described, ranks, asked["placement"])
    model = _overridden(described, grid, placement, asked)
    rows = [_row("formula", model, model.performance)]
    notes = []
    if asked["serial"] is None:
        notes.append(
            "T_s is what the machine's arithmetic and memory allow; a measured sweep may take longer."
        )
    if asked["simulate"]:
        _check_own(asked)
        (answer,) = simulated(simulate, described, [(grid, placement)], model.edge)
        if isinstance(answer, str):
            notes.append(f"The simulator gives no answer: {answer}.")
        else:
            rows.append(_row("simulated", model, answer))
    rows += [
        _row(f"measured, table {each.table}", model, each.measured)
        for each in measured()
        if (each.machine, each.grid, each.placement) == (described.name, grid, placement)
        and model.edge == EDGE
    ]
    return Prediction(rows, COLUMNS, notes)


def _check_own(asked: ModelArguments) -> None:
    """UsageError for numbers that the simulator would not take: its answer is of the machine file's."""
    given = [f"--{name}" for name in ("serial", "latency", "bandwidth") if asked[name] is not None]
    if given:
        words = " and ".join(given)
        raise UsageError(f"--simulate takes these numbers from the machine file: leave out {words}")


def simulated(
    simulate: Simulate,
    described: machines.Machine,
    points: Sequence[tuple[tuple[int, int, int], str]],
    edge: int,
) -> list[float | str]:
    """Updates a second of all ranks by the simulator, for grids and placements; or why there is no answer.

    The application with streaming stores, which move as many bytes as T_s counts, blocking exchange and
    periodic ends, so that every rank has as many sides as the formula counts.
    """
    fixed: dict[str, object] = {"edge": edge, "scaling": "weak", "ends": "periodic", "kernel": "streaming"}
    fixed |= {"depth": 1, "halo": "blocking"}
    asked = [
        {**placed(described, placement, prod(grid)), "grid": _told(grid), **fixed}
        for grid, placement in points
    ]
    return answers(simulate, described, "jacobi", "rate", asked)


def _of_run(points: Sequence[Compared]) -> Prediction:
    """Measured, roofline and prediction of each point of a run."""
    rows = [{**asdict(each), "error": each.predicted / each.measured - 1} for each in points]
    return Prediction(rows, RUN)


def _grid(grid: tuple[int, int, int] | None, ranks: int | None) -> tuple[int, int, int]:
    """The grid that is asked for; UsageError where it has other ranks than those asked for."""
    if grid is None:
        if ranks is None:
            raise UsageError("give the ranks with --ranks N, or their grid with --grid AxBxC")
        x, y, z = reversed(even_grid(ranks, 3))
        return x, y, z
    has = grid[0] * grid[1] * grid[2]
    if ranks is not None and ranks != has:
        raise UsageError(f"a grid of {_told(grid)} has {has} ranks, but got --ranks {ranks}")
    return grid


def _overridden(
    described: machines.Machine, grid: tuple[int, int, int], placement: str, asked: ModelArguments
) -> Model:
    """The machine's model, with what the caller knows better in its place."""
    edge: int = asked["edge"]
    latency, bandwidth, serial = asked["latency"], asked["bandwidth"], asked["serial"]
    if latency is None or bandwidth is None:
        between = way(described, placement)
        latency = between.latency if latency is None else latency
        bandwidth = between.bandwidth if bandwidth is None else bandwidth
    if serial is None:
        serial = edge**3 / serial_rate(described, FLOPS, MOVED)
    return Model(edge, grid, serial, latency, bandwidth)


def _row(source: str, model: Model, performance: float) -> Row:
    """One answer to the point."""
    return {
        "from": source,
        "ranks": model.ranks,
        "grid": list(model.grid),
        "sides": model.sides,
        "serial": model.serial,
        "halo": model.halo,
        "latency": model.latency,
        "bandwidth": model.bandwidth,
        "performance": performance,
        "slowdown": model.slowdown(performance),
    }


def _table(simulate: Simulate | None) -> Prediction:
    """Every row of the source's tables: its model, ours from the described machine, and what it measured."""
    described = {name: machines.load(name) for name in ("orfeo-thin", "orfeo-gpu")}
    answered = _simulated_rows(simulate, described) if simulate else {}
    rows = []
    for each in measured():
        model = on_machine(described[each.machine], each.grid, each.placement, EDGE)
        row = _row("formula", model, model.performance)
        ratio = each.measured / model.performance
        facts = {"table": each.table, "machine": each.machine, "placement": each.placement}
        values = {"source_performance": each.model, "measured": each.measured, "ratio": ratio}
        answer = answered.get((each.machine, each.grid, each.placement))
        if isinstance(answer, float):
            values |= {"simulated": answer, "off": each.measured / answer}
        rows.append({**row, **facts, **values})
    worst = max(abs(row["performance"] / row["source_performance"] - 1) for row in rows)
    note = f"The model here differs from the source's by at most {worst:.1e} of it."
    return Prediction(rows, TABLE | SIMULATED if simulate else TABLE, [note])


def _simulated_rows(
    simulate: Simulate,
    described: Mapping[str, machines.Machine],
) -> dict[tuple[str, tuple[int, int, int], str], float | str]:
    """The simulator's answer to every point of the source's tables."""
    found = {}
    for name, machine in described.items():
        points = list(dict.fromkeys((row.grid, row.placement) for row in measured() if row.machine == name))
        for (grid, placement), answer in zip(points, simulated(simulate, machine, points, EDGE), strict=True):
            found[name, grid, placement] = answer
    return found


def _told(grid: tuple[int, int, int]) -> str:
    return "x".join(map(str, grid))
