"""Which operations of different ranks belong together: messages with their receives, collectives by turns."""

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import NamedTuple

from leadline.program.model import ANY_PEER, COLLECTIVES, Construction, Form, Kind, Operation, Program


class End(NamedTuple):
    """One end of a message: when the rank asked for it, and in which operation it was over."""

    rank: int
    posted: int  # index of the operation that began it
    over: int  # index of the operation that ended it
    bytes: int


class Message(NamedTuple):
    """A message with both its ends."""

    sent: End
    taken: End


Place = tuple[int, int]  # rank, index of an operation

# Constructors of communicators to which all ranks of the parent come.
_OF_ALL = set(Construction) - {Construction.CREATE_GROUP, Construction.INTER, Construction.MERGE}
# Of a message: communicator, source and destination as world ranks, tag.
_Key = tuple[int, int, int, int]


def messages(program: Program) -> Iterator[Message]:
    """Every message of which both ends were recorded, matched as MPI does: in order, by source and tag."""
    sent: defaultdict[_Key, deque[End]] = defaultdict(deque)
    taken: defaultdict[_Key, deque[End]] = defaultdict(deque)
    for rank in range(program.ranks):
        _Ends(program, rank, sent, taken).read()
    for key, ends in taken.items():
        for one, other in zip(sent.get(key, ()), ends, strict=False):
            yield Message(one, other)


class _Ends:
    """The ends of messages at one rank."""

    def __init__(
        self,
        program: Program,
        rank: int,
        sent: defaultdict[_Key, deque[End]],
        taken: defaultdict[_Key, deque[End]],
    ) -> None:
        self._program, self._rank, self._sent, self._taken = program, rank, sent, taken
        # What is under way in each slot: its list, its place there, where it was begun.
        self._open: dict[int, list[tuple[deque[End], int]]] = {}
        self._ready: dict[int, Operation] = {}

    def read(self) -> None:
        for index, (_, operation) in enumerate(self._program.operations(self._rank)):
            kind = operation.kind
            if kind in {Kind.SEND, Kind.RECV}:
                if operation.form == Form.PERSISTENT:
                    self._ready[operation.request] = operation
                else:
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
            elif kind == Kind.START:
                for slot in operation.gives:
                    if slot in self._ready:
                        self._begin(self._ready[slot], index)
            elif kind == Kind.FREE:
                self._ready.pop(operation.request, None)
            elif kind == Kind.WAIT:
                for slot in operation.gives:
                    for ends, place in self._open.pop(slot, ()):
                        ends[place] = ends[place]._replace(over=index)

    def _begin(self, operation: Operation, index: int) -> None:
        peers = self._program.communicators[operation.comm].peers
        if operation.peer == ANY_PEER or operation.peer >= len(peers):
            return
        other = peers[operation.peer]
        sends = operation.kind == Kind.SEND
        pair = (self._rank, other) if sends else (other, self._rank)
        ends = (self._sent if sends else self._taken)[operation.comm, pair[0], pair[1], operation.tag]
        ends.append(End(self._rank, index, index, operation.bytes))
        if operation.request:
            self._open.setdefault(operation.request, []).append((ends, len(ends) - 1))


def collectives(program: Program) -> Iterator[tuple[Operation, list[Place]]]:
    """Every operation of all ranks of a communicator that all of them came to: one rank's, and the places.

    Of those that block, and of those alone that move data or are a barrier.
    """
    for operation, ends in meetings(program):
        if operation.kind in COLLECTIVES and all(each.posted == each.over for each in ends):
            yield operation, [(each.rank, each.posted) for each in ends]


def meetings(program: Program) -> Iterator[tuple[Operation, list[End]]]:
    """What all ranks of a communicator come to: collectives in all forms, its copies, windows, fences.

    One rank's operation, and of each rank where it came and where it was over. What some ranks did not come
    to, as in a recording that was cut, is left out.
    """
    found: _Meetings = defaultdict(list)
    for rank in range(program.ranks):
        _Comings(program, rank, found).read()
    for turns in found.values():
        for operation, ends in turns:
            if len(ends) == len(program.communicators[operation.comm].members):
                yield operation, ends


# By what is in one order on all ranks: each operation in its turn, and where ranks came to it.
_Meetings = defaultdict[tuple[int, ...], list[tuple[Operation, list[End]]]]


class _Comings:
    """Where one rank comes to what all do."""

    def __init__(self, program: Program, rank: int, found: _Meetings) -> None:
        self._program, self._rank, self._found = program, rank, found
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
        key = _meeting(operation)
        turns, turn = self._found[key], self._count[key]
        self._count[key] += 1
        if turn == len(turns):
            turns.append((operation, []))
        ends = turns[turn][1]
        if operation.request:
            self._open[operation.request] = ends, len(ends)
        ends.append(End(self._rank, index, index, operation.bytes))


def _meets(operation: Operation) -> bool:
    """Whether all ranks of the operation's communicator come to it."""
    if operation.kind == Kind.COMM:
        return operation.mode in _OF_ALL
    return operation.kind in COLLECTIVES or operation.kind in {Kind.WIN, Kind.WIN_FREE, Kind.FENCE}


def _meeting(operation: Operation) -> tuple[int, ...]:
    """What distinguishes the operations that are in one order on all ranks."""
    if operation.kind in COLLECTIVES:
        return (operation.comm,)
    window = operation.extra if operation.kind == Kind.FENCE else 0
    return operation.comm, operation.kind, window
