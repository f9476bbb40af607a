"""What explains recordings: for each group of ranks and place of the code, partners, sizes and times."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from leadline.program.extend.align import SAME, TOO_FEW, Aligned, Member, Misfit, Turn, align
from leadline.program.extend.blocks import Blocks, Given, blocks_of
from leadline.program.extend.dealt import Share, Shares
from leadline.program.extend.forms import LEAST
from leadline.program.extend.grids import Rule
from leadline.program.extend.groupings import Grouping
from leadline.program.extend.parts import Known, Part, Row, parts_of
from leadline.program.extend.peers import Along, Place, Relation, relations
from leadline.program.extend.sizes import CLOSE, Ends, Law, Power, Scale, Side, nearest, sides, sizes_of
from leadline.program.model import (
    ANY_PEER,
    COLLECTIVES,
    FREE_SOURCE,
    TO_A_PEER,
    Construction,
    Kind,
    Operation,
    Program,
)

NEIGHBOURS = {Kind.NEIGHBOR_ALLGATHER, Kind.NEIGHBOR_ALLTOALL}
FEWEST_TURNS = 4  # of the largest recording: 1, 2, 3 and 1, 2, 4 are alike before


@dataclass
class Column:
    """What all ranks of a group do at a place of the code.

    `operation` has what is the same for all; `partners` and `sizes` are of its fields, `shares` of those that
    are parts of a whole; `parts` of its blocks that go to neighbours (which field, whom, how much), `blocks` of
    those that each other rank has. `turn` is that of the loop that it stands in
    where it is not the same in each; then `doubles` says of sizes how often they double from turn to turn.
    `communicator` counts those that the rank came to, and `makes` says which ranks a new one has: all that
    holds, nothing where it makes none or the rank is in none.
    """

    operation: Operation
    where: str
    communicator: int
    partners: dict[str, list[Relation]] = field(default_factory=dict)
    sizes: dict[str, list[Law]] = field(default_factory=dict)
    parts: list[tuple[str, list[Relation], list[Law]]] = field(default_factory=list)
    shares: dict[str, list[Share]] = field(default_factory=dict)
    blocks: list[Blocks] = field(default_factory=list)
    makes: list[Part] = field(default_factory=list)
    before: Power | None = None
    turn: Turn | None = None
    doubles: dict[str, int] = field(default_factory=dict)


@dataclass
class Group:
    """Ranks that do the same."""

    aligned: Aligned
    columns: list[Column]


@dataclass
class Fitted:
    """What explains the recordings."""

    rule: Rule
    grouping: Grouping
    groups: dict[Hashable, Group]
    programs: Sequence[Program]  # the recordings, the largest last
    errors: dict[str, float]

    @property
    def program(self) -> Program:
        """The largest recording."""
        return self.programs[-1]


@dataclass
class _Found:
    """What the groups of a fit have found so far: deviations, and sizes of three recordings or more."""

    rule: Rule
    shares: Shares
    errors: dict[str, float]
    computed: dict[int, list[float]]
    sizes: dict[Hashable, Ends] = field(default_factory=dict)
    # What has computation before it, which is looked at where all else holds: it never decides.
    timed: list[tuple["_Fit", Column, Sequence[int]]] = field(default_factory=list)


def fit(
    every: Sequence[Sequence[Member]],
    rule: Rule,
    grouping: Grouping,
    shares: Shares,
    failed: dict[Hashable, Misfit],
) -> Fitted:
    """The explanation with ranks in such a grid and such groups. Raises Misfit where it does not hold.

    `every` has the ranks of each recording, the largest recording last, and `shares` what is dealt out among
    them; `failed` remembers groups that did not hold: many groupings have the same ones.
    """
    members: dict[Hashable, list[Member]] = {}
    programs = [ranks[0].program for ranks in every]
    for ranks in every:
        for member, key in zip(ranks, grouping.keys(rule(len(ranks))), strict=True):
            members.setdefault(key, []).append(member)
    errors: dict[str, float] = {"bytes": 0.0}
    computed: dict[int, list[float]] = {program.ranks: [0.0, 0.0] for program in programs}
    found = _Found(rule, shares, errors, computed)
    explained = 0
    groups: dict[Hashable, Group] = {}
    for key, alike in members.items():
        who = (rule, *((member.program.ranks, member.rank) for member in alike))
        try:
            if who in failed:
                raise failed[who]
            groups[key] = _Fit(alike, found).group()
        except Misfit as problem:
            if TOO_FEW not in str(problem):  # that may change with what other groups have found
                failed[who] = problem
            raise Misfit(str(problem), explained + problem.explained) from None
        explained += len(groups[key].columns)
    for part, column, leaves in found.timed:
        column.before = part.before(leaves)
    # Of all ranks together: times of a place, which are often those of a single call, are noise.
    if any(recorded > 0 for recorded, _ in computed.values()):
        errors["computation"] = max(
            abs(powers / recorded - 1) for recorded, powers in computed.values() if recorded
        )
    return Fitted(rule, grouping, groups, programs, errors)


class _Fit:
    """The fit of one group."""

    def __init__(
        self,
        members: Sequence[Member],
        found: _Found,
        made: list[Part] | None = None,
        turns: Sequence[Turn] = (),
    ) -> None:
        self.members, self._found, self._turns = members, found, turns
        self._lengths = [found.rule(member.program.ranks) for member in members]
        self._all_waited = False
        self._made: list[Part] = made or [Row(tuple(range(found.rule.dimensions)))]

    def group(self) -> Group:
        aligned = align(self.members)
        self._all_waited = aligned.all_waited
        columns: list[Column] = []
        for number, leaves in enumerate(aligned.columns):
            part = self._in_turns(aligned.turns_of[number]) if number in aligned.turns_of else self
            operations = [member.leaves[leaf] for member, leaf in zip(part.members, leaves, strict=True)]
            try:
                columns.append(part.column(operations))
            except Misfit as problem:
                raise Misfit(str(problem), len(columns)) from None
            self._found.timed.append((part, columns[-1], leaves))
        return Group(aligned, columns)

    def _in_turns(self, turns: Sequence[Turn]) -> "_Fit":
        """The fit of what changes by turn: a member stands for each of its turns."""
        most = max(turn.turns for turn in turns)
        if most < FEWEST_TURNS:
            raise Misfit(
                f"partners or sizes change by turn, but there are {most} turns only; record more ranks"
            )
        part = _Fit([self.members[turn.member] for turn in turns], self._found, self._made, turns)
        part._all_waited = self._all_waited
        return part

    def column(self, operations: Sequence[Operation]) -> Column:
        first = operations[-1]  # of the largest recording
        where = self.members[-1].place(first)
        for name in SAME:
            if name == "request" and self._all_waited:
                continue
            if len({getattr(operation, name) for operation in operations}) > 1:
                raise Misfit(f"{name} of {where} differs between ranks or recordings")
        ordinals = {
            member.made.get(operation.comm, -1)
            for member, operation in zip(self.members, operations, strict=True)
        }
        if len(ordinals) > 1 or -1 in ordinals:
            raise Misfit(f"{where} is in different communicators")
        column = Column(first, where, ordinals.pop(), turn=self._turns[-1] if self._turns else None)
        kind = first.kind
        if kind == Kind.COMM and self._turns:
            raise Misfit(f"{column.where} makes communicators again and again")
        if kind == Kind.COMM:
            self._makes(column, operations)
        elif len({operation.extra for operation in operations}) > 1:
            raise Misfit(f"windows or regions of {where} differ")
        self._partners(column, operations)
        self._sizes(column, operations)
        if kind in COLLECTIVES:
            self._parts(column, operations)
        elif kind == Kind.WAIT and self._all_waited:
            column.operation = first._replace(gives=())
        elif len({(operation.gives, operation.takes) for operation in operations}) > 1:
            raise Misfit(f"{where} is of different operations")
        return column

    def _places(self, ordinal: int) -> list[Place]:
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

    def _partners(self, column: Column, operations: Sequence[Operation]) -> None:
        kind = column.operation.kind
        fields = ["peer"] if kind in TO_A_PEER or kind in COLLECTIVES else []
        fields += ["source"] if kind == Kind.SENDRECV else []
        places = self._places(column.communicator) if fields else []
        if column.operation.free & FREE_SOURCE:
            # Who was met is chance.
            met = {fields.pop(): ANY_PEER}
            column.operation = column.operation._replace(**met)  # type: ignore[arg-type]
        for name in fields:
            column.partners[name] = self._related(
                column.where, places, [getattr(operation, name) for operation in operations]
            )

    @staticmethod
    def _related(where: str, places: Sequence[Place], partners: Sequence[int]) -> list[Relation]:
        found = relations(list(zip(places, partners, strict=True)))
        if not found:
            shown = ", ".join(
                f"rank {place.rank} of {place.size} with {partner}"
                for place, partner in list(zip(places, partners, strict=True))[-3:]
            )
            raise Misfit(f"no rule is known by which {where} finds its partner ({shown})")
        return found

    def _sizes(self, column: Column, operations: Sequence[Operation]) -> None:
        for name in ("bytes", "source_bytes"):
            values = [getattr(operation, name) for operation in operations]
            shares = self._shares(column, operations, name) if any(values) else []
            if shares:
                column.shares[name] = shares
            elif any(values):
                first, column.doubles[name] = self._doubled(operations, values)
                near = any(isinstance(one, Along) for each in column.partners.values() for one in each)
                along = sides(self._found.rule.dimensions) if near else ()
                column.sizes[name] = self._size(column.where, operations, first, along)

    def _shares(self, column: Column, operations: Sequence[Operation], name: str) -> list[Share]:
        """The parts of a whole that sizes are, where they are some."""
        known = self._found.shares.at(self._found.rule, self.members[-1], operations[-1], name)
        places = self._places(column.communicator) if known else []
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

    def _size(
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
        told = ", ".join(f"{high:,} B at {ranks} ranks" for (ranks, _), (_, high) in sorted(ends.items()))
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

    def _parts(self, column: Column, operations: Sequence[Operation]) -> None:
        for name in ("gives", "takes"):
            parts = [getattr(operation, name) for operation in operations]
            if any(parts) and column.operation.kind not in NEIGHBOURS:
                column.blocks.append(self._blocks(column, name, parts))
                continue
            if len({len(each) for each in parts}) > 1:
                raise Misfit(f"ranks that should do the same have other numbers of neighbours in {column.where}")
            places = self._places(column.communicator) if parts[0] else []
            for number in range(0, len(parts[0]), 2):
                whom = self._related(column.where, places, [each[number] for each in parts])
                size = self._size(column.where, operations, [each[number + 1] for each in parts])
                column.parts.append((name, whom, size))

    def _blocks(self, column: Column, name: str, parts: Sequence[tuple[int, ...]]) -> Blocks:
        places = self._places(column.communicator)
        known = [
            Given(place, member.program.ranks, each)
            for place, member, each in zip(places, self.members, parts, strict=True)
        ]
        found = blocks_of(name, known)
        if not found:
            raise Misfit(
                f"no rule is known for the blocks of {column.where}: they are neither alike nor equal parts of a "
                "whole"
            )
        return found

    def _makes(self, column: Column, operations: Sequence[Operation]) -> None:
        """Which ranks a new communicator has."""
        if len({bool(operation.extra) for operation in operations}) > 1:
            raise Misfit(f"some ranks of a kind are in the communicator of {column.where}, others are not")
        if not column.operation.extra:
            return
        made = column.operation.extra - 1
        if self.members[-1].made[made] != len(self._made):
            raise Misfit(f"{column.where} makes communicators again and again")
        copied = column.operation.mode == Construction.DUP and all(
            len(member.program.communicators[operation.comm].members)
            == len(member.program.communicators[operation.extra - 1].members)
            for member, operation in zip(self.members, operations, strict=True)
        )
        if copied:  # the same ranks, however many there are
            column.makes = [self._made[column.communicator]]
            self._made.append(column.makes[0])
            return
        column.makes = parts_of(
            [
                Known(member.rank, lengths, member.program.communicators[operation.extra - 1].members)
                for member, lengths, operation in zip(self.members, self._lengths, operations, strict=True)
            ]
        )
        if not column.makes:
            raise Misfit(
                f"the communicator of {column.where} is no row, column or plane of the grid, and no block"
            )
        self._made.append(column.makes[0])

    def before(self, leaves: Sequence[int]) -> Power:
        sums: dict[int, list[float]] = {}
        counts: dict[int, int] = {}
        for member, leaf in zip(self.members, leaves, strict=True):
            ranks = member.program.ranks
            sums.setdefault(ranks, []).append(float(member.program.stats(member.rank)["before_mean"][leaf]))
            counts[ranks] = member.counts[leaf]
        means = {ranks: sum(values) / len(values) for ranks, values in sums.items()}
        power = nearest({(ranks, 1): (mean, mean) for ranks, mean in means.items()})
        for ranks, values in sums.items():
            self._found.computed[ranks][0] += counts[ranks] * sum(values)
            self._found.computed[ranks][1] += counts[ranks] * len(values) * power((ranks, 1))
        return power


def at_turn(size: int, turn: int, doubles: int) -> int | None:
    """A size that doubles, or halves, so many turns later, B; None where it is no whole number."""
    if doubles >= 0:
        return size << turn * doubles
    return None if size % (1 << turn) else size >> turn


__all__ = ["Column", "Fitted", "Group", "Misfit", "at_turn", "fit"]
