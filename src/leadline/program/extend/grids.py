"""Grids that a number of ranks may stand for, and ranks of a grid that do the same."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache

from leadline.core.grids import even_grid

Lengths = tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """The lengths of a grid of so many ranks, the last axis fastest."""

    dimensions: int
    longest_first: bool  # as MPI_Dims_create has it

    def __call__(self, ranks: int) -> Lengths:
        """The lengths for a number of ranks."""
        lengths = even_grid(ranks, self.dimensions)
        return lengths[::-1] if self.longest_first else lengths


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


@dataclass(frozen=True)
class Grouping:
    """Which ranks do the same: those of one key."""

    name: str
    key: Callable[[int, Lengths], Hashable]


def _edges(rank: int, lengths: Lengths) -> tuple[tuple[bool, bool], ...]:
    places = coordinates(rank, lengths)
    return tuple((place == 0, place == length - 1) for place, length in zip(places, lengths, strict=True))


def _last(rank: int, lengths: Lengths) -> bool:
    return _edges(rank, lengths) == tuple((length == 1, True) for length in lengths)


GROUPINGS = (
    Grouping("all ranks alike", lambda rank, lengths: ()),
    Grouping("rank 0 apart", lambda rank, lengths: rank == 0),
    Grouping("even and odd ranks", lambda rank, lengths: rank % 2),
    Grouping("edges of the grid", _edges),
    Grouping("edges of the grid, rank 0 apart", lambda rank, lengths: (rank == 0, _edges(rank, lengths))),
    Grouping(
        "edges of the grid, even and odd places",
        lambda rank, lengths: (
            _edges(rank, lengths),
            tuple(place % 2 for place in coordinates(rank, lengths)),
        ),
    ),
    Grouping(
        "first and last rank apart, even and odd ranks",
        lambda rank, lengths: (rank == 0, _last(rank, lengths), rank % 2),
    ),
)
