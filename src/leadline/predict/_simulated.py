"""The simulator's own answer to the points of a model."""

from collections.abc import Mapping, Sequence

from leadline.core.record import OK, Row
from leadline.machine import Machine
from leadline.machine.rank_mapping import letters
from leadline.predict import Simulate
from leadline.predict._machine import NODES, SOCKETS


def placed(machine: Machine, placement: str, ranks: int) -> dict[str, object]:
    """The keys of a plan that put so many ranks so: partition and mapping.

    Sockets in turns, nodes in turns along the axes of their grid, else every core of a socket first.
    """
    nodes = 2 if placement == NODES else 1
    axes = letters(machine.partition(1))
    mappings = {SOCKETS: "sockets", NODES: axes}
    return {
        "ranks": ranks,
        "partition": max(ranks, nodes * machine.ranks_per_node),
        "mapping": mappings.get(placement, f"T{axes[:-1]}"),
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
