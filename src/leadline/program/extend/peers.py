"""What a rank of a communicator is to another one: a root, an offset in a grid, a part of all ranks further.

A relation says who the partner is at any size. `relations` gives all that hold for a set of ranks with their
partners; of several, the first is the likeliest, and the others tell where it is not certain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, floor, isqrt
from typing import NamedTuple, Protocol

from leadline.program.extend.forms import LEAST
from leadline.program.extend.grids import Lengths, coordinates, rank_at

FURTHEST = 3  # steps along an axis, where several numbers of steps lead to the same partners
_CHOICES = 4  # relations to neighbours that are kept; more say no more
_PARTS = tuple(Fraction(ahead, parts) for parts in range(2, 17) for ahead in sorted({1, parts - 1}))
_HALVES = tuple(Fraction(1, parts) for parts in (2, 4, 8))


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
class Further:
    """A part of all ranks further, such as a third of them, rounded down or up; or back, as two thirds.

    `more` ranks beside it; `root` is for their square root in place of a part.
    """

    part: Fraction
    up: bool
    more: int = 0
    root: bool = False

    def __call__(self, place: Place) -> int:
        if self.root:
            ranks = isqrt(place.size - 1) + 1 if self.up else isqrt(place.size)
            ranks = int(ranks * self.part)
        else:
            ranks = (ceil if self.up else floor)(self.part * place.size)
        return (place.rank + ranks + self.more) % place.size


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
    of few ranks one of them holds by chance. Of these all are kept: a half and a quarter are rounded down or
    up, and an exchange of bits is a step where the ranks are a power of two.
    """
    for candidates, most in ((_near(known), _CHOICES), (_far(known), None)):
        found: list[Relation] = []
        for relation in candidates:
            if relation not in found and all(relation(place) == partner for place, partner in known):
                found.append(relation)
                if len(found) == most:
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
    yield from _further(known)


def _further(known: Sequence[tuple[Place, int]]) -> Iterator[Relation]:
    """Parts of the ranks by which all partners may be further, the plainest first.

    What is the same in all recordings is no part of the ranks. Of one or two numbers of ranks too many hold
    by chance, and so they do in grids, whose rows have such lengths: then the plainest alone are known.
    """
    distances = {(place.size, (partner - place.rank) % place.size) for place, partner in known}
    sizes = {size for size, _ in distances}
    constant = min(len({far for _, far in distances}), len({size - far for size, far in distances})) == 1
    if len(sizes) < len(distances) or (constant and len(sizes) > 1):
        return
    if len(sizes) < LEAST or len(known[0][0].lengths) > 1:
        yield from (Further(part, up) for part in _HALVES for up in (False, True))
        return
    for more, part, up in product((0, 1, -1), _PARTS, (False, True)):
        yield Further(part, up, more)
    for sign, up in product((1, -1), (False, True)):
        yield Further(Fraction(sign), up, root=True)


def _steps(known: Sequence[tuple[Place, int]]) -> Iterator[tuple[int, ...]]:
    """The offsets, the shortest first, that every axis allows by itself."""
    if any(not 0 <= partner < place.size for place, partner in known):
        return
    ends = [
        (coordinates(place.rank, place.lengths), coordinates(partner, place.lengths), place.lengths)
        for place, partner in known
    ]
    axes = [
        _steps_along([(other[axis] - own[axis], lengths[axis]) for own, other, lengths in ends])
        for axis in range(len(known[0][0].lengths))
    ]
    yield from sorted(product(*axes), key=lambda steps: [abs(step) for step in steps])


def _steps_along(known: Sequence[tuple[int, int]]) -> list[int]:
    """The numbers of steps that lead from all ranks to their partners, by differences and the axis's length.

    All that are few; else the fewest, forwards or backwards, that are the same in all recordings.
    """
    difference, length = max(known, key=lambda each: each[1])
    forwards = difference % length
    furthest = min(FURTHEST, length - 1)  # all around an axis that has two ranks everywhere is no step
    few = range(-furthest, furthest + 1)
    others = sorted((forwards, forwards - length), key=abs)
    halves = [others] if 2 * forwards == length else [[step] for step in others]
    for steps in (few, *halves):
        found = [step for step in steps if not any((step - each) % around for each, around in known)]
        if found:
            return found
    return []
