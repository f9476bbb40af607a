"""Which operations of different ranks belong together: messages with their receives, collectives by turns."""

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import NamedTuple

from leadline.program.model import ANY_PEER, COLLECTIVES, Form, Kind, Operation, Program


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
    """Every operation of all ranks of a communicator that all of them came to: one rank's, and the places."""
    turns: defaultdict[tuple[int, int], list[Place]] = defaultdict(list)
    what: dict[tuple[int, int], Operation] = {}
    for rank in range(program.ranks):
        count: defaultdict[int, int] = defaultdict(int)
        for index, (_, operation) in enumerate(program.operations(rank)):
            if operation.kind in COLLECTIVES and operation.form == Form.BLOCKING:
                key = operation.comm, count[operation.comm]
                count[operation.comm] += 1
                turns[key].append((rank, index))
                what[key] = operation
    for key, places in turns.items():
        if len(places) == len(program.communicators[key[0]].members):
            yield what[key], places
