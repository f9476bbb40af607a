"""What a mapping costs by two cheap measures: bytes times hops, and bytes over the busiest link."""

from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from leadline.machine.rank_mapping import lengths
from leadline.machine.topologies import Nodes, kind_of
from leadline.machine.topologies.grid import Grid
from leadline.tune.mapping.traffic import Traffic


@dataclass(frozen=True)
class Cost:
    """Of a mapping: bytes times the hops that they make, and the bytes over the busiest link."""

    hop_bytes: float
    busiest: float

    def over(self, other: "Cost") -> float:
        """The mean of the two as parts of another mapping's; 1 where they are alike."""
        parts = [
            mine / its
            for mine, its in ((self.hop_bytes, other.hop_bytes), (self.busiest, other.busiest))
            if its
        ]
        return sum(parts) / len(parts) if parts else 1.0


@dataclass(frozen=True)
class PartitionDistances:
    """The nodes of a partition, and how far they are from each other."""

    topology: dict[str, object]
    per_node: int
    sides: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        """The lengths of the axes."""
        object.__setattr__(self, "sides", tuple(lengths(self.topology)))

    @property
    def nodes(self) -> int:
        return prod(self.sides)

    @property
    def slots(self) -> int:
        """Places for ranks."""
        return self.nodes * self.per_node

    @property
    def is_grid(self) -> bool:
        """Whether nodes stand in a grid."""
        return kind_of(self.topology).grid

    @cached_property
    def levels(self) -> list[int]:
        """The lengths of what a place is made of, fastest first: cores, then axes, or switches upwards."""
        return [self.per_node, *kind_of(self.topology).levels(self.topology)]

    def hops(self, here: Nodes, there: Nodes) -> NDArray[np.int64]:
        """Hops between nodes; 0 where a node is its own."""
        return kind_of(self.topology).hops(self.topology, here, there)

    def coordinates(self, nodes: Nodes) -> NDArray[np.int64]:
        """The places of nodes on the axes, a row a node."""
        return np.stack(np.unravel_index(nodes, self.sides), axis=-1).astype(np.int64)

    def offsets(self, here: NDArray[np.int64], there: NDArray[np.int64], axis: int) -> NDArray[np.int64]:
        """Steps along an axis, signed, the short way round where there is one."""
        grid = kind_of(self.topology)
        assert isinstance(grid, Grid)
        return grid.steps(here, there, self.sides[axis])


def cost(distances: PartitionDistances, traffic: Traffic, nodes: Nodes) -> Cost:
    """What a mapping costs; `nodes` is the node of each rank."""
    here, there = nodes[traffic.source], nodes[traffic.target]
    hops = distances.hops(here, there)
    away = hops > 0
    out = np.bincount(here[away], traffic.bytes[away], distances.nodes)
    into = np.bincount(there[away], traffic.bytes[away], distances.nodes)
    busiest = max(out.max(initial=0.0), into.max(initial=0.0))
    if distances.is_grid:
        busiest = _busiest(distances, here[away], there[away], traffic.bytes[away])
    return Cost(float((hops * traffic.bytes).sum()), float(busiest))


def _busiest(distances: PartitionDistances, here: Nodes, there: Nodes, size: NDArray[np.float64]) -> float:
    """Bytes over the busiest link of a grid, each message along one axis after the other, in their order."""
    at, goal = distances.coordinates(here), distances.coordinates(there)
    most = 0.0
    for axis, side in enumerate(distances.sides):
        steps = distances.offsets(at[:, axis], goal[:, axis], axis)
        for sign in (1, -1):
            moves = sign * steps > 0
            # The links that are passed, as places on the axis from `first` on, upwards.
            first = at[moves, axis] if sign > 0 else (at[moves, axis] + steps[moves] + 1) % side
            line = at[moves].copy()
            line[:, axis] = 0
            row = np.ravel_multi_index(tuple(line.T), distances.sides) if len(line) else np.zeros(0, np.int64)
            most = max(most, _heaviest(row, first, np.abs(steps[moves]), size[moves], side))
        at[:, axis] = goal[:, axis]
    return most


def _heaviest(
    row: NDArray[np.int64],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    size: NDArray[np.float64],
    side: int,
) -> float:
    """The largest sum on a place of a ring, where each lies on `count` places from `first` on."""
    if len(row) == 0:
        return 0.0
    names, at = np.unique(row, return_inverse=True)
    last = first + count
    change = np.zeros(len(names) * 2 * side + 1)
    base = at * 2 * side
    np.add.at(change, base + first, size)
    np.subtract.at(change, base + last, size)
    sums = np.cumsum(change[:-1]).reshape(len(names), 2, side).sum(axis=1)
    return float(sums.max())
