"""Which operations of different ranks belong together: messages with their receives, collectives by turns."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from leadline.program.model import (
    ANY_PEER,
    COLLECTIVES,
    FREE_TAG,
    Construction,
    Form,
    Kind,
    Operation,
    Program,
)


class End(NamedTuple):
    """One end of a message: when the rank asked for it, and in which operation it was over."""

    rank: int
    posted: int  # index of the operation that began it
    over: int  # index of the operation that ended it
    bytes: int


class Message(NamedTuple):
    """A message with both its ends. Where `probe`, the other end is a probe that met it."""

    sent: End
    taken: End
    probe: bool = False


Place = tuple[int, int]  # rank, index of an operation

# Constructors of communicators to which the new one's ranks come, not those of the parent.
_OF_THE_NEW = {Construction.CREATE_GROUP, Construction.INTER, Construction.MERGE}
# Of a message: communicator, source and destination as world ranks, tag.
_Key = tuple[int, int, int, int]
TAKES = 1  # mode of a probe that takes its message from others (MPI_Mprobe)


def messages(program: Program, probes: bool = False) -> Iterator[Message]:
    """Every message of which both ends were recorded, matched as MPI does: in order, by source and tag.

    With `probes` also those that a probe met, which are received besides. Where a rank receives from any
    source and it is not known from which, what is sent to it with that tag is left out.
    """
    found = _Found(same_communicators(program))
    for rank in range(program.ranks):
        _Ends(program, rank, found).read()
    for key, ends in found.taken.items():
        if found.known(key):
            ends.sort(key=lambda end: end.posted)  # some were not known before they were over
            yield from map(Message, found.sent.get(key, ()), ends)
    if not probes:
        return
    for key, met in found.probed.items():
        sent, begun = found.sent.get(key, ()), [end.posted for end in found.taken.get(key, ())]
        ahead: list[int] = []  # places of what probes took and nobody has received yet
        for end, takes in met if found.known(key) else ():
            place = bisect_left(begun, end.posted)
            ahead = [each for each in ahead if each >= place]
            place = next(free for free in count(place) if free not in ahead)
            if place < len(sent):
                yield Message(sent[place], end, probe=True)
            if takes:
                ahead.append(place)


class _Found:
    """The ends of all messages: in each list in order."""

    def __init__(self, same: list[int]) -> None:
        self.same = same  # communicators by their numbers
        self.sent: defaultdict[_Key, list[End]] = defaultdict(list)
        self.taken: defaultdict[_Key, list[End]] = defaultdict(list)
        self.probed: defaultdict[_Key, list[tuple[End, bool]]] = defaultdict(list)
        self.unknown: set[tuple[int, int, int]] = set()  # communicator, rank, tag of receives of any source

    def known(self, key: _Key) -> bool:
        """Whether all that its receiver takes of this tag is known by its source."""
        comm, _, rank, tag = key
        return (comm, rank, tag) not in self.unknown and (comm, rank, ANY_PEER) not in self.unknown


class _Ends:
    """The ends of messages at one rank."""

    def __init__(self, program: Program, rank: int, found: _Found) -> None:
        self._program, self._rank, self._found = program, rank, found
        # What is under way in each slot: its list, its place there.
        self._open: dict[int, list[tuple[list[End], int]]] = {}
        self._ready: dict[int, Operation] = {}
        # Receives of any source that met several, by slot: where each was started.
        self._several: dict[int, tuple[Operation, int]] = {}

    def read(self) -> None:
        for index, (_, operation) in enumerate(self._program.operations(self._rank)):
            kind = operation.kind
            if kind in {Kind.SEND, Kind.RECV} and operation.form == Form.PERSISTENT:
                self._ready[operation.request] = operation
            elif kind in {Kind.SEND, Kind.RECV}:
                self._begin(operation, index)
            elif kind == Kind.SENDRECV:
                self._begin(operation._replace(kind=int(Kind.SEND), request=0), index)
                self._begin(
                    operation._replace(
                        kind=int(Kind.RECV),
                        peer=operation.source,
                        bytes=operation.source_bytes,
                        tag=operation.source_tag,
                        request=0,
                    ),
                    index,
                )
            elif kind == Kind.PROBE and (key := self._key(operation)):
                end = End(self._rank, index, index, operation.bytes)
                self._found.probed[key].append((end, operation.mode == TAKES))
            elif kind == Kind.START:
                for slot in operation.gives:
                    self._start(slot, index)
            elif kind == Kind.FREE:
                self._ready.pop(operation.request, None)
            elif kind == Kind.WAIT:
                self._wait(operation, index)
        for operation, _ in self._several.values():
            self._is_of_any(operation)

    def _start(self, slot: int, index: int) -> None:
        operation = self._ready.get(slot)
        if operation is None:
            return
        if operation.kind == Kind.RECV and operation.peer == ANY_PEER:
            self._several[slot] = operation, index
        else:
            self._begin(operation, index)

    def _wait(self, operation: Operation, index: int) -> None:
        of = operation.takes
        met = {slot: said for slot, *said in zip(of[::3], of[1::3], of[2::3], strict=False)}
        for slot in operation.gives:
            for ends, place in self._open.pop(slot, ()):
                ends[place] = ends[place]._replace(over=index)
            if slot not in self._several:
                continue
            receive, posted = self._several.pop(slot)
            if slot not in met:
                self._is_of_any(receive)
                continue
            source, tag = met[slot]
            if key := self._key(receive._replace(peer=source, tag=tag)):
                self._found.taken[key].append(End(self._rank, posted, index, receive.bytes))

    def _key(self, operation: Operation) -> _Key | None:
        """What tells a message of this operation from others; None where its peer is not known."""
        peers = self._program.communicators[operation.comm].peers
        if not 0 <= operation.peer < len(peers):
            return None
        other = peers[operation.peer]
        pair = (self._rank, other) if operation.kind == Kind.SEND else (other, self._rank)
        return self._found.same[operation.comm], *pair, operation.tag

    def _is_of_any(self, receive: Operation) -> None:
        tag = ANY_PEER if receive.free & FREE_TAG else receive.tag
        self._found.unknown.add((self._found.same[receive.comm], self._rank, tag))

    def _begin(self, operation: Operation, index: int) -> None:
        key = self._key(operation)
        if key is None:
            if operation.kind == Kind.RECV and operation.peer == ANY_PEER:
                self._is_of_any(operation)
            return
        ends = (self._found.sent if operation.kind == Kind.SEND else self._found.taken)[key]
        ends.append(End(self._rank, index, index, operation.bytes))
        if operation.request:
            self._open.setdefault(operation.request, []).append((ends, len(ends) - 1))


def same_communicators(program: Program) -> list[int]:
    """Of each communicator its number; of an intercommunicator the one that both its groups' ranks share."""
    made: defaultdict[object, list[int]] = defaultdict(list)
    same = list(range(len(program.communicators)))
    for index, each in enumerate(program.communicators):
        if each.remote:
            groups = tuple(each.members), tuple(each.remote)
            others = made[each.construction, groups[::-1]]
            if others:
                same[index] = others.pop(0)
            else:
                made[each.construction, groups].append(index)
    return same


