"""The program that an explanation gives at a number of ranks."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from leadline.core.errors import UsageError
from leadline.program.extend.blocks import Blocks, has_blocks
from leadline.program.extend.dealt import Share
from leadline.program.extend.fit import Fitted, Group
from leadline.program.extend.grids import Lengths
from leadline.program.extend.members import Ambiguous, Misfit
from leadline.program.extend.peers import Place, Relation
from leadline.program.extend.repeated import repeated
from leadline.program.extend.sized import Column, at_turn
from leadline.program.extend.sizes import Law, allowed, in_grid, size_at, sure
from leadline.program.extend.tags import Tag
from leadline.program.folded import Folded
from leadline.program.model import (
    ANY_PEER,
    STATS,
    Communicator,
    Form,
    Kind,
    Operation,
    Program,
    shifted,
)

_ASKED = 128  # ranks of which every relation that holds is asked, whether they agree
_MOST = 1 << 22  # operations that are written out: a minute and a GB
_FEWEST = 3  # of the ranks of the largest recording more than one in so many are in groups of new ranks


class _Ranks:
    """Communicators of the new program, made as ranks come to them."""

    def __init__(self, lengths: Lengths, count: int, sides: Lengths) -> None:
        self.lengths, self.count, self.sides = lengths, count, sides
        self.communicators = [Communicator(range(count))]
        self._known: dict[Hashable, int] = {}
        self._of_members: dict[tuple[int, tuple[int, ...]], int] = {}
        self._asked: Counter[int] = Counter()  # ranks of a place of the code, of its relations
        self.sizes: dict[Hashable, int] = {}  # of places of the code, as they were asked for
        self._blocks: dict[Hashable, tuple[int, ...]] = {}  # as they were asked for
        self._in_blocks = 0  # numbers in them
        self.off = 0.0  # how far one of them may be off, relative

    def size(self, column: Column, laws: list[Law], ranks: int) -> int:
        """The size at a place of the code, B, in a communicator of so many ranks.

        Raises Misfit where laws that the recordings allow differ by more than rounding.
        """
        asked = id(laws), ranks
        if asked not in self.sizes:
            if not sure(laws):
                raise Ambiguous(
                    f"the size of {column.where} has two values only, which several laws may give; "
                    "record another number of ranks"
                )
            size, off, (least, most) = size_at(in_grid(laws, self.sides), (self.count, ranks))
            if off > allowed(laws) or size < 0:
                if least == most:
                    raise Misfit(
                        f"the size of {column.where} would be {size:,} B, give or take {100 * off:.2g} %; "
                        "record more ranks"
                    )
                raise (Misfit if laws[0].error else Ambiguous)(
                    f"the size of {column.where} may be {least:,} or {most:,} B: the recordings allow both; "
                    "record another number of ranks"
                )
            self.sizes[asked] = size
            self.off = max(self.off, off)
        return self.sizes[asked]

    def blocks(self, column: Column, blocks: Blocks, place: Place) -> tuple[int, ...]:
        """What a rank gives or takes, block by block."""
        asked = id(blocks), place.size, None if blocks.alike else place.rank
        if asked not in self._blocks:
            found, other = blocks.at(place, lambda laws: self.size(column, laws, place.size))
            if other is not None:
                raise Ambiguous(
                    f"the recordings allow several sizes of the block of rank {other} in {column.where}; "
                    "record another number of ranks"
                )
            self._in_blocks += len(found)
            if self._in_blocks > _MOST:
                raise Misfit(f"{column.where} has blocks for each rank, more than {_MOST:,} in all")
            self._blocks[asked] = found
        return self._blocks[asked]

    def compares(self, relations: list[Relation], rank: int) -> bool:
        """Whether all relations that hold are asked of a rank: the first, the last, some of each group."""
        self._asked[id(relations)] += 1
        return min(rank, self.count - 1 - rank, self._asked[id(relations)]) < _ASKED

    def made(self, rank: int, number: int, column: Column, parent: int) -> tuple[int, Place]:
        """The communicator that a rank comes to with others at a place of the code, and its place there.

        Raises Ambiguous where the recordings allow others.
        """
        part = column.makes[0]
        key = number, part, part.key(rank, self.lengths)
        if key not in self._known:
            members = part.members(rank, self.lengths)
            for other in column.makes[1:]:
                if tuple(other.members(rank, self.lengths)) != tuple(members):
                    raise Ambiguous(
                        f"the communicator of {column.where} may be {_ranks(members)} or "
                        f"{_ranks(other.members(rank, self.lengths))}: the recordings allow both; "
                        "record another number of ranks"
                    )
            # Ranks of other groups may come to it by another rule.
            found = self._of_members.setdefault((number, tuple(members)), len(self.communicators))
            if found == len(self.communicators):
                self.communicators.append(Communicator(members, column.operation.mode, parent))
            self._known[key] = found
        return self._known[key], part.place(rank, self.lengths)


def _ranks(members: Sequence[int]) -> str:
    told = [str(rank) for rank in members[:4]]
    return f"ranks {', '.join(told)}{' and more' if len(members) > len(told) else ''} ({len(members)} in all)"


def make(fitted: Fitted, ranks: int, lengths: Lengths) -> Program:
    """The program of so many ranks in a grid of such lengths.

    Raises Misfit where no recording, or only some that leave out the largest one, have a rank in the place of
    one of them, or two explanations differ, and UsageError where the lengths are not those of so many ranks.
    """
    if np.prod(lengths) != ranks:
        raise UsageError(f"a grid of {'x'.join(map(str, lengths))} has not {ranks} ranks")
    sides = lengths[::-1] if fitted.rule.longest_first else lengths  # as laws count them
    context = _Ranks(lengths, ranks, sides)
    groups = {
        key: repeated(group, rank, lengths, sides)
        for key, (group, rank) in _needed(fitted, ranks, lengths).items()
    }
    nodes = {key: group.aligned.nodes for key, group in groups.items()}
    _check_number(fitted, groups, ranks, lengths)
    counts = {
        key: Folded(tuple(column.operation for column in group.columns), nodes[key]).counts
        for key, group in groups.items()
    }
    sequences: dict[Hashable, int] = {}
    folded: list[Folded] = []
    tables = {key: number for number, key in enumerate(groups)}
    rank_sequence, rank_stats = np.zeros(ranks, np.int32), np.zeros(ranks, np.int32)
    messages = _Messages(context)
    for rank in range(ranks):
        key = fitted.grouping.key(rank, lengths)
        leaves = _leaves(groups[key], rank, context)
        messages.add(rank, list(zip(leaves, counts[key], strict=True)))
        relative = tuple(shifted(leaf, context.communicators, rank, -1) for leaf in leaves)
        identity = key, relative
        found = sequences.setdefault(identity, len(folded))
        if found == len(folded):
            folded.append(Folded(relative, nodes[key], relative=True))
        rank_sequence[rank], rank_stats[rank] = found, tables[key]
    if not messages.all_received:
        raise Misfit("in the extended program not every message would be received")
    fitted.compare_times()
    fitted.errors["bytes"] = max(fitted.errors["bytes"], context.off)
    return Program(
        ranks=ranks,
        sequences=folded,
        rank_sequence=rank_sequence,
        stats_tables=[_stats(group, ranks) for group in groups.values()],
        rank_stats=rank_stats,
        communicators=context.communicators,
        sites=list(fitted.program.sites),
        regions=list(fitted.program.regions),
        recorded={"extended_from": str(fitted.program.recorded.get("command", "")), "grid": list(lengths)},
    )


def _needed(fitted: Fitted, ranks: int, lengths: Lengths) -> dict[Hashable, tuple[Group, int]]:
    """The groups that the new ranks are of, each with the first of them.

    Each must have ranks of the largest recording and of another one, and each recording must have ranks in
    one of them, the largest more than a third of its own: what is compared with nothing may be anything at
    another number of ranks.
    """
    found: dict[Hashable, tuple[Group, int]] = {}
    for rank in range(ranks):
        key = fitted.grouping.key(rank, lengths)
        if key in found:
            continue
        if key not in fitted.groups:
            raise Misfit(_absent(fitted, rank, "no recording"))
        found[key] = fitted.groups[key], rank
        sizes = {member.program.ranks for member in fitted.groups[key].aligned.members}
        if fitted.program.ranks not in sizes:
            raise Misfit(_absent(fitted, rank, f"not the largest recording ({fitted.program.ranks} ranks)"))
        if len(sizes) == 1:
            raise Misfit(_absent(fitted, rank, f"no recording but that of {fitted.program.ranks} ranks"))
    used = Counter(member.program.ranks for group, _ in found.values() for member in group.aligned.members)
    for program in fitted.programs:
        if _FEWEST * used[program.ranks] <= program.ranks * (program is fitted.program):
            few = "few ranks" if used[program.ranks] else "no rank"
            raise Misfit(
                f"the recording of {program.ranks} ranks has {few} in the place of one of the new ranks "
                f"({fitted.grouping.name}), and would be left out"
            )
    return found


def _absent(fitted: Fitted, rank: int, who: str) -> str:
    return f"{who} has a rank in the place of rank {rank} ({fitted.grouping.name}); record more ranks"


def _check_number(fitted: Fitted, groups: dict[Hashable, Group], ranks: int, lengths: Lengths) -> None:
    """That operations that are written out, such as a message of each rank to each, are not too many."""
    if any(group.aligned.turns_of for group in groups.values()):
        number = sum(len(groups[fitted.grouping.key(rank, lengths)].columns) for rank in range(ranks))
        if number > _MOST:
            raise Misfit(f"{number:,} operations have partners or sizes of their own: more than {_MOST:,}")


def _stats(group: Group, ranks: int) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    table = np.zeros(len(group.columns), STATS)
    for place, column in enumerate(group.columns):
        value = column.timed.power((ranks, 1)) if column.timed else 0.0
        for name in ("before_mean", "before_min", "before_max"):
            table[name][place] = value
    return table


def _leaves(group: Group, rank: int, context: _Ranks) -> list[Operation]:
    """A rank's operations, peers as ranks of their communicators."""
    comms = [0]
    places = [Place(rank, context.count, context.lengths)]
    found = []
    for column in group.columns:
        operation = column.operation
        place = places[column.communicator].within(rank, context.lengths)
        if column.turn:
            place = place._replace(turn=column.turn.turn, turns=column.turn.turns)
        changes: dict[str, Any] = {"comm": comms[column.communicator]}
        for name, relations in column.partners.items():
            changes[name] = _partner(column, relations, place, context, rank)
        for name, tags in column.tags.items():
            changes[name] = _tag(column, tags, place, _end(operation, changes, name))
        for name, size in column.sizes.items():
            changes[name] = _in_turn(column, name, context.size(column, size, place.size))
        for name, shares in column.shares.items():
            changes[name] = _share(column, shares, place, _end(operation, changes, name))
        for blocks in column.blocks:
            root = operation._replace(peer=_end(operation, changes, "peer"))
            known = has_blocks(root, place)
            changes[blocks.field] = context.blocks(column, blocks, place) if known else ()
        if column.parts:
            for name in ("gives", "takes"):
                changes[name] = tuple(
                    value
                    for which, relations, size in column.parts
                    if which == name
                    for value in (
                        _partner(column, relations, place, context, rank),
                        context.size(column, size, place.size),
                    )
                )
        if column.makes:
            index, inside = context.made(rank, len(comms), column, comms[column.communicator])
            comms.append(index)
            places.append(inside)
            changes["extra"] = index + 1
        found.append(operation._replace(**changes))
    return found


