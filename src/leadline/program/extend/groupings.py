"""Ranks that do the same, as a program may tell them apart: by edges, halves, or one rank of all."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import isqrt, prod

from leadline.program.extend.grids import Lengths, coordinates

PLAIN = 3  # distinctions that a grouping has at most
_MANY = 8  # ranks of which half are in the middle, two places from the ends of a line
FEW = 16  # ranks, or ranks in a row, that may be apart by their number


@dataclass(frozen=True)
class Grouping:
    """Which ranks do the same: those of one key. `level` counts what it tells apart, the less the plainer."""

    name: str
    level: int
    key: Callable[[int, Lengths], Hashable]
    known: tuple[int, ...] = ()  # axes whose places are told apart one by one: of the same length everywhere

    sure: bool = True  # whether programs are made by it: others tell where the recordings leave a choice
    sure_from: int = 0  # with how many ranks in the smallest recording one is that is not; never where 0

    def keys(self, lengths: Lengths) -> tuple[Hashable, ...]:
        """The key of each rank of a grid."""
        return _keys(self, lengths)


@lru_cache(maxsize=1 << 14)  # asked of all groupings again and again
def _keys(grouping: Grouping, lengths: Lengths) -> tuple[Hashable, ...]:
    return tuple(grouping.key(rank, lengths) for rank in range(prod(lengths)))


@dataclass(frozen=True)
class _Feature:
    """What may be told apart along an axis."""

    name: str
    level: int
    key: Callable[[int, int], Hashable]


def _halves(place: int, length: int) -> Hashable:
    first, second = length // 2, (length + 1) // 2
    ends = place in (0, length - 1), place in (first - 1, second)
    return place < first, place >= second, *ends


_FEATURES = (
    _Feature("", 0, lambda place, length: ()),
    _Feature("edges", 1, lambda place, length: (place == 0, place == length - 1)),
    _Feature("halves", 1, lambda place, length: (place < length // 2, place >= (length + 1) // 2)),
    _Feature("even and odd places", 1, lambda place, length: place % 2),
    _Feature(
        "edges with even and odd places",
        2,
        lambda place, length: (place == 0, place == length - 1, place % 2),
    ),
    _Feature("the first two places", 1, lambda place, length: min(place, 2)),
    _Feature("the last two places", 1, lambda place, length: min(length - 1 - place, 2)),
    _Feature("two places at edges", 2, lambda place, length: (min(place, 2), min(length - 1 - place, 2))),
    _Feature("halves with their edges", 2, _halves),
    _Feature(
        "halves rounded down", 2, lambda place, length: (place < length // 2, place < 2 * (length // 2))
    ),
    _Feature("places", 2, lambda place, length: place),
)
_USUAL = {each.name for each in _FEATURES if each.name.startswith(("edges", "halves", "even"))}
_AXES = "first", "second", "third"


@lru_cache(maxsize=64)
def groupings(dimensions: int, fewest: int) -> tuple[Grouping, ...]:
    """The groupings of a grid's ranks, the plainest first; `fewest` are those of the smallest recording."""
    found = [*_along_axes(dimensions), *_by_first_rank(dimensions)]
    if dimensions == 1:
        found += _by_number(min(fewest, FEW + 1))
    return tuple(sorted(found, key=lambda each: each.level))


def _along_axes(dimensions: int) -> Iterator[Grouping]:
    for features in product(_FEATURES, repeat=dimensions):
        level = sum(each.level for each in features)
        alike = len({each.name for each in features}) == 1
        if level <= max(PLAIN, dimensions) or alike:
            known = tuple(axis for axis, each in enumerate(features) if each == _FEATURES[-1])
            edges = dimensions == 1 and features[0].name == "two places at edges"
            many = _MANY if edges else 0
            yield Grouping(_name(features), level, _places(features), known, _sure(features), many)


def _sure(features: tuple[_Feature, ...]) -> bool:
    """Whether it is edges, halves or even and odd places alone: what else holds may do so by chance."""
    kinds = {each.name for each in features if each.name}
    return not kinds or (len(kinds) == 1 and kinds <= _USUAL)


def _name(features: tuple[_Feature, ...]) -> str:
    told = [(each.name, axis) for each, axis in zip(features, _AXES, strict=False) if each.name]
    if not told:
        return "all ranks alike"
    if len({name for name, _ in told}) == 1 and len(told) == len(features):
        return "even and odd ranks" if told[0][0] == _FEATURES[3].name else f"{told[0][0]} of the grid"
    return ", ".join(f"{name} of the {axis} axis" for name, axis in told)


