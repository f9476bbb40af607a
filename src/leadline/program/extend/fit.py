"""What explains recordings: for each group of ranks and place of the code, partners, sizes and times."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from leadline.program.extend.align import Aligned, Turn, align
from leadline.program.extend.blocks import Blocks, Given, blocks_of, has_blocks
from leadline.program.extend.dealt import Shares
from leadline.program.extend.grids import Rule
from leadline.program.extend.groupings import Grouping
from leadline.program.extend.members import SAME, TOO_FEW, Member, Misfit
from leadline.program.extend.parts import Known, parts_of
from leadline.program.extend.peers import ByTurn, Place, Relation, relations, roots
from leadline.program.extend.sized import Column, Found, Sized
from leadline.program.extend.tags import tags_of
from leadline.program.extend.timed import Timed, computation_off
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

    def compare_times(self) -> None:
        """How far computation is off, into `errors`. It never decides: it is asked for where all holds."""
        timed = [column.timed for group in self.groups.values() for column in group.columns if column.timed]
        off = computation_off(timed)
        if off is not None:
            self.errors["computation"] = off


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
    found = Found(rule, shares, errors)
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
    return Fitted(rule, grouping, groups, programs, errors)


class _Fit(Sized):
    """The fit of one group."""

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
            columns[-1].timed = Timed(part.members, leaves)
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
            if name == "tag" or (name == "request" and self._all_waited):
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
        self._reaches(column)
        self._tags(column, operations)
        self.sizes(column, operations)
        if kind in COLLECTIVES:
            self._parts(column, operations)
        elif kind == Kind.WAIT and self._all_waited:
            column.operation = first._replace(gives=())
        elif len({(operation.gives, operation.takes) for operation in operations}) > 1:
            raise Misfit(f"{where} is of different operations")
        return column

    def _partners(self, column: Column, operations: Sequence[Operation]) -> None:
        kind = column.operation.kind
        fields = ["peer"] if kind in TO_A_PEER or kind in COLLECTIVES else []
        fields += ["source"] if kind == Kind.SENDRECV else []
        places = self.places(column.communicator) if fields else []
        if column.operation.free & FREE_SOURCE:
            # Who was met is chance.
            met = {fields.pop(): ANY_PEER}
            column.operation = column.operation._replace(**met)  # type: ignore[arg-type]
        for name in fields:
            column.partners[name] = self._related(
                column.where,
                places,
                [getattr(operation, name) for operation in operations],
                roots if kind in COLLECTIVES else relations,
            )

    @staticmethod
    def _related(
        where: str,
        places: Sequence[Place],
        partners: Sequence[int],
        known: Callable[[Sequence[tuple[Place, int]]], list[Relation]] = relations,
    ) -> list[Relation]:
        found = known(list(zip(places, partners, strict=True)))
        if not found:
            shown = ", ".join(
                f"rank {place.rank} of {place.size} with {partner}"
                for place, partner in list(zip(places, partners, strict=True))[-3:]
            )
            raise Misfit(f"no rule is known by which {where} finds its partner ({shown})")
        return found

    def _reaches(self, column: Column) -> None:
        """Whether there are as many turns everywhere as the partners come to all ranks in."""
        places = self.places(column.communicator) if self._turns else []
        for relation in (one for every in column.partners.values() for one in every):
            if isinstance(relation, ByTurn) and all(
                place.turns == relation.reaches(place.size) for place in places
            ):
                column.reaches = relation
                return

    def _tags(self, column: Column, operations: Sequence[Operation]) -> None:
        """Tags that are not the same for all: numbers of turns, or of the ranks at either end."""
        for name, of in (("tag", "peer"), ("source_tag", "source")):
            tags = [getattr(operation, name) for operation in operations]
            if len(set(tags)) == 1:
                continue
            places = self.places(column.communicator)
            peers = [getattr(operation, of) for operation in operations]
            column.tags[name] = tags_of(list(zip(places, peers, tags, strict=True)))
            if not column.tags[name]:
                raise Misfit(f"no rule is known for the tags of {column.where}")

    def _parts(self, column: Column, operations: Sequence[Operation]) -> None:
        for name in ("gives", "takes"):
            parts = [getattr(operation, name) for operation in operations]
            if any(parts) and column.operation.kind not in NEIGHBOURS:
                column.blocks.append(self._blocks(column, name, operations))
                continue
            if len({len(each) for each in parts}) > 1:
                raise Misfit(f"ranks that should do the same have other neighbours in {column.where}")
            places = self.places(column.communicator) if parts[0] else []
            for number in range(0, len(parts[0]), 2):
                whom = self._related(column.where, places, [each[number] for each in parts])
                size = self.size(column.where, operations, [each[number + 1] for each in parts])
                column.parts.append((name, whom, size))

    def _blocks(self, column: Column, name: str, operations: Sequence[Operation]) -> Blocks:
        """The rules by which ranks have blocks; a root alone has those of what it gathers or scatters."""
        places = self.places(column.communicator)
        known = [
            Given(place, member.program.ranks, getattr(each, name))
            for place, member, each in zip(places, self.members, operations, strict=True)
            if has_blocks(each, place)
        ]
        found = blocks_of(name, known)
        if not found:
            raise Misfit(
                f"no rule is known for the blocks of {column.where}: neither are they alike nor, for "
                "certain, equal parts of a whole (where the numbers of ranks all divide it: record others)"
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


__all__ = ["Fitted", "Group", "fit"]
