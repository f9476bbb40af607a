"""The grid that a program's messages draw, whatever numbers its ranks have.

In a grid two neighbours of a rank lie in different dimensions when another rank is neighbour to both: the
square's opposite sides are parallel. Where there is no such rank the two lie in one line. So the messages
fall into dimensions; what is left without those of one dimension are the layers along it, which stand in a
line or in a ring.
"""

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from leadline.tune.mapping.permutations import symmetric
from leadline.tune.mapping.traffic import Traffic

HEAVY = 0.25  # of the most that two ranks exchange: less is no side of a part of the grid
DIMENSIONS = 6  # more are no grid that anybody computes on

Pair = tuple[int, int]


def recognised(traffic: Traffic) -> tuple[tuple[int, ...], NDArray[np.int64]] | None:
    """The lengths of the grid and the number of each rank in it, the last dimension fastest; None if none."""
    partners = _partners(traffic)
    if not all(1 <= len(each) <= 2 * DIMENSIONS for each in partners):
        return None
    dimensions = _dimensions(partners)
    if len(dimensions) > DIMENSIONS:
        return None
    layers = [_layers(dimension, dimensions, traffic.ranks) for dimension in range(len(dimensions))]
    if any(each is None for each in layers):
        return None
    at = [each for each in layers if each is not None]
    lengths = [int(each.max()) + 1 for each in at]
    if prod(lengths) != traffic.ranks:
        return None
    shortest = np.argsort(lengths, kind="stable")
    grid = tuple(lengths[each] for each in shortest)
    number = np.ravel_multi_index(tuple(at[each] for each in shortest), grid)
    return (grid, number.astype(np.int64)) if len(np.unique(number)) == traffic.ranks else None


def _partners(traffic: Traffic) -> list[set[int]]:
    """The ranks with which each exchanges much."""
    graph = symmetric(traffic, traffic.ranks).tocoo()
    heavy = graph.data >= HEAVY * graph.data.max()
    partners: list[set[int]] = [set() for _ in range(traffic.ranks)]
    for one, other in zip(graph.row[heavy].tolist(), graph.col[heavy].tolist(), strict=True):
        partners[one].add(other)
    return partners


def _dimensions(partners: Sequence[set[int]]) -> list[list[Pair]]:
    """The pairs that exchange, by the dimension in which they are neighbours."""
    pairs = [(one, other) for one, others in enumerate(partners) for other in others if one < other]
    number = {pair: place for place, pair in enumerate(pairs)}
    alike: list[Pair] = []

    def place(one: int, other: int) -> int:
        return number[min(one, other), max(one, other)]

    for corner, others in enumerate(partners):
        for one, other in combinations(others, 2):
            squares = (partners[one] & partners[other]) - {corner}
            if not squares:
                alike.append((place(corner, one), place(corner, other)))
            for opposite in squares:
                alike.append((place(corner, one), place(other, opposite)))
                alike.append((place(corner, other), place(one, opposite)))
    _, kind = _components(alike, len(pairs))
    found: dict[int, list[Pair]] = {}
    for pair, each in zip(pairs, kind.tolist(), strict=True):
        found.setdefault(each, []).append(pair)
    return list(found.values())


def _layers(dimension: int, dimensions: Sequence[list[Pair]], ranks: int) -> NDArray[np.int64] | None:
    """The place of each rank along a dimension; None where its layers stand in no line and in no ring."""
    others = [pair for each, pairs in enumerate(dimensions) if each != dimension for pair in pairs]
    count, layer = _components(others, ranks)
    beside: list[set[int]] = [set() for _ in range(count)]
    for one, other in dimensions[dimension]:
        if layer[one] == layer[other]:
            return None
        beside[layer[one]].add(int(layer[other]))
        beside[layer[other]].add(int(layer[one]))
    if any(not 1 <= len(each) <= 2 for each in beside):
        return None
    first = next((each for each, others_ in enumerate(beside) if len(others_) == 1), int(layer[0]))
    order, before = [first], -1
    while next_ := [each for each in sorted(beside[order[-1]]) if each not in (before, first)]:
        before = order[-1]
        order.append(next_[0])
    if len(order) != count:
        return None
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    return np.asarray(place[layer], dtype=np.int64)


def _components(pairs: Sequence[Pair], count: int) -> tuple[int, NDArray[np.int32]]:
    """How many groups the pairs join so many things into, and the group of each."""
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    graph = coo_matrix((np.ones(len(rows)), (rows[:, 0], rows[:, 1])), shape=(count, count))
    found, kind = connected_components(graph, directed=False)
    return int(found), kind
