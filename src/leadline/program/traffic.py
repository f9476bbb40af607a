"""Who sends how much to whom in a program; messages of collectives are not in it."""

from collections import Counter

import numpy as np
import numpy.typing as npt

from leadline.program.model import Form, Kind, Operation, Program

COLUMNS = ("from", "to", "bytes", "messages")
_Sent = Counter[tuple[int, int]]  # messages by destination and size


def messages(program: Program) -> npt.NDArray[np.int64]:
    """A row for each sender, receiver and size, as COLUMNS: world ranks, B of one message, how many."""
    rows = [
        (rank, target, size, count)
        for rank in range(program.ranks)
        for (target, size), count in sorted(_of_rank(program, rank).items())
    ]
    return np.array(rows, np.int64).reshape(-1, len(COLUMNS))


def _of_rank(program: Program, rank: int) -> _Sent:
    found: _Sent = Counter()
    leaves = program.leaves(rank)
    persistent = any(leaf.kind == Kind.START for leaf in leaves)
    for leaf, count in zip(leaves, program.sequence(rank).counts, strict=True):
        if leaf.kind in {Kind.SEND, Kind.SENDRECV} and leaf.form != Form.PERSISTENT:
            _add(found, program, leaf, count)
    if persistent:
        slots: dict[int, Operation] = {}
        for _, operation in program.operations(rank):
            if operation.form == Form.PERSISTENT:
                slots[operation.request] = operation
            elif operation.kind == Kind.START:
                for slot in operation.gives:
                    if slots[slot].kind == Kind.SEND:
                        _add(found, program, slots[slot], 1)
    return found


def _add(found: _Sent, program: Program, leaf: Operation, count: int) -> None:
    if leaf.peer >= 0:
        found[program.communicators[leaf.comm].peers[leaf.peer], leaf.bytes] += count