def collectives(program: Program) -> Iterator[tuple[Operation, list[Place]]]:
    """Every operation of all ranks of a communicator that all of them came to: one rank's, and the places.

    Of those that block, and of those alone that move data or are a barrier.
    """
    for operation, ends in meetings(program):
        if operation.kind in COLLECTIVES and all(each.posted == each.over for each in ends):
            yield operation, [(each.rank, each.posted) for each in ends]


def meetings(program: Program) -> Iterator[tuple[Operation, list[End]]]:
    """What all ranks of a communicator come to: collectives in all forms, constructors, windows, fences.

    One rank's operation, and of each rank where it came and where it was over; where an intercommunicator has
    a root, an operation of the other group's ranks. What some ranks did not come to, as in a recording that
    was cut, is left out.
    """
    found: _Meetings = defaultdict(list)
    same = same_communicators(program)
    for rank in range(program.ranks):
        _Comings(program, rank, found, same).read()
    for turns in found.values():
        for operation, ends in turns:
            of = program.communicators[among(operation)]
            if len(ends) == len(of.members) + len(of.remote):
                yield operation, ends


class _Meeting(NamedTuple):
    """An operation of all ranks, and where they came to it."""

    operation: Operation
    ends: list[End]


# By what is in one order on all ranks: each operation in its turn.
_Meetings = defaultdict[tuple[int, ...], list[_Meeting]]


class _Comings:
    """Where one rank comes to what all do."""

    def __init__(self, program: Program, rank: int, found: _Meetings, same: list[int]) -> None:
        self._program, self._rank, self._found, self._same = program, rank, found, same
        self._count: defaultdict[tuple[int, ...], int] = defaultdict(int)
        self._ready: dict[int, Operation] = {}  # by slot, as what is under way: the ends, and the place there
        self._open: dict[int, tuple[list[End], int]] = {}

    def read(self) -> None:
        for index, (_, operation) in enumerate(self._program.operations(self._rank)):
            if operation.kind == Kind.START:
                for slot in operation.gives:
                    if slot in self._ready:
                        self._come(self._ready[slot], index)
            elif operation.kind == Kind.WAIT:
                for slot in operation.gives:
                    if slot in self._open:
                        ends, place = self._open.pop(slot)
                        ends[place] = ends[place]._replace(over=index)
            elif operation.kind == Kind.FREE:
                self._ready.pop(operation.request, None)
            elif _meets(operation) and operation.form == Form.PERSISTENT:
                self._ready[operation.request] = operation
            elif _meets(operation):
                self._come(operation, index)

    def _come(self, operation: Operation, index: int) -> None:
        key = _meeting(operation, self._same[among(operation)])
        turns, turn = self._found[key], self._count[key]
        self._count[key] += 1
        if turn == len(turns):
            turns.append(_Meeting(operation, []))
        elif turns[turn].operation.peer < 0:  # which does not say who the root is
            turns[turn] = turns[turn]._replace(operation=operation)
        ends = turns[turn].ends
        if operation.request:
            self._open[operation.request] = ends, len(ends)
        ends.append(End(self._rank, index, index, operation.bytes))


def among(operation: Operation) -> int:
    """The communicator whose ranks come to an operation."""
    made = operation.kind == Kind.COMM and operation.mode in _OF_THE_NEW
    return operation.extra - 1 if made else operation.comm


def _meets(operation: Operation) -> bool:
    """Whether all ranks of a communicator come to an operation."""
    if operation.kind == Kind.COMM:
        return operation.mode not in _OF_THE_NEW or operation.extra > 0
    return operation.kind in COLLECTIVES or operation.kind in {Kind.WIN, Kind.WIN_FREE, Kind.FENCE}


def _meeting(operation: Operation, comm: int) -> tuple[int, ...]:
    """What distinguishes the operations that are in one order on all ranks."""
    if operation.kind in COLLECTIVES:
        return (comm,)
    if operation.kind == Kind.COMM:
        return comm, operation.kind, operation.mode if operation.mode in _OF_THE_NEW else -1
    window = operation.extra if operation.kind == Kind.FENCE else 0
    return comm, operation.kind, window
