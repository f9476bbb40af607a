"""What a rank of a communicator is to another one: a root, an offset in a grid, a part of all ranks further.

A relation says who the partner is at any size. `relations` gives all that hold for a set of ranks with their
partners; of several, the first is the likeliest, and the others tell where it is not certain.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, floor, isqrt
from typing import NamedTuple, Protocol

from leadline.program.extend.forms import LEAST
from leadline.program.extend.grids import Lengths, coordinates, rank_at

FURTHEST = 3  # steps along an axis, where several numbers of steps lead to the same partners
_PARTS = tuple(Fraction(ahead, parts) for parts in range(2, 17) for ahead in sorted({1, parts - 1}))
_PLAIN = 4  # parts of the ranks that may be a rank more, or less
_MIDDLES = tuple(Fraction(1, parts) for parts in (2, 3, 4))
_HALVES = tuple(Fraction(1, parts) for parts in (2, 4, 8))


class Place(NamedTuple):
    """A rank of a communicator whose ranks stand in a grid, in a turn of a loop of so many.

    `own` is its place in the `grid` of all ranks.
    """

    rank: int
    size: int
    lengths: Lengths
    turn: int = 0
    turns: int = 0
    own: Lengths = ()
    grid: Lengths = ()

    def within(self, rank: int, grid: Lengths) -> "Place":
        """The same place with that of the rank in the grid of all ranks."""
        return self._replace(own=coordinates(rank, grid), grid=grid)


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


class Move(NamedTuple):
    """From a place along an axis to another one; `by` are steps, or places from the first or the last."""

    way: str
    by: int = 0

    def __call__(self, place: int, length: int) -> int:
        """The place that it leads to."""
        return _WAYS[self.way](place, length, self.by) % length


_WAYS: dict[str, Callable[[int, int, int], int]] = {
    "steps": lambda place, length, by: place + by,
    "half": lambda place, length, by: place + length // 2,
    "half, rounded up": lambda place, length, by: place + (length + 1) // 2,
    "mirrored": lambda place, length, by: length - 1 - place,
    "from the first": lambda place, length, by: by,
    "from the last": lambda place, length, by: length - 1 - by,
}
_HALF = Move("half"), Move("half, rounded up")


@dataclass(frozen=True)
class Along:
    """A move along each axis of the grid, which closes on itself."""

    moves: tuple[Move, ...]

    def __call__(self, place: Place) -> int:
        own = coordinates(place.rank, place.lengths)
        ends = (move(at, long) for move, at, long in zip(self.moves, own, place.lengths, strict=True))
        return rank_at(tuple(ends), place.lengths)


@dataclass(frozen=True)
class Around:
    """So many ranks further, whatever the grid."""

    ranks: int

    def __call__(self, place: Place) -> int:
        return (place.rank + self.ranks) % place.size


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
class InTheMiddle:
    """The same rank for all: that with the number of a part of the ranks, or where none of their root."""

    part: Fraction | None
    up: bool

    def __call__(self, place: Place) -> int:
        if self.part is None:
            return isqrt(place.size - 1) + 1 if self.up else isqrt(place.size)
        return (ceil if self.up else floor)(self.part * place.size)


@dataclass(frozen=True)
class Exchange:
    """The rank with other bits; `parts` counts them from the highest: half of the ranks away, a quarter."""

    bits: int = 0
    parts: int = 0

    def __call__(self, place: Place) -> int:
        return place.rank ^ (place.size // self.parts if self.parts else self.bits)


@dataclass(frozen=True)
class AtOwn:
    """The rank with the number of the rank's own place along an axis of the grid of all ranks."""

    axis: int

    def __call__(self, place: Place) -> int:
        return place.own[self.axis]


@dataclass(frozen=True)
class Skewed:
    """As many places along an axis as the rank's own place along another one says; closed on itself."""

    axis: int
    other: int
    back: bool

    def __call__(self, place: Place) -> int:
        own = list(coordinates(place.rank, place.lengths))
        own[self.axis] += -own[self.other] if self.back else own[self.other]
        return rank_at(tuple(own), place.lengths)


