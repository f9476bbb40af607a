"""Places of the code: what all ranks of a group do there, and how many bytes."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from leadline.program.extend.align import Turn
from leadline.program.extend.blocks import Blocks
from leadline.program.extend.dealt import Share, Shares
from leadline.program.extend.forms import LEAST
from leadline.program.extend.grids import Rule
from leadline.program.extend.members import TOO_FEW, Member, Misfit
from leadline.program.extend.parts import Part, Row
from leadline.program.extend.peers import Along, ByTurn, Place, Relation
from leadline.program.extend.sizes import CLOSE, Ends, Law, Scale, Side, sides, sizes_of
from leadline.program.extend.tags import Tag
from leadline.program.extend.timed import Timed
from leadline.program.model import Operation


@dataclass
class Column:
    """What all ranks of a group do at a place of the code.

    `operation` has what is the same for all; `partners`, `tags` and `sizes` are of its fields, `shares` of
    those that are parts of a whole; `parts` are its blocks that go to neighbours (which field, whom, how
    much), `blocks` those of every rank. `turn` is that of the loop that it stands in where it is not the same
    in each; then `doubles` says of sizes how often they double from turn to turn, and `reaches` is the
    partner if its turns come to each rank.
    `communicator` counts those that the rank came to, and `makes` says which ranks a new one has: all that
    holds, nothing where it makes none or the rank is in none.
    """

    operation: Operation
    where: str
    communicator: int
    partners: dict[str, list[Relation]] = field(default_factory=dict)
    sizes: dict[str, list[Law]] = field(default_factory=dict)
    parts: list[tuple[str, list[Relation], list[Law]]] = field(default_factory=list)
    tags: dict[str, list[Tag]] = field(default_factory=dict)
    shares: dict[str, list[Share]] = field(default_factory=dict)
    blocks: list[Blocks] = field(default_factory=list)
    makes: list[Part] = field(default_factory=list)
    timed: Timed | None = None
    turn: Turn | None = None
    doubles: dict[str, int] = field(default_factory=dict)
    reaches: ByTurn | None = None


@dataclass
class Found:
    """What the groups of a fit have found so far: deviations, and sizes of three recordings or more."""

    rule: Rule
    shares: Shares
    errors: dict[str, float]
    sizes: dict[Hashable, Ends] = field(default_factory=dict)


class Sized:
    """Ranks that do the same, the communicators that they came to, and the sizes of what they do."""

    def __init__(
        self,
        members: Sequence[Member],
        found: Found,
        made: list[Part] | None = None,
        turns: Sequence[Turn] = (),
    ) -> None:
        self.members, self._found, self._turns = members, found, turns
        self._lengths = [found.rule(member.program.ranks) for member in members]
        self._all_waited = False
        self._made: list[Part] = made or [Row(tuple(range(found.rule.dimensions)))]

    def places(self, ordinal: int) -> list[Place]:
        """Each member's place in its communicator."""
        part = self._made[ordinal]
        found = [
            part.place(member.rank, lengths)
            for member, lengths in zip(self.members, self._lengths, strict=True)
        ]
        for number, turn in enumerate(self._turns):
            found[number] = found[number]._replace(turn=turn.turn, turns=turn.turns)
        return [
            place.within(member.rank, lengths)
            for place, member, lengths in zip(found, self.members, self._lengths, strict=True)
        ]

    def sizes(self, column: Column, operations: Sequence[Operation]) -> None:
        for name in ("bytes", "source_bytes"):
            values = [getattr(operation, name) for operation in operations]
            shares = self._shares(column, operations, name) if any(values) else []
            if shares:
                column.shares[name] = shares
            elif any(values):
                first, column.doubles[name] = self._doubled(operations, values)
                near = any(isinstance(one, Along) for each in column.partners.values() for one in each)
                along = sides(self._found.rule.dimensions) if near else ()
                column.sizes[name] = self.size(column.where, operations, first, along)

    def _shares(self, column: Column, operations: Sequence[Operation], name: str) -> list[Share]:
        """The parts of a whole that sizes are, where they are some."""
        known = self._found.shares.at(self._found.rule, self.members[-1], operations[-1], name)
        places = self.places(column.communicator) if known else []
        of = "source" if name == "source_bytes" else "peer"
        return [
            share
            for share in known
            if all(
                getattr(operation, name) in share(place, getattr(operation, of))
                for place, operation in zip(places, operations, strict=True)
            )
        ]

    def _doubled(self, operations: Sequence[Operation], values: Sequence[int]) -> tuple[Sequence[int], int]:
        """Sizes in the first turn, and how often they double from turn to turn: once, or -1 for a half.

        Raises Misfit where they change in another way: what is near in some turns may be far in more.
        """
        if not self._turns:
            return values, 0
        for doubles in (0, 1, -1):
            first = [
                at_turn(value, turn.turn, -doubles) for value, turn in zip(values, self._turns, strict=True)
            ]
            alike = set(zip((turn.member for turn in self._turns), first, strict=True))
            if None not in first and len(alike) == len({turn.member for turn in self._turns}):
                return [value for value in first if value is not None], doubles
        raise Misfit(f"sizes of {self.members[-1].place(operations[-1])} change from turn to turn")

    def size(
        self,
        where: str,
        operations: Sequence[Operation],
        values: Sequence[int],
        along: tuple[Side, ...] = (),
    ) -> list[Law]:
        ends: dict[Scale, tuple[int, int]] = {}
        for member, operation, value in zip(self.members, operations, values, strict=True):
            scale = member.program.ranks, len(member.program.communicators[operation.comm].members)
            low, high = ends.get(scale, (value, value))
            ends[scale] = min(low, value), max(high, value)
        told = ", ".join(
            f"{f'{low:,} to ' * (low < high)}{high:,} B at {ranks} ranks"
            for (ranks, _), (low, high) in sorted(ends.items())
        )
        found = sizes_of(self._with_others(ends, f"sizes of {where}: {told}: {TOO_FEW}"), along)
        if found[0].error > CLOSE:
            raise Misfit(f"sizes of {where} are no power of the number of ranks, nor a sum with it: {told}")
        self._found.errors["bytes"] = max(self._found.errors["bytes"], found[0].error)
        return found

    def _with_others(self, ends: Ends, problem: str) -> Ends:
        """Sizes, and where they are of one or two recordings only, those of ranks that have the same there.

        Raises Misfit with a problem where they change, and no such ranks are known.
        """
        if len({end for each in ends.values() for end in each}) == 1:
            return ends
        if len({ranks for ranks, _ in ends}) >= LEAST:
            self._found.sizes.setdefault(tuple(sorted(ends.items())), ends)
            return ends
        for others in self._found.sizes.values():
            if ends.items() <= others.items():
                return others
        raise Misfit(problem)


def at_turn(size: int, turn: int, doubles: int) -> int | None:
    """A size that doubles, or halves, so many turns later, B; None where it is no whole number."""
    if doubles >= 0:
        return size << turn * doubles
    return None if size % (1 << turn) else size >> turn
