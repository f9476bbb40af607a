"""A program as data: what each rank asks of MPI, and the computation between; independent of time.

docs/program-format.md says what each field means for which operation, and how a file keeps it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.core.arguments import PATH, checked, is_whole
from leadline.core.errors import UsageError
from leadline.program.folded import Folded, Stored


class Kind(IntEnum):
    """What an operation is. The numbers are those of the file format; 0 and 1 are its END and LOOP."""

    NOP = 2  # computation alone
    SEND = 10
    RECV = 11
    SENDRECV = 12
    PROBE = 13
    START = 14
    WAIT = 15
    FREE = 16
    CANCEL = 17
    BARRIER = 20
    BCAST = 21
    REDUCE = 22
    ALLREDUCE = 23
    GATHER = 24
    SCATTER = 25
    ALLGATHER = 26
    ALLTOALL = 27
    REDUCE_SCATTER = 28
    SCAN = 29
    EXSCAN = 30
    NEIGHBOR_ALLGATHER = 31
    NEIGHBOR_ALLTOALL = 32
    COMM = 40
    COMM_FREE = 41
    WIN = 50
    WIN_FREE = 51
    PUT = 52
    GET = 53
    ACCUMULATE = 54
    FENCE = 55
    LOCK = 56
    UNLOCK = 57
    FLUSH = 58
    POST = 59
    START_EPOCH = 60
    COMPLETE = 61
    WAIT_EPOCH = 62
    REGION_BEGIN = 70
    REGION_END = 71
    FILE = 80


COLLECTIVES = frozenset(kind for kind in Kind if Kind.BARRIER <= kind <= Kind.NEIGHBOR_ALLTOALL)
# Operations whose `peer` is the other end of a message: they may be kept as differences of ranks.
TO_A_PEER = frozenset(
    {Kind.SEND, Kind.RECV, Kind.SENDRECV, Kind.PROBE, Kind.PUT, Kind.GET}
    | {Kind.ACCUMULATE, Kind.LOCK, Kind.UNLOCK, Kind.FLUSH}
)


_CALLS = {
    Kind.COMM: "a constructor of communicators",
    Kind.WIN: "a constructor of windows",
    Kind.WIN_FREE: "MPI_Win_free",
    Kind.START_EPOCH: "MPI_Win_start",
    Kind.WAIT_EPOCH: "MPI_Win_wait",
    **{kind: f"MPI_Win_{kind.name.lower()}" for kind in Kind if Kind.FENCE <= kind <= Kind.POST},
    Kind.COMPLETE: "MPI_Win_complete",
    Kind.FILE: "files of MPI",
}


class SendMode(IntEnum):
    """How a message is sent, by MPI's names."""

    STANDARD = 0
    SYNCHRONOUS = 1
    BUFFERED = 2
    READY = 3


class Completion(IntEnum):
    """By which call operations were completed."""

    WAIT = 0
    WAITALL = 1
    WAITANY = 2
    WAITSOME = 3
    TEST = 4
    TESTALL = 5
    TESTANY = 6
    TESTSOME = 7


class FileCall(IntEnum):
    """What was done with a file by MPI."""

    OPEN = 0
    CLOSE = 1
    READ = 2
    WRITE = 3
    OTHER = 4
    WAIT = 5  # for what was begun


class Construction(IntEnum):
    """By which call a communicator was made."""

    DUP = 0
    SPLIT = 1
    CREATE = 2
    CREATE_GROUP = 3
    CART = 4
    GRAPH = 5
    INTER = 6
    MERGE = 7


class Form(IntEnum):
    """How an operation is asked for: done when it returns, begun, or made ready to be begun often."""

    BLOCKING = 0
    NONBLOCKING = 1
    PERSISTENT = 2


def called(kind: Kind, form: Form = Form.BLOCKING, varies: bool = False) -> str:
    """The MPI call of an operation, in words for a person; `varies`: with blocks of several sizes.

    >>> called(Kind.ALLREDUCE, Form.NONBLOCKING), called(Kind.COMM), called(Kind.ALLGATHER, varies=True)
    ('MPI_Iallreduce', 'a constructor of communicators', 'MPI_Allgatherv')
    """
    if kind in _CALLS:
        return _CALLS[kind]
    with_v = varies and kind in COLLECTIVES - {Kind.REDUCE_SCATTER}
    name = kind.name.lower() + ("v" if with_v else "")
    if form == Form.PERSISTENT:
        return f"MPI_{name.capitalize()}_init"
    return f"MPI_I{name}" if form else f"MPI_{name.capitalize()}"


class Datatype(IntEnum):
    """What a reduction combines."""

    OTHER = 0
    INT32 = 1
    INT64 = 2
    FLOAT32 = 3
    FLOAT64 = 4


