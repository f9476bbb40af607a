"""What a rank of a communicator is to another one: a root, an offset in a grid, an exchange of bits.

A relation says who the partner is at any size. `relations` gives all that hold for a set of ranks with their
partners; of several, the first is the likeliest, and the others tell where it is not certain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, Protocol

from leadline.program.extend.grids import Lengths, coordinates, rank_at

FURTHEST = 3  # steps along an axis
_CHOICES = 4  # relations that are kept; more say no more


class Place(NamedTuple):
    """A rank of a communicator whose ranks stand in a grid."""

    rank: int
    size: int
    lengths: Lengths


class Relation(Protocol):
    """Who the partner of a rank is."""

    def __call__(self, place: Place) -> int:
        """The partner's rank in the communicator; below 0 where there is none."""


@dataclass(frozen=True)
class Constant:
    """The same rank for all, such as a root."""

    rank: int

    def __call__(self, place: Place) -> int:
        return self.rank


@dataclass(frozen=True)
class FromEnd:
    """The last rank of all, or one before it."""

    back: int

    def __call__(self, place: Place) -> int:
        return place.size - 1 - self.back


@dataclass(frozen=True)
class Offset:
    """So many steps along the axes of the grid, which closes on itself."""

    steps: tuple[int, ...]

    def __call__(self, place: Place) -> int:
        own = coordinates(place.rank, place.lengths)
        return rank_at(tuple(a + b for a, b in zip(own, self.steps, strict=True)), place.lengths)


@dataclass(frozen=True)
class Fraction:
    """A part of all ranks further: half of them, a quarter."""

    parts: int

    def __call__(self, place: Place) -> int:
        return (place.rank + place.size // self.parts) % place.size


@dataclass(frozen=True)
class Exchange:
    """The rank with other bits; `parts` counts them from the highest: half of the ranks away, a quarter."""

    bits: int = 0
    parts: int = 0

    def __call__(self, place: Place) -> int:
        return place.rank ^ (place.size // self.parts if self.parts else self.bits)


@dataclass(frozen=True)
class Transposed:
    """The rank with the coordinates in the other order."""

    def __call__(self, place: Place) -> int:
        return rank_at(coordinates(place.rank, place.lengths)[::-1], place.lengths[::-1])


def relations(known: Sequence[tuple[Place, int]]) -> list[Relation]:
    """The relations that hold for all these ranks and partners, the likeliest first.

    Exchanges of bits and the like are looked for where no neighbour, root or last rank explains the partners:
    of few ranks one of them holds by chance.
    """
    for candidates in (_near(known), _far(known)):
        found: list[Relation] = []
        for relation in candidates:
            if relation not in found and all(relation(place) == partner for place, partner in known):
                found.append(relation)
                if len(found) == _CHOICES:
                    break
        if found:
            return found
    return []


def _near(known: Sequence[tuple[Place, int]]) -> Iterator[Relation]:
    place, partner = known[-1]  # of the largest recording
    yield Constant(partner)
    if partner >= 0:
        yield from (Offset(steps) for steps in _steps(known))
        yield FromEnd(place.size - 1 - partner)


def _far(known: Sequence[tuple[Place, int]]) -> Iterator[Relation]:
    place, partner = known[-1]
    if partner < 0:
        return
    yield Transposed()
    yield Exchange(bits=place.rank ^ partner)
    for parts in (2, 4, 8):
        yield Exchange(parts=parts)
        yield Fraction(parts)


def _steps(known: Sequence[tuple[Place, int]]) -> Iterator[tuple[int, ...]]:
    """The offsets, the shortest first, that every axis allows by itself."""
    dimensions = len(known[0][0].lengths)
    allowed = [set(range(-FURTHEST, FURTHEST + 1)) for _ in range(dimensions)]
    for place, partner in known:
        if not 0 <= partner < place.size:
            return
        own, other = coordinates(place.rank, place.lengths), coordinates(partner, place.lengths)
        for axis, length in enumerate(place.lengths):
            allowed[axis] &= {
                step for step in allowed[axis] if (own[axis] + step - other[axis]) % length == 0
            }
    yield from sorted(product(*allowed), key=lambda steps: [abs(step) for step in steps])
