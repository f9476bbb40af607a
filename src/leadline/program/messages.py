"""Collectives as the messages by which they are done: questions to who knows algorithms, and answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from leadline.program.model import (
    COLLECTIVES,
    IN_PLACE,
    Construction,
    Datatype,
    Kind,
    Operation,
    Program,
)

_ELEMENTS = {Datatype.INT32: 4, Datatype.INT64: 8, Datatype.FLOAT32: 4, Datatype.FLOAT64: 8}
_REDUCTIONS = (Kind.REDUCE, Kind.ALLREDUCE, Kind.REDUCE_SCATTER, Kind.SCAN)
_SPLIT = 8  # B that each rank tells the others where a communicator is made


class Question(NamedTuple):
    """A collective of a communicator: `bytes` are the message, or one rank's block.

    Where the ranks' blocks differ, `blocks` has those of all. A gather or scatter of which each rank knows
    its own block alone is asked for each `rank` (-1: all). `in_place`: who asks copies no block of its own.
    """

    kind: Kind
    comm: int
    root: int
    bytes: int
    blocks: tuple[int, ...] = ()
    rank: int = -1
    in_place: bool = False


@dataclass(frozen=True)
class Answer:
    """The messages of a collective by an algorithm.

    `moves`: of each rank of the communicator, or of the one asked for, a row a step: to whom (-1: nobody),
    from whom, bytes sent, bytes taken, and how long its core works when both are over, in ps. `hardware`:
    whether the machine has a network of its own for it, which this is not.
    """

    algorithm: str
    hardware: bool
    moves: Sequence[npt.NDArray[np.int64]]


Ask: TypeAlias = Callable[[Program, Sequence[Question]], Iterator[Answer]]


def told(operation: Operation) -> int:
    """The communicator whose ranks tell each other who they are, where one is made; -1 where this rank
    has no part in it.
    """
    if operation.mode not in (Construction.CREATE_GROUP, Construction.MERGE):
        return operation.comm
    return operation.extra - 1


def question(program: Program, operation: Operation, rank: int) -> Question | None:
    """What to ask of a collective, or of the making of a communicator, of world rank `rank`.

    None where there is nothing to ask: its blocks are its messages, as among neighbours and in an
    alltoall with blocks of different sizes, or it is no such operation.
    """
    kind = Kind(operation.kind)
    if kind == Kind.COMM:
        return Question(Kind.ALLGATHER, comm, 0, _SPLIT) if (comm := told(operation)) >= 0 else None
    varies = bool(operation.mode)
    if kind not in COLLECTIVES or kind >= Kind.NEIGHBOR_ALLGATHER or (kind == Kind.ALLTOALL and varies):
        return None
    root = operation.peer if kind in (Kind.BCAST, Kind.REDUCE, Kind.GATHER, Kind.SCATTER) else 0
    kind = Kind.SCAN if kind == Kind.EXSCAN else kind
    size = 0 if kind == Kind.BARRIER else operation.bytes
    if kind in _REDUCTIONS:
        # Whatever the type is, as the widest number that fits its bytes.
        unit = _ELEMENTS.get(Datatype(operation.type), 4 if size % 8 else 8)
        size = -(-size // unit) * unit
    asked = Question(kind, operation.comm, root, size, in_place=bool(operation.free & IN_PLACE))
    return _with_blocks(asked, program, operation, rank) if varies else asked


def _with_blocks(asked: Question, program: Program, operation: Operation, rank: int) -> Question:
    """The question where the ranks' blocks differ."""
    comm = program.communicators[operation.comm]
    parts = operation.gives if asked.kind == Kind.SCATTER else operation.takes
    blocks = [0] * len(comm.members)
    for peer, size in zip(parts[::2], parts[1::2], strict=True):
        blocks[peer] = size
    if asked.kind not in (Kind.GATHER, Kind.SCATTER):
        return asked._replace(bytes=0, blocks=tuple(blocks))
    place = comm.rank_of(rank)
    blocks[place] = operation.bytes
    return asked._replace(blocks=tuple(blocks), rank=place)
