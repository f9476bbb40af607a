"""Which ranks a new communicator has: those of a row, column or plane of a grid, or of a block."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import isqrt
from typing import NamedTuple, Protocol

from leadline.program.extend.grids import Lengths, coordinates, rank_at
from leadline.program.extend.peers import Place

_DIVISORS = range(2, 17)  # of the ranks: so many blocks


class Known(NamedTuple):
    """The ranks of a communicator that a rank of a recording came to."""

    rank: int
    lengths: Lengths  # of the recording's grid
    members: Sequence[int]


class Part(Protocol):
    """Which ranks are in a rank's communicator."""

    def key(self, rank: int, lengths: Lengths) -> Hashable:
        """What ranks of one communicator have in common."""

    def members(self, rank: int, lengths: Lengths) -> tuple[int, ...] | range:
        """The ranks, in their order."""

    def place(self, rank: int, lengths: Lengths) -> Place:
        """The rank's place among them."""


@dataclass(frozen=True)
class Row:
    """Ranks that differ along some axes alone; of no axis each is by itself."""

    axes: tuple[int, ...]

    def key(self, rank: int, lengths: Lengths) -> Hashable:
        own = coordinates(rank, lengths)
        return tuple(place for axis, place in enumerate(own) if axis not in self.axes)

    def members(self, rank: int, lengths: Lengths) -> tuple[int, ...] | range:
        if len(self.axes) == len(lengths):
            return range(_count(lengths))
        own = coordinates(rank, lengths)
        ranges: list[Sequence[int]] = [
            range(length) if axis in self.axes else [own[axis]] for axis, length in enumerate(lengths)
        ]
        return tuple(rank_at(places, lengths) for places in product(*ranges))

    def place(self, rank: int, lengths: Lengths) -> Place:
        own = coordinates(rank, lengths)
        inside = tuple(lengths[axis] for axis in self.axes)
        return Place(rank_at(tuple(own[axis] for axis in self.axes), inside), _count(inside), inside)


@dataclass(frozen=True)
class Blocks:
    """Ranks of a block, one after another, or each with the same place in its block.

    A block has `width` ranks, or where `parts` is given that part of all; where neither, as many as the root
    of the ranks says. The last block may have fewer.
    """

    across: bool
    width: int = 0
    parts: int = 0

    def _width(self, lengths: Lengths) -> int:
        ranks = _count(lengths)
        return self.width or max(ranks // self.parts if self.parts else isqrt(ranks), 1)

    def key(self, rank: int, lengths: Lengths) -> Hashable:
        width = self._width(lengths)
        return rank % width if self.across else rank // width

    def members(self, rank: int, lengths: Lengths) -> tuple[int, ...] | range:
        width, ranks = self._width(lengths), _count(lengths)
        if self.across:
            return range(rank % width, ranks, width)
        first = rank - rank % width
        return range(first, min(first + width, ranks))

    def place(self, rank: int, lengths: Lengths) -> Place:
        members = self.members(rank, lengths)
        return Place(members.index(rank), len(members), (len(members),))


def parts_of(known: Sequence[Known]) -> list[Part]:
    """All that hold for these ranks, the likeliest first."""
    return [
        part
        for part in _candidates(known)
        if all(tuple(part.members(each.rank, each.lengths)) == tuple(each.members) for each in known)
    ]


def _candidates(known: Sequence[Known]) -> Iterator[Part]:
    dimensions = len(known[0].lengths)
    for count in range(dimensions, -1, -1):
        yield from (Row(axes) for axes in combinations(range(dimensions), count))
    members = known[-1].members
    if len(members) < 2:
        return
    if any(len(each.members) < _count(each.lengths) for each in known):  # or it has all, however many
        yield Blocks(across=False, width=len(members))
    yield Blocks(across=True, width=members[1] - members[0])
    fewest = min(_count(each.lengths) for each in known)
    for across in (False, True):
        yield from (Blocks(across, parts=parts) for parts in _DIVISORS if 2 * parts <= fewest)
        yield Blocks(across)


def _count(lengths: Lengths) -> int:
    ranks = 1
    for length in lengths:
        ranks *= length
    return ranks