def _places(features: tuple[_Feature, ...]) -> Callable[[int, Lengths], Hashable]:
    return lambda rank, lengths: tuple(
        feature.key(place, length)
        for feature, place, length in zip(features, coordinates(rank, lengths), lengths, strict=True)
    )


def _by_first_rank(dimensions: int) -> Iterator[Grouping]:
    edges = _places((_FEATURES[1],) * dimensions)
    yield Grouping("rank 0 apart", 1, lambda rank, lengths: rank == 0)
    yield Grouping("even and odd ranks", 1, lambda rank, lengths: rank % 2)
    yield Grouping(
        "edges of the grid, rank 0 apart",
        dimensions + 1,
        lambda rank, lengths: (rank == 0, edges(rank, lengths)),
    )
    yield Grouping(
        "first and last rank apart, even and odd ranks",
        2,
        lambda rank, lengths: (rank == 0, _last(rank, lengths), rank % 2),
    )


def _last(rank: int, lengths: Lengths) -> bool:
    return all(place == length - 1 for place, length in zip(coordinates(rank, lengths), lengths, strict=True))


def _numbers(below: int) -> Iterator[tuple[str, Callable[[int], int]]]:
    """What a program may compare a rank's number with: ranks by number, and parts of them."""
    for number in range(1, below):
        yield str(number), _always(number)
    for parts, name in enumerate(("half", "a third", "a quarter"), 2):
        yield f"{name} of the ranks", _part(parts, 0)
        yield f"{name} of the ranks, rounded up", _part(parts, parts - 1)
        yield f"{name} of the ranks but one", _part(parts, -1)
    yield "the root of the ranks", isqrt
    yield "the root of the ranks, rounded up", lambda ranks: isqrt(ranks - 1) + 1


def _always(number: int) -> Callable[[int], int]:
    return lambda ranks: number


def _part(parts: int, more: int) -> Callable[[int], int]:
    return lambda ranks: (ranks + more) // parts


def _by_number(below: int) -> Iterator[Grouping]:
    for name, number in _numbers(below):
        yield Grouping(f"the first ranks, as many as {name}", 1, _first(number), sure=False)
        yield Grouping(f"the first ranks, as many as {name}, with edges", 2, _first_edges(number), sure=False)
        yield Grouping(f"the first ranks, as many as {name}, and as many more", 2, _twice(number), sure=False)
        yield Grouping(f"the first and the last ranks, as many as {name}", 1, _ends(number), sure=False)
        yield Grouping(f"the first rank and that of the number of {name}", 1, _apart(number), sure=False)
        yield Grouping(
            f"the first rank and the one before the last {name}", 1, _apart_back(number), sure=False
        )
    for every in range(2, below):
        # Of two blocks or more in each recording.
        found = 2 * every
        yield Grouping(f"every {every} ranks the first", 1, _first_of(every), sure=False, sure_from=found)
        yield Grouping(f"places among {every} ranks", 2, _among(every), sure=False, sure_from=found)


def _first_of(every: int) -> Callable[[int, Lengths], Hashable]:
    return lambda rank, lengths: rank % every == 0


def _among(every: int) -> Callable[[int, Lengths], Hashable]:
    return lambda rank, lengths: rank % every


def _first(number: Callable[[int], int]) -> Callable[[int, Lengths], Hashable]:
    return lambda rank, lengths: rank < number(lengths[0])


def _twice(number: Callable[[int], int]) -> Callable[[int, Lengths], Hashable]:
    return lambda rank, lengths: (rank < number(lengths[0]), rank < 2 * number(lengths[0]))


def _first_edges(number: Callable[[int], int]) -> Callable[[int, Lengths], Hashable]:
    def key(rank: int, lengths: Lengths) -> Hashable:
        ranks, first = lengths[0], number(lengths[0])
        return rank < first, rank in (0, ranks - 1), rank in (first - 1, first)

    return key


def _ends(number: Callable[[int], int]) -> Callable[[int, Lengths], Hashable]:
    return lambda rank, lengths: (rank < number(lengths[0]), rank >= lengths[0] - number(lengths[0]))


def _apart(number: Callable[[int], int]) -> Callable[[int, Lengths], Hashable]:
    return lambda rank, lengths: (rank == 0, rank == number(lengths[0]))


def _apart_back(number: Callable[[int], int]) -> Callable[[int, Lengths], Hashable]:
    return lambda rank, lengths: (rank == 0, rank == lengths[0] - 1 - number(lengths[0]))
