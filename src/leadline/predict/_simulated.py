"""The simulator's own answer to the points of a model."""

from collections.abc import Mapping, Sequence

from leadline.core.record import OK, Row
from leadline.machine import Machine
from leadline.predict import Simulate
from leadline.predict._machine import NODES, SOCKETS

# Which rank sits where: sockets in turns, nodes in turns, else every core of a socket first.
_MAPPINGS = {SOCKETS: "sockets", NODES: "XT"}
_FIRST = "TX"


def seated(machine: Machine, placement: str, ranks: int) -> dict[str, object]:
    """The keys of a plan that put so many ranks so: partition and mapping."""
    nodes = 2 if placement == NODES else 1
    return {
        "ranks": ranks,
        "partition": max(ranks, nodes * machine.ranks_per_node),
        "mapping": _MAPPINGS.get(placement, _FIRST),
    }


def answers(
    simulate: Simulate, machine: Machine, benchmark: str, metric: str, points: Sequence[Mapping[str, object]]
) -> list[float | str]:
    """The value of a metric at each point, in SI units, or why there is none; no noise, so that it is exact.

    A point has a value for each key of a plan's `[[measure]]` that it sets.
    """
    rows = simulate(machine, [{"benchmark": benchmark, **point} for point in points]).rows(named=True)
    return [_answer(rows, metric, point) for point in points]


def _answer(rows: Sequence[Row], metric: str, point: Mapping[str, object]) -> float | str:
    of_point = [row for row in rows if all(row.get(key) == value for key, value in point.items())]
    for row in of_point:
        if row["status"] == OK and row["metric"] == metric:
            return float(row["samples"][-1])
    return next((str(row["reason"]) for row in of_point if row["reason"]), "it was not simulated")
