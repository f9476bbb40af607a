"""Blocks of several sizes that a rank gives or takes in a collective, such as parts of a whole."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from leadline.program.extend.dealt import Dealt, dealt
from leadline.program.extend.forms import LEAST
from leadline.program.extend.peers import Place
from leadline.program.extend.sizes import Law, Scale, sizes_of
from leadline.program.model import Kind, Operation

_NEAR = 2  # ranks to either side that may have blocks of their own
# What blocks have one size, by the rank that has them, the other one and the number of ranks.
_KINDS: dict[str, Callable[[int, int, int], Hashable]] = {
    "all": lambda rank, other, ranks: 0,
    "all but the rank's own": lambda rank, other, ranks: rank == other,
    "all but the first": lambda rank, other, ranks: other == 0,
    "all but the last": lambda rank, other, ranks: other == ranks - 1,
    "all but the first and the last": lambda rank, other, ranks: (other == 0, other == ranks - 1),
    "all but those near by": lambda rank, other, ranks: _clipped(other - rank),
    "all but those near by, around": lambda rank, other, ranks: _clipped(
        (other - rank + ranks // 2) % ranks - ranks // 2
    ),
}

_OF_THE_OTHER = {"all", "all but the first", "all but the last", "all but the first and the last"}


def _clipped(difference: int) -> int:
    return max(-_NEAR - 1, min(difference, _NEAR + 1)) if abs(difference) <= _NEAR else _NEAR + 1


@dataclass(frozen=True)
class _ByKind:
    """Sizes by what the other rank is."""

    kind: str
    sizes: Mapping[Hashable, list[Law]]

    @property
    def alike(self) -> bool:
        """Whether all ranks have the same blocks."""
        return self.kind in _OF_THE_OTHER

    def __call__(self, place: Place, other: int, size: Callable[[list[Law]], int]) -> tuple[int, ...]:
        laws = self.sizes.get(_KINDS[self.kind](place.rank, other, place.size))
        return () if laws is None else (size(laws),)


@dataclass(frozen=True)
class _OfAWhole:
    """Parts of a whole: of the other rank, or the rank's own."""

    own: bool
    law: Dealt

    @property
    def alike(self) -> bool:
        """Whether all ranks have the same blocks."""
        return not self.own

    def __call__(self, place: Place, other: int, size: Callable[[list[Law]], int]) -> tuple[int, ...]:
        return self.law(place.size, place.rank if self.own else other)


_Rule = _ByKind | _OfAWhole


class Given(NamedTuple):
    """What a rank gives, or takes: (rank, bytes, rank, bytes, ...), of so many ranks in all."""

    place: Place
    ranks: int
    parts: tuple[int, ...]


@dataclass(frozen=True)
class Blocks:
    """The blocks that each rank gives or takes (`field`), by all rules that hold, the plainest first."""

    field: str
    rules: tuple[_Rule, ...]

    @property
    def alike(self) -> bool:
        """Whether all ranks have the same blocks."""
        return all(rule.alike for rule in self.rules)

    def at(self, place: Place, size: Callable[[list[Law]], int]) -> tuple[tuple[int, ...], int | None]:
        """The blocks of a rank as (rank, bytes, ...), and whose block the recordings leave open, if any.

        `size` says what laws give for so many ranks.
        """
        found: list[int] = []
        for other in range(place.size):
            allowed = {value for rule in self.rules for value in rule(place, other, size)}
            if len(allowed) != 1:
                return (), other
            block = allowed.pop()
            found += (other, block) if block else ()
        return tuple(found), None


def blocks_of(field: str, known: Sequence[Given]) -> Blocks | None:
    """The rules that hold for the blocks of all these ranks; None where none does."""
    cells = [(each, other, size) for each in known for other, size in enumerate(_row(each))]
    by_kind = [rule for kind in _KINDS if (rule := _by_kind(kind, cells))]
    # A rule that tells more apart has the same sizes where a plainer one holds.
    found: list[_Rule] = [rule for rule in by_kind[:1] if rule.kind == "all"] or [*by_kind]
    for own in (False, True):
        parts: dict[tuple[int, int], int] = {}
        if all(
            parts.setdefault((each.place.size, each.place.rank if own else other), size) == size
            for each, other, size in cells
        ):
            law = dealt(parts)
            found += [_OfAWhole(own, law)] if law else []
    return Blocks(field, tuple(found)) if found else None


def has_blocks(operation: Operation, place: Place) -> bool:
    """Whether a rank at a place has blocks of each other one: a root alone, where there is one."""
    return operation.kind not in (Kind.GATHER, Kind.SCATTER) or operation.peer == place.rank


def _row(given: Given) -> list[int]:
    row = [0] * given.place.size
    for at in range(0, len(given.parts), 2):
        row[given.parts[at]] += given.parts[at + 1]
    return row


def _by_kind(kind: str, cells: Sequence[tuple[Given, int, int]]) -> _ByKind | None:
    ends: dict[Hashable, dict[Scale, tuple[int, int]]] = {}
    for each, other, size in cells:
        scale = each.ranks, each.place.size
        of_kind = ends.setdefault(_KINDS[kind](each.place.rank, other, each.place.size), {})
        if of_kind.setdefault(scale, (size, size)) != (size, size):
            return None
    sizes: dict[Hashable, list[Law]] = {}
    for key, of_kind in ends.items():
        known = len({ranks for ranks, _ in of_kind})
        if known < LEAST and len(set(of_kind.values())) > 1:
            return None
        sizes[key] = sizes_of(of_kind)
        if sizes[key][0].error:
            return None
    return _ByKind(kind, sizes)