def _end(operation: Operation, changes: Mapping[str, Any], name: str) -> int:
    """The partner that a field is about."""
    of = "source" if name.startswith("source") else "peer"
    return int(changes.get(of, getattr(operation, of)))


def _tag(column: Column, tags: Sequence[Tag], place: Place, peer: int) -> int:
    found = {tag(place, peer) for tag in tags}
    if len(found) > 1:
        raise Ambiguous(
            f"the tag of {column.where} may be {min(found)} or {max(found)}: the recordings allow both; "
            "record another number of ranks"
        )
    return found.pop()


def _share(column: Column, shares: Sequence[Share], place: Place, peer: int) -> int:
    """A size that is a part of a whole."""
    sizes = {size for share in shares for size in share(place, peer)}
    if not sizes:
        return 0
    if len(sizes) > 1:
        least, most = min(sizes), max(sizes)
        raise Ambiguous(
            f"the size of {column.where} may be {least:,} or {most:,} B, by who has the rest of a division: "
            "the recordings allow both; record another number of ranks"
        )
    return sizes.pop()


def _in_turn(column: Column, name: str, first: int) -> int:
    """A size in a turn, of that in the first one."""
    size = at_turn(first, column.turn.turn, column.doubles.get(name, 0)) if column.turn else first
    if size is None:
        raise Misfit(f"the size of {column.where} would be halved until it is no whole number")
    return size