class Reduction(IntEnum):
    """How a reduction combines."""

    SUM = 0
    PRODUCT = 1
    SMALLEST = 2
    LARGEST = 3
    OTHER = 4
    USER = 5


WAITED = 1  # mode of a NOP: a wait for what is no message and no collective (MPI_Comm_idup, MPI_Rput)
ANY_PEER = -1  # of a receive that takes the next message of whichever sender
# Instead of an intercommunicator's root, in the root's own group: who takes no part, and the root itself.
NOBODY, ROOT = -3, -4
FREE_SOURCE, FREE_TAG = 1, 2  # bits of `free`
IN_PLACE = (
    4  # bit of `free` of a collective whose buffer was MPI_IN_PLACE, which of these the root's alone may be:
)
ROOTED = Kind.REDUCE, Kind.GATHER, Kind.SCATTER


class Operation(NamedTuple):
    """What one rank asked for once. Ranks are those of the communicator, sizes are in bytes.

    `peer` is the destination, source, root or target; a recorded receive from any source has the source
    that was met, and says in `free` that it was free. `request` is the slot, from 1, of a nonblocking or
    persistent operation. `extra` is 1 + the index of a new communicator, a window or a region. `gives` and
    `takes` are (peer, bytes, peer, bytes, ...) of collectives whose blocks vary; of START and WAIT `gives`
    lists the slots, of WAIT `takes` the slot, source and tag of receives made ready for any source that met
    several.
    """

    kind: int
    comm: int = 0
    peer: int = 0
    bytes: int = 0
    tag: int = 0
    request: int = 0
    site: int = 0
    extra: int = 0
    mode: int = 0
    form: int = 0
    type: int = 0
    reduction: int = 0
    free: int = 0
    source: int = 0
    source_bytes: int = 0
    source_tag: int = 0
    gives: tuple[int, ...] = ()
    takes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Communicator:
    """World ranks in the order of their ranks here. An intercommunicator has its other group in `remote`."""

    members: tuple[int, ...] | range
    construction: int = Construction.DUP
    parent: int = 0
    remote: tuple[int, ...] | range = ()

    @cached_property
    def places(self) -> Mapping[int, int]:
        """The rank here of each world rank."""
        return {rank: place for place, rank in enumerate(self.members)}

    def rank_of(self, world_rank: int) -> int:
        """The rank here of a world rank. Raises KeyError where it is no member."""
        if isinstance(self.members, range):
            return self.members.index(world_rank) if world_rank in self.members else self.places[world_rank]
        return self.places[world_rank]

    @property
    def peers(self) -> Sequence[int]:
        """The world ranks that `peer` of an operation counts."""
        return self.remote or self.members


# Per leaf, in seconds: computation before it, and where it was measured the time inside it.
STATS = np.dtype(
    [
        ("before_mean", "<f8"),
        ("before_min", "<f4"),
        ("before_max", "<f4"),
        ("inside_mean", "<f4"),
        ("inside_min", "<f4"),
        ("inside_max", "<f4"),
    ]
)


