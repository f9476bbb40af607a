"""Grids that a number of ranks may stand for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import prod

from leadline.core.grids import even_grid

Lengths = tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """The lengths of a grid of so many ranks, the last axis fastest."""

    dimensions: int
    longest_first: bool  # as MPI_Dims_create has it

    def __call__(self, ranks: int) -> Lengths:
        """The lengths for a number of ranks."""
        return _lengths(ranks, self.dimensions, self.longest_first)


@lru_cache(maxsize=1024)
def _lengths(ranks: int, dimensions: int, longest_first: bool) -> Lengths:
    lengths = even_grid(ranks, dimensions)
    return lengths[::-1] if longest_first else lengths


RULES = (Rule(1, False), Rule(2, False), Rule(3, False), Rule(2, True), Rule(3, True))


@lru_cache(maxsize=1024)  # asked again and again of one rank
def coordinates(rank: int, lengths: Lengths) -> Lengths:
    """The place of a rank."""
    places = []
    for length in reversed(lengths):
        places.append(rank % length)
        rank //= length
    return tuple(reversed(places))


def rank_at(places: Lengths, lengths: Lengths) -> int:
    """The rank at a place, which is taken modulo the lengths."""
    rank = 0
    for place, length in zip(places, lengths, strict=True):
        rank = rank * length + place % length
    return rank


def lengths_at(rule: Rule, recorded: Sequence[int], ranks: int) -> list[Lengths]:
    """The grids that so many ranks may have, the one of the rule first.

    A length that is the same in all recordings may stay so, as with rows of the cores of a node.
    """
    found = [rule(ranks)]
    grids = [rule(each) for each in recorded]
    same = [axis for axis in range(rule.dimensions) if len({grid[axis] for grid in grids}) == 1]
    for count in range(1, min(len(same), rule.dimensions - 1) + 1):
        for axes in combinations(same, count):
            kept = {axis: grids[0][axis] for axis in axes}
            rest, over = divmod(ranks, prod(kept.values()))
            if over:
                continue
            others = iter(Rule(rule.dimensions - count, rule.longest_first)(rest))
            grid = tuple(kept[axis] if axis in kept else next(others) for axis in range(rule.dimensions))
            # Of several lengths that stay, those that keep the order of the others, or all of them.
            ordered = list(grid) == sorted(grid, reverse=rule.longest_first)
            if grid not in found and (ordered or count == len(same)):
                found.append(grid)
    return found
