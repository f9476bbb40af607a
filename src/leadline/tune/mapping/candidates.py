"""Mappings that follow a rule: orders of axes, and tilings that lay a grid of ranks over the axes.

A tiling gives each axis of the machine, and the cores of a node, to the dimensions of the ranks' grid: whole,
or in two parts of which one dimension walks the near places and another the far ones. A dimension walks
through its parts like the digits of a number, turning round at the end of each, so that its neighbours stay
neighbours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from leadline.machine.rank_mapping import Placements, in_order, letters, nodes_of
from leadline.machine.topologies import Nodes
from leadline.tune.mapping.costs import PartitionDistances
from leadline.tune.mapping.traffic import Traffic, fits

ORDER, TILING, PERMUTATION = "order", "tiling", "permutation"


@dataclass(frozen=True)
class Candidate:
    """A mapping: what it is called, and which slot each rank has, from the first node's first core on."""

    kind: str
    name: str
    slots: NDArray[np.int64]

    def digest(self) -> bytes:
        """What tells it from others, in few bytes."""
        return sha256(self.slots.tobytes()).digest()

    def nodes(self, distances: PartitionDistances) -> Nodes:
        """The node of each rank."""
        return self.slots // distances.per_node

    def places(self, distances: PartitionDistances) -> Placements:
        """The coordinates of each rank's node, and its core."""
        core = (self.slots % distances.per_node)[:, None]
        rows: Placements = np.hstack([distances.coordinates(self.nodes(distances)), core]).astype(np.int32)
        return rows


def order(name: str, distances: PartitionDistances, ranks: int) -> Candidate:
    """An order of axes."""
    places = in_order(name, distances.topology, distances.per_node, ranks)
    slots = nodes_of(places, distances.topology) * distances.per_node + places[:, -1]
    return Candidate(ORDER, name, slots)


def orders(distances: PartitionDistances, ranks: int) -> Iterator[Candidate]:
    """All orders of the axes; those that say the same, since an axis is of length 1, once."""
    known: set[bytes] = set()
    for names in permutations(letters(distances.topology)):
        found = order("".join(names), distances, ranks)
        if (told := found.digest()) not in known:
            known.add(told)
            yield found


@dataclass(frozen=True)
class _Part:
    """A part of a level: of which dimension, so many places, each so many apart."""

    level: int
    dimension: int
    places: int
    apart: int


def tilings(distances: PartitionDistances, traffic: Traffic) -> Iterator[Candidate]:
    """The tilings that fill the partition with the ranks' grid, those that divide fewest axes first."""
    levels = distances.levels
    if not fits(traffic) or prod(levels) != traffic.ranks:
        return
    dimensions = range(len(traffic.grid))
    choices = [list(_divisions(level, side, dimensions)) for level, side in enumerate(levels)]
    whole = [each for each in product(*choices) if _covers(each, traffic.grid)]
    whole.sort(key=lambda parts: sum(len(each) for each in parts))
    known: set[bytes] = set()
    axes = range(1, len(levels)) if distances.is_grid else [1]
    for parts in whole:
        for first in permutations(axes) if distances.is_grid else [tuple(range(1, len(levels)))]:
            found = _tiling(distances, traffic.grid, [part for level in (0, *first) for part in parts[level]])
            if (told := found.digest()) not in known:
                known.add(told)
                yield found


def _divisions(level: int, side: int, dimensions: Sequence[int]) -> Iterator[tuple[_Part, ...]]:
    """A level whole to one dimension, or shared by two."""
    if side == 1:
        yield ()
        return
    for dimension in dimensions:
        yield (_Part(level, dimension, side, 1),)
    for near, far in permutations(dimensions, 2):
        for places in range(2, side):
            if side % places == 0:
                yield (_Part(level, near, places, 1), _Part(level, far, side // places, places))


def _covers(parts: Sequence[tuple[_Part, ...]], grid: Sequence[int]) -> bool:
    made = [1] * len(grid)
    for part in (part for each in parts for part in each):
        made[part.dimension] *= part.places
    return made == list(grid)


def _tiling(distances: PartitionDistances, grid: Sequence[int], parts: Sequence[_Part]) -> Candidate:
    """The mapping that walks through the parts in their order, the first fastest."""
    at = np.unravel_index(np.arange(prod(grid), dtype=np.int64), tuple(grid))
    rest = [np.asarray(each, dtype=np.int64) for each in at]
    places = np.zeros((len(distances.levels), prod(grid)), dtype=np.int64)
    names = _names(distances)
    told: list[list[str]] = [[] for _ in grid]
    for part in parts:
        digit, rest[part.dimension] = rest[part.dimension] % part.places, rest[part.dimension] // part.places
        turned = np.where(rest[part.dimension] % 2 == 1, part.places - 1 - digit, digit)
        places[part.level] += part.apart * turned
        word = f"{names[part.level]}{part.places}" + (f"/{part.apart}" if part.apart > 1 else "")
        told[part.dimension].append(word)
    slots = _node(distances, places[1:]) * distances.per_node + places[0]
    return Candidate(TILING, " by ".join("".join(each) or "1" for each in reversed(told)), slots)


def _names(distances: PartitionDistances) -> list[str]:
    """A letter for each level: T for cores, then axes, or switches upwards."""
    return ["T", *letters(distances.topology)[:-1]] if distances.is_grid else list("TNSRQPO")


def _node(distances: PartitionDistances, places: NDArray[np.int64]) -> Nodes:
    """The nodes at places on all levels but the cores."""
    if distances.is_grid:
        return np.asarray(np.ravel_multi_index(tuple(places), distances.sides), dtype=np.int64)
    node, below = np.zeros(places.shape[1], dtype=np.int64), 1
    for level, side in zip(places, distances.levels[1:], strict=True):
        node += below * level
        below *= side
    return node
