"""Sizes of parts of a whole that is dealt out: where a division leaves something over, some have one more."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from leadline.program.extend.forms import LEAST
from leadline.program.extend.grids import Rule
from leadline.program.extend.members import Member
from leadline.program.extend.peers import Place
from leadline.program.model import COLLECTIVES, TO_A_PEER, Kind, Operation

Parts = Mapping[tuple[int, int], int]  # of so many parts and the number of one its size, B

# The number of things in a part, of so many in all, the number of parts and which one it is.
_WAYS: dict[str, Callable[[int, int, int], int]] = {
    "the first have one more": lambda things, parts, which: (things + parts - 1 - which) // parts,
    "the last have one more": lambda things, parts, which: (things + which) // parts,
    "bounds are rounded down": lambda things, parts, which: (
        (which + 1) * things // parts - which * things // parts
    ),
    "the last has the rest": lambda things, parts, which: (
        things // parts + (things % parts if which == parts - 1 else 0)
    ),
    "as many as rounded up": lambda things, parts, which: max(
        min(-(-things // parts), things - which * -(-things // parts)), 0
    ),
}
_BY_ONE = tuple(_WAYS)[:3]  # in which two parts differ by one at most
_TO_THE_LAST = tuple(_WAYS)[3:]
_UNITS = 8, 16, 4, 1
SEEN = 2  # numbers of parts that have something over


@dataclass(frozen=True)
class Dealt:
    """A part's size: which whole numbers of things of `unit` B it may be one of, and in which way."""

    ways: tuple[tuple[str, int, int], ...]  # the way, the unit, and how many things in all

    def __call__(self, parts: int, which: int) -> tuple[int, ...]:
        """The sizes that the recordings allow, B, the likeliest first."""
        found = (unit * _WAYS[way](things, parts, which) for way, unit, things in self.ways)
        return tuple(dict.fromkeys(found))


def dealt(known: Parts) -> Dealt | None:
    """How parts are dealt out, of those that are known; None where they are not, or all are alike.

    The whole is the same everywhere, and is divided into several numbers of parts. One rank that always has
    something more, such as a grid's last point, is no division, and a half of the ranks is none for certain.
    """
    sizes: dict[int, list[int]] = {}
    for (parts, _), size in known.items():
        sizes.setdefault(parts, []).append(size)
    by = gcd(*(size - min(each) for each in sizes.values() for size in each))
    if not by:
        return None
    units = {way: {by} for way in _BY_ONE}
    ways = [*(_BY_ONE if _several_have_more(sizes) else ()), *(_TO_THE_LAST if _rests_differ(sizes) else ())]
    found = [
        (way, unit, things)
        for way in ways
        for unit in sorted(units.get(way, {by, *(unit for unit in _UNITS if by % unit == 0)}), reverse=True)
        if all(size % unit == 0 for each in sizes.values() for size in each)
        for things in _things(sizes, unit)
        if all(unit * _WAYS[way](things, *where) == size for where, size in known.items())
    ]
    return Dealt(tuple(found)) if found else None


def _several_have_more(sizes: Mapping[int, Sequence[int]]) -> bool:
    """Whether it is seen at two numbers of parts, or at one of three."""
    counts = {parts: sum(size > min(each) for size in each) for parts, each in sizes.items()}
    told = sum(1 < count < parts - 1 and 2 * count != parts for parts, count in counts.items())
    return told >= SEEN or (told == 1 and len(sizes) >= LEAST)


def _rests_differ(sizes: Mapping[int, Sequence[int]]) -> bool:
    """Whether the odd part is more, or less, than others by different sizes, of three numbers of parts."""
    rests = {max(each) - min(each) for each in sizes.values()} - {0}
    return len(rests) >= SEEN and len(sizes) >= LEAST


