"""SMPI's time-independent traces, all ranks in one file (importers/smpi.py says what they are).

Sizes are in bytes, so that they are exact whatever the datatype. What the form lacks is refused: other
communicators than the world, persistent and nonblocking collectives, blocks that vary, one-sided operations.
"""

from collections.abc import Callable, Iterator

from leadline.core.errors import UsageError
from leadline.program.left import Received, in_words, left_behind, unmet
from leadline.program.messages import Ask
from leadline.program.model import ANY_PEER, COLLECTIVES, FREE_TAG, Form, Kind, Operation, Program, called

TITLE = "SMPI's time-independent trace"
_BYTE = 6

# Arguments of each collective by its size and root.
_COLLECTIVES = {
    Kind.BARRIER: "barrier",
    Kind.BCAST: "bcast {bytes} {root} 6",
    Kind.REDUCE: "reduce {bytes} 0 {root} 6",
    Kind.ALLREDUCE: "allreduce {bytes} 0 6",
    Kind.SCAN: "scan {bytes} 0 6",
    Kind.EXSCAN: "exscan {bytes} 0 6",
    Kind.ALLTOALL: "alltoall {bytes} {bytes} 6 6",
    Kind.ALLGATHER: "allgather {bytes} {bytes} 6 6",
    Kind.GATHER: "gather {bytes} {bytes} {root} 6 6",
    Kind.SCATTER: "scatter {bytes} {bytes} {root} 6 6",
}


def lines(program: Program, flops: float, ask: Ask, say: Callable[[str], None]) -> Iterator[str]:
    """The lines of the trace; a second of computation is `flops` operations (`exporters.write`)."""
    del ask  # it has collectives itself
    if words := unmet(program):
        say(f"{words}: left out")
    if left := left_behind(program):
        say(f"{in_words(left)}: left out")
    received, late = Received(program), 0
    for rank in range(program.ranks):
        yield f"{rank} init"
        before = program.before(rank)
        writing = _Rank(program, rank, received)
        for computation, (_, operation) in zip(before, program.operations(rank), strict=True):
            if computation > 0:
                yield f"{rank} compute {float(computation) * flops!r}"
            for action in writing.actions(operation):
                yield f"{rank} {action}"
        for operation in (*writing.given_back, *writing.pending.values()):
            late += 1
            yield f"{rank} {_wait(operation, rank)}"
        yield f"{rank} finalize"
    if late:
        what = "1 message is" if late == 1 else f"{late:,} messages are"
        say(f"{what} waited for at the rank's end, which the program never waited for")


class _Rank:
    """A rank's requests while it is written."""

    def __init__(self, program: Program, rank: int, received: Received) -> None:
        self._program, self._rank, self._received = program, rank, received
        self._persistent: dict[int, Operation] = {}
        self.pending: dict[int, Operation] = {}  # what is under way
        self.given_back: list[Operation] = []  # and what nobody can wait for any more

    def actions(self, operation: Operation) -> Iterator[str]:
        """The actions of an operation."""
        kind, form, rank = Kind(operation.kind), Form(operation.form), self._rank
        if kind in (Kind.NOP, Kind.PROBE, Kind.REGION_BEGIN, Kind.REGION_END, Kind.FILE):
            return
        if kind == Kind.FREE:
            self._give_back(operation.request)
            return
        if operation.comm:
            raise _refused(rank, f"{called(kind, form)} in another communicator than the world")
        if kind in (Kind.SEND, Kind.RECV):
            yield from self._message(operation, form)
        elif kind == Kind.SENDRECV:
            yield from self._both(operation)
        elif kind == Kind.START:
            for slot in operation.gives:
                yield from self._message(self._persistent[slot], Form.NONBLOCKING)
        elif kind == Kind.WAIT:
            yield from self._completed(operation.gives)
        elif (
            kind in COLLECTIVES and kind in _COLLECTIVES and not (form or operation.gives or operation.takes)
        ):
            yield _COLLECTIVES[kind].format(bytes=operation.bytes, root=operation.peer)
        else:
            raise _refused(rank, called(kind, form, bool(operation.mode)))

    def _give_back(self, slot: int) -> None:
        if under_way := self.pending.pop(slot, None):
            self.given_back.append(under_way)

    def _message(self, operation: Operation, form: Form) -> Iterator[str]:
        if form == Form.PERSISTENT:
            self._persistent[operation.request] = operation
            return
        if operation.kind == Kind.SEND and not self._received.next(self._rank, operation, self._program):
            return
        if form:
            self.pending[operation.request] = operation
        yield f"{'i' if form else ''}{_message(operation)}"

    def _both(self, operation: Operation) -> Iterator[str]:
        receive = operation._replace(
            kind=int(Kind.RECV), peer=operation.source, bytes=operation.source_bytes, tag=operation.source_tag
        )
        yield f"i{_message(receive)}"
        yield from self._message(operation._replace(kind=int(Kind.SEND), free=0), Form.BLOCKING)
        yield _wait(receive, self._rank)

    def _completed(self, slots: tuple[int, ...]) -> Iterator[str]:
        """Who waits for several at once takes them as they come; the form can say so of all alone."""
        there = [slot for slot in slots if slot in self.pending]
        at_once = len(there) > 1 and not self.given_back and set(self.pending) == set(there)
        waited = [self.pending.pop(slot) for slot in there]
        yield from ["waitall"] if at_once else [_wait(each, self._rank) for each in waited]


def _refused(rank: int, what: str) -> UsageError:
    return UsageError(f"{TITLE} has no form for what rank {rank} calls: {what}")


def _tag(operation: Operation) -> int:
    """The tag that was met; -1 where a receive may take any, and it is not known whose."""
    return -1 if operation.free & FREE_TAG and operation.peer == ANY_PEER else operation.tag


def _message(operation: Operation) -> str:
    name = "send" if operation.kind == Kind.SEND else "recv"
    return f"{name} {operation.peer} {_tag(operation)} {operation.bytes} {_BYTE}"


def _wait(operation: Operation, rank: int) -> str:
    ends = (rank, operation.peer) if operation.kind == Kind.SEND else (operation.peer, rank)
    return f"wait {ends[0]} {ends[1]} {_tag(operation)}"