@dataclass(frozen=True)
class Transposed:
    """The rank with the coordinates in the other order."""

    def __call__(self, place: Place) -> int:
        return rank_at(coordinates(place.rank, place.lengths)[::-1], place.lengths[::-1])


class ByTurn(NamedTuple):
    """Another rank in each turn of a loop; `way` is how far, or who, and `by` counts from the first one."""

    way: str
    by: int = 0

    def __call__(self, place: Place) -> int:
        partner = _BY_TURN[self.way](place, self.by)
        return partner if partner >= 0 else place.size  # which is none of the ranks

    def reaches(self, size: int) -> int:
        """In how many turns it comes to each rank of so many; 0 where that says nothing of the turns."""
        return {
            "further": size - self.by,
            "back": size - self.by,
            "by number": size - self.by,
            "by number from the last": size - self.by,
            "by number but its own": size - 1,
        }.get(self.way, 0)

    @property
    def bits(self) -> bool:
        """Whether there are more ranks than the bits of all turns but the last one say."""
        return self.way in {"with another bit", "with another bit, the highest first"}


_BY_TURN: dict[str, Callable[[Place, int], int]] = {
    "further": lambda place, by: (place.rank + place.turn + by) % place.size,
    "back": lambda place, by: (place.rank - place.turn - by) % place.size,
    "twice as far": lambda place, by: (place.rank + (1 << place.turn)) % place.size,
    "twice as far back": lambda place, by: (place.rank - (1 << place.turn)) % place.size,
    "half as far": lambda place, by: (place.rank + (1 << place.turns - 1 - place.turn)) % place.size,
    "half as far back": lambda place, by: (place.rank - (1 << place.turns - 1 - place.turn)) % place.size,
    "a part as far": lambda place, by: (place.rank + (place.size >> place.turn + 1)) % place.size,
    "a part as far back": lambda place, by: (place.rank - (place.size >> place.turn + 1)) % place.size,
    "with other bits": lambda place, by: place.rank ^ (place.turn + by),
    "with another bit": lambda place, by: place.rank ^ (1 << place.turn),
    "with another bit, the highest first": lambda place, by: place.rank ^ (1 << place.turns - 1 - place.turn),
    "with another part": lambda place, by: place.rank ^ (place.size >> place.turn + 1),
    "by number": lambda place, by: place.turn + by,
    "by number, around": lambda place, by: (place.turn + by) % place.size,
    "by number, around all but the first": lambda place, by: 1 + place.turn % max(place.size - 1, 1),
    "by number but its own": lambda place, by: place.turn + (place.turn >= place.rank),
    "by number from the last": lambda place, by: place.size - 1 - place.turn - by,
}
_COUNTED = {"further", "back", "with other bits", "by number", "by number, around", "by number from the last"}


def _in_turns(known: Sequence[tuple[Place, int]]) -> Iterator[Relation]:
    if any(place.turns for place, _ in known):
        for way in _BY_TURN:
            yield from (ByTurn(way, by) for by in (range(3) if way in _COUNTED else (0,)))


_FOR_ALL = {
    "by number",
    "by number, around",
    "by number, around all but the first",
    "by number from the last",
}


def roots(known: Sequence[tuple[Place, int]]) -> list[Relation]:
    """The relations that say which rank is the root for all ranks of a communicator, the likeliest first."""
    place, root = known[-1]
    candidates: list[Relation] = [Constant(root)]
    if root >= 0:
        candidates.append(FromEnd(place.size - 1 - root))
        candidates += [InTheMiddle(part, up) for part, up in product((*_MIDDLES, None), (False, True))]
    by_place = [AtOwn(axis) for axis in range(len(place.grid))]  # where it is not the same for all
    for found in (candidates, by_place, [each for each in _in_turns(known) if _is_for_all(each)]):
        held = [each for each in found if all(each(place) == root for place, root in known)]
        if held:
            return held
    return []


def _is_for_all(relation: Relation) -> bool:
    return isinstance(relation, ByTurn) and relation.way in _FOR_ALL