def _partner(column: Column, relations: list[Relation], place: Place, context: _Ranks, rank: int) -> int:
    partner = relations[0](place)
    if context.compares(relations, rank) and any(other(place) != partner for other in relations[1:]):
        told = sorted({relation(place) for relation in relations})
        raise Ambiguous(
            f"the partner of rank {place.rank} in {column.where} may be {told[0]} or {told[1]}: the "
            "recordings allow both; record another number of ranks"
        )
    if partner >= place.size:
        raise Misfit(f"the partner of {column.where} would be rank {partner} of {place.size}")
    return partner


class _Messages:
    """Whether every message is received: sends less receives by ends and tag, and receives of any of them."""

    def __init__(self, context: _Ranks) -> None:
        self._context = context
        self._left: Counter[tuple[int, int, int, int]] = Counter()  # communicator, receiver, sender, tag
        self._free: Counter[tuple[int, int]] = Counter()  # communicator, receiver

    def add(self, rank: int, executed: Sequence[tuple[Operation, int]]) -> None:
        """A rank's operations and how often it executes each."""
        for leaf, times in executed:
            if leaf.kind not in {Kind.SEND, Kind.RECV, Kind.SENDRECV} or leaf.form == Form.PERSISTENT:
                continue
            peers = self._context.communicators[leaf.comm].members
            if leaf.kind != Kind.RECV and leaf.peer >= 0:
                self._left[leaf.comm, peers[leaf.peer], rank, leaf.tag] += times
            if leaf.kind == Kind.RECV:
                self._receive(leaf, rank, (leaf.peer, leaf.tag), times)
            if leaf.kind == Kind.SENDRECV:
                self._receive(leaf, rank, (leaf.source, leaf.source_tag), times)

    def _receive(self, leaf: Operation, rank: int, wanted: tuple[int, int], times: int) -> None:
        source, tag = wanted
        if leaf.free or source == ANY_PEER:
            self._free[leaf.comm, rank] += times
        elif source >= 0:
            self._left[leaf.comm, rank, self._context.communicators[leaf.comm].members[source], tag] -= times

    @property
    def all_received(self) -> bool:
        """Whether each one that is sent is received, and no other one waited for."""
        open_ = Counter(self._free)
        for (comm, receiver, _, _), count in self._left.items():
            if count < 0:
                return False
            open_[comm, receiver] -= count
        return not any(open_.values())
