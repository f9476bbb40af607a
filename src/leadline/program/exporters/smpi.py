"""SMPI's time-independent traces, all ranks in one file (importers/smpi.py says what they are).

Sizes are in bytes, so that they are exact whatever the datatype. What the form lacks is refused: other
communicators than the world, persistent and nonblocking collectives, blocks that vary, one-sided operations.
"""

from collections.abc import Callable, Iterator

from leadline.core.errors import UsageError
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
    del ask, say  # it has collectives itself
    for rank in range(program.ranks):
        yield f"{rank} init"
        before = program.before(rank)
        started: dict[int, Operation] = {}
        pending: set[int] = set()
        for computation, (_, operation) in zip(before, program.operations(rank), strict=True):
            if computation > 0:
                yield f"{rank} compute {float(computation) * flops!r}"
            for action in _actions(operation, rank, started, pending):
                yield f"{rank} {action}"
        yield f"{rank} finalize"


def _actions(
    operation: Operation, rank: int, started: dict[int, Operation], pending: set[int]
) -> Iterator[str]:
    """The actions of an operation; `pending` are requests under way."""
    kind, form = Kind(operation.kind), Form(operation.form)
    if kind in (Kind.NOP, Kind.PROBE, Kind.REGION_BEGIN, Kind.REGION_END, Kind.FREE, Kind.FILE):
        return
    if operation.comm:
        raise _refused(rank, f"{called(kind, form)} in another communicator than the world")
    if kind in (Kind.SEND, Kind.RECV):
        if form:
            started[operation.request] = operation
        if form == Form.NONBLOCKING:
            pending.add(operation.request)
        if form != Form.PERSISTENT:
            yield f"{'i' if form else ''}{_message(operation)}"
    elif kind == Kind.SENDRECV:
        receive = operation._replace(
            kind=int(Kind.RECV), peer=operation.source, bytes=operation.source_bytes, tag=operation.source_tag
        )
        yield f"i{_message(receive)}"
        yield _message(operation._replace(kind=int(Kind.SEND), free=0))
        yield _wait(receive, rank)
    elif kind == Kind.START:
        pending.update(operation.gives)
        for slot in operation.gives:
            yield f"i{_message(started[slot])}"
    elif kind == Kind.WAIT:
        # Who waits for several at once takes them as they come; the form can say so of all alone.
        at_once = len(operation.gives) > 1 and pending == set(operation.gives)
        pending.difference_update(operation.gives)
        yield from ["waitall"] if at_once else [_wait(started[slot], rank) for slot in operation.gives]
    elif kind in COLLECTIVES and kind in _COLLECTIVES and not (form or operation.gives or operation.takes):
        yield _COLLECTIVES[kind].format(bytes=operation.bytes, root=operation.peer)
    else:
        raise _refused(rank, called(kind, form, bool(operation.mode)))


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