def relations(known: Sequence[tuple[Place, int]]) -> list[Relation]:
    """The relations that hold for all these ranks and partners, the likeliest first.

    Exchanges of bits and the like are looked for where no neighbour, root or last rank explains the partners:
    of few ranks one of them holds by chance. Of these all are kept: a half and a quarter are rounded down or
    up, and an exchange of bits is a step where the ranks are a power of two. What changes from turn to turn
    of a loop is looked for last.
    """
    for candidates in (_near(known), _far(known), _in_turns(known)):
        found: list[Relation] = []
        for relation in candidates:
            if relation not in found and all(relation(place) == partner for place, partner in known):
                found.append(relation)
        if found:
            return found
    return []


def _near(known: Sequence[tuple[Place, int]]) -> Iterator[Relation]:
    place, partner = known[-1]  # of the largest recording
    yield Constant(partner)
    if partner >= 0:
        yield from _along(known, far=False)
        yield FromEnd(place.size - 1 - partner)


def _far(known: Sequence[tuple[Place, int]]) -> Iterator[Relation]:
    place, partner = known[-1]
    if partner < 0:
        return
    yield from _along(known, far=True)
    around = (partner - place.rank) % place.size
    yield Around(min(around, around - place.size, key=abs))  # the shorter way
    yield Transposed()
    axes = range(len(place.lengths))
    ways = product(axes, axes, (False, True))
    yield from (Skewed(axis, other, back) for axis, other, back in ways if axis != other)
    yield Exchange(bits=place.rank ^ partner)
    for parts in (2, 4, 8):
        yield Exchange(parts=parts)
    for part, up in product((*_MIDDLES, None), (False, True)):
        yield InTheMiddle(part, up)
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
        if not more or part.denominator <= _PLAIN:
            yield Further(part, up, more)
    for sign, up in product((1, -1), (False, True)):
        yield Further(Fraction(sign), up, root=True)


def _along(known: Sequence[tuple[Place, int]], *, far: bool) -> Iterator[Relation]:
    """The moves that every axis allows by itself, the shortest first; then each other one along one axis.

    Near ones are steps, and half of an axis where these are steps, too: of two and three places one is both.
    """
    if any(not 0 <= partner < place.size for place, partner in known):
        return
    ends = [
        (coordinates(place.rank, place.lengths), coordinates(partner, place.lengths), place.lengths)
        for place, partner in known
    ]
    axes = [
        _moves([(own[axis], other[axis], lengths[axis]) for own, other, lengths in ends], far=far)
        for axis in range(len(known[0][0].lengths))
    ]
    if not all(axes):
        return
    plain = tuple(moves[0] for moves in axes)
    yield Along(plain)
    for axis, moves in enumerate(axes):
        yield from (Along((*plain[:axis], move, *plain[axis + 1 :])) for move in moves[1:])


def _moves(known: Sequence[tuple[int, int, int]], *, far: bool) -> list[Move]:
    """The moves that lead from all places to the partners' along an axis, by both places and its length."""
    found = [Move("steps", by) for by in _steps([(other - own, length) for own, other, length in known])]
    if not found and not far:
        return []
    if max(length for _, _, length in known) == 1:
        return found  # an axis that no recording has
    others = list(_HALF)
    if far:
        _, other, length = known[-1]  # of the largest recording
        others += [Move("mirrored"), Move("from the first", other), Move("from the last", length - 1 - other)]
    found += [move for move in others if all(move(own, length) == other for own, other, length in known)]
    return found


def _steps(known: Sequence[tuple[int, int]]) -> list[int]:
    """The numbers of steps that lead from all ranks to their partners, by differences and the axis's length.

    All that are few; else the fewest, forwards or backwards, that are the same in all recordings.
    """
    difference, length = max(known, key=lambda each: each[1])
    forwards = difference % length
    furthest = min(FURTHEST, length - 1)  # all around an axis that has two ranks everywhere is no step
    few = sorted(range(-furthest, furthest + 1), key=lambda step: (abs(step), step))
    others = sorted((forwards, forwards - length), key=abs)
    halves = [others] if 2 * forwards == length else [[step] for step in others]
    for steps in (few, *halves):
        found = [step for step in steps if not any((step - each) % around for each, around in known)]
        if found:
            return found
    return []