def _things(sizes: Mapping[int, Sequence[int]], unit: int) -> range:
    """How many things there may be in all: most parts have the whole number that is nearest, or one less."""
    usual = {parts: max(each, key=each.count) // unit for parts, each in sizes.items()}
    least = max(parts * (count - 1) for parts, count in usual.items())
    return range(max(least, 0), min(parts * (count + 1) for parts, count in usual.items()) + 1)


_AMONG: dict[str, Callable[[Place, int], tuple[int, int] | None]] = {
    "the ranks": lambda place, peer: (place.size, place.rank),
    "the partners": lambda place, peer: (place.size, peer) if peer >= 0 else None,
    "the first axis": lambda place, peer: _along(place, 0),
    "the second axis": lambda place, peer: _along(place, 1),
    "the third axis": lambda place, peer: _along(place, 2),
}


def _along(place: Place, axis: int) -> tuple[int, int] | None:
    return (place.grid[axis], place.own[axis]) if axis < len(place.grid) else None


@dataclass(frozen=True)
class Share:
    """A size that is a part of what is dealt out among the ranks of a communicator or along an axis."""

    among: str
    law: Dealt

    def __call__(self, place: Place, peer: int) -> tuple[int, ...]:
        """The sizes that the recordings allow for a rank, B; none where it is no such part."""
        where = _AMONG[self.among](place, peer)
        return self.law(*where) if where else ()


class _Sent(NamedTuple):
    """A size of a call, by a rank at a place."""

    place: Place
    peer: int
    size: int
    rank: int
    ranks: int


class Shares:
    """Sizes at each call that are parts of a whole, for ranks in a grid: looked for among all ranks at once.

    Ranks at edges alone do not tell how much is left over.
    """

    def __init__(self, every: Sequence[Sequence[Member]]) -> None:
        """Of the ranks of each recording, the largest last."""
        # Calls with sizes that differ between ranks of a recording: others have nothing over.
        self._sent: dict[Hashable, list[_Sent]] = {}
        differing: set[Hashable] = set()
        for members in every:
            sizes: dict[Hashable, int] = {}
            for member in members:
                for call, sent in _sent(member):
                    self._sent.setdefault(call, []).append(sent)
                    if sizes.setdefault(call, sent.size) != sent.size:
                        differing.add(call)
        self._sent = {call: sent for call, sent in self._sent.items() if call in differing}
        self._known: dict[tuple[Rule, Hashable], list[Share]] = {}

    def at(self, rule: Rule, member: Member, operation: Operation, name: str) -> list[Share]:
        """All that hold at a call, for a field, in a grid; none where sizes are no parts of a whole."""
        call = _call(member, operation, name)
        if call not in self._sent:
            return []
        if (rule, call) not in self._known:
            self._known[rule, call] = list(_shares(rule, self._sent[call]))
        return self._known[rule, call]


def _call(member: Member, operation: Operation, name: str) -> Hashable:
    """What is the same call wherever a rank stands."""
    return name, operation.kind, operation.tag, operation.mode, member.program.sites[operation.site]


def _sent(member: Member) -> Iterator[tuple[Hashable, _Sent]]:
    for leaf in member.leaves:
        if leaf.kind not in TO_A_PEER and leaf.kind not in COLLECTIVES:
            continue
        communicator = member.program.communicators[leaf.comm]
        place = Place(communicator.rank_of(member.rank), len(communicator.members), ())
        world = member.rank, member.program.ranks
        if leaf.peer >= 0:  # what goes to nobody says nothing
            yield _call(member, leaf, "bytes"), _Sent(place, leaf.peer, leaf.bytes, *world)
        if leaf.kind == Kind.SENDRECV and leaf.source >= 0:
            yield _call(member, leaf, "source_bytes"), _Sent(place, leaf.source, leaf.source_bytes, *world)


def _shares(rule: Rule, every: Sequence[_Sent]) -> Iterator[Share]:
    for among, where in _AMONG.items():
        parts: dict[tuple[int, int], int] = {}
        for sent in every:
            at = where(sent.place.within(sent.rank, rule(sent.ranks)), sent.peer)
            if at is None or parts.setdefault(at, sent.size) != sent.size:
                break
        else:
            law = dealt(parts)
            if law:
                yield Share(among, law)