@dataclass
class Program:
    """What all ranks execute.

    `sequences` and `stats` are shared by ranks that have the same: `rank_sequence` and `rank_stats` say
    which. `measured` where there are times of a recording; `recorded` says of what, `partial` which ranks'
    records are incomplete.
    """

    ranks: int
    sequences: Sequence[Folded]
    rank_sequence: npt.NDArray[np.int32]
    stats_tables: list[npt.NDArray[np.void]]
    rank_stats: npt.NDArray[np.int32]
    communicators: list[Communicator]
    sites: list[str] = field(default_factory=lambda: [""])
    regions: list[str] = field(default_factory=list)
    recorded: dict[str, Any] = field(default_factory=dict)
    partial: frozenset[int] = frozenset()
    measured: bool = False
    times_of: Mapping[int, npt.NDArray[np.int64]] | None = None

    def sequence(self, rank: int) -> Folded:
        """What the rank executes, folded. Raises UsageError for a rank that is not there."""
        return self.sequences[int(self.rank_sequence[self._checked(rank)])]

    def leaves(self, rank: int) -> tuple[Operation, ...]:
        """The operations that the rank's sequence consists of, peers as ranks of their communicators."""
        sequence = self.sequence(rank)
        if not sequence.relative:
            return sequence.leaves
        return tuple(shifted(leaf, self.communicators, rank, 1) for leaf in sequence.leaves)

    def stats(self, rank: int) -> npt.NDArray[np.void]:
        """Of each leaf, as STATS: computation before it and time inside it, s."""
        return self.stats_tables[int(self.rank_stats[self._checked(rank)])]

    def times(self, rank: int) -> npt.NDArray[np.int64] | None:
        """When each executed operation was entered and left, ns, shape (operations, 2); None if unknown."""
        return None if self.times_of is None else self.times_of[self._checked(rank)]

    def before(self, rank: int) -> npt.NDArray[np.float64]:
        """Computation before each executed operation, s: as measured; without times the mean of its leaf.

        Of calls of MPI's files the time in them counts.
        """
        order, times = self.sequence(rank).order(), self.times(rank)
        files = np.array([leaf.kind == Kind.FILE for leaf in self.leaves(rank)], bool)[order]
        if times is None:
            stats = self.stats(rank)[order]
            return np.asarray(stats["before_mean"] + files * stats["inside_mean"], np.float64)
        left = np.concatenate(([0], times[:-1, 1]))
        return np.asarray(np.maximum(times[np.arange(len(order)), 1 * files] - left, 0) * 1e-9, np.float64)

    def length(self, rank: int) -> int:
        """How many operations the rank executes."""
        return self.sequence(rank).length

    @property
    def operations_in_all(self) -> int:
        """Executed by all ranks."""
        if isinstance(self.sequences, Stored):
            return self.sequences.operations
        lengths = np.array([sequence.length for sequence in self.sequences], np.int64)
        return int(lengths[self.rank_sequence].sum())

    @property
    def calls(self) -> frozenset[tuple[int, int]]:
        """The kinds of the operations that there are, each with its modes."""
        if isinstance(self.sequences, Stored):
            return self.sequences.calls
        return frozenset((leaf.kind, leaf.mode) for each in self.sequences for leaf in each.leaves)

    def operations(self, rank: int) -> Iterator[tuple[int, Operation]]:
        """Each executed operation with the index of its leaf, in order."""
        leaves = self.leaves(rank)
        for leaf in self.sequence(rank).order().tolist():
            yield leaf, leaves[leaf]

    @checked(path=PATH)
    def write(self, path: str | Path) -> None:
        """Writes the program, and its times beside it where they are known (docs/program-format.md).

        Raises LeadlineError where it cannot be written, UsageError for what is no path.
        """
        from leadline.program.files import write  # noqa: PLC0415  (which reads what is defined here)

        write(self, Path(path))

    @checked(ranks="a list of the program's ranks")
    def table(self, ranks: Sequence[int] | None = None) -> pl.DataFrame:
        """A row per executed operation of the ranks (all by default).

        Columns: rank, index, leaf, the fields of Operation but `gives` and `takes`, `peer_world` (the peer as
        a world rank; null where there is none) and, where times are known, `enter` and `leave`, ns.
        """
        frames = [self._rows(rank) for rank in (range(self.ranks) if ranks is None else ranks)]
        return pl.concat(frames) if frames else pl.DataFrame()

    def _rows(self, rank: int) -> pl.DataFrame:
        leaves, order = self.leaves(rank), self.sequence(rank).order()
        columns: dict[str, Any] = {
            "rank": np.full(len(order), rank, np.int32),
            "index": np.arange(len(order), dtype=np.int64),
            "leaf": order,
        }
        for place, name in enumerate(Operation._fields[:-2]):
            columns[name] = np.array([leaf[place] for leaf in leaves], np.int64)[order]
        peers = [self._peer(leaf) for leaf in leaves]
        columns["peer_world"] = pl.Series([None if p < 0 else p for p in peers], dtype=pl.Int64)[order]
        times = self.times(rank)
        if times is not None:
            columns["enter"], columns["leave"] = times[:, 0], times[:, 1]
        return pl.DataFrame(columns)

    def _checked(self, rank: int) -> int:
        if not is_whole(rank) or not 0 <= rank < self.ranks:
            raise UsageError(f"the program has ranks 0 to {self.ranks - 1}, but got {rank!r}")
        return rank

    def _peer(self, leaf: Operation) -> int:
        """World rank of a leaf's peer; -1 where it has none."""
        with_peer = leaf.kind in TO_A_PEER or leaf.kind in COLLECTIVES
        peers = self.communicators[leaf.comm].peers
        return peers[leaf.peer] if with_peer and 0 <= leaf.peer < len(peers) else -1


def shifted(leaf: Operation, communicators: Sequence[Communicator], rank: int, sign: int) -> Operation:
    """The operation of world rank `rank` with peers as differences to its own rank (sign -1), or back (1)."""
    if leaf.kind not in TO_A_PEER:
        return leaf
    communicator = communicators[leaf.comm]
    if communicator.remote or leaf.peer < 0:
        return leaf
    size, mine = len(communicator.members), sign * communicator.rank_of(rank)
    source = (leaf.source + mine) % size if leaf.kind == Kind.SENDRECV and leaf.source >= 0 else leaf.source
    return leaf._replace(peer=(leaf.peer + mine) % size, source=source)
