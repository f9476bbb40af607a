"""What a rank's code calls: each operation is noted when it is called."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, cast

from leadline.core.arguments import is_whole
from leadline.core.errors import UsageError
from leadline.core.grids import even_grid
from leadline.core.units import parse_bytes
from leadline.program.checked import (
    blocks_of,
    color_of,
    lengths_of,
    name_of,
    named,
    requests_of,
    seconds_of,
    tag_of,
    truth_of,
)
from leadline.program.grid import Grid
from leadline.program.model import (
    ANY_PEER,
    FREE_SOURCE,
    IN_PLACE,
    ROOTED,
    Completion,
    Construction,
    Datatype,
    Form,
    Kind,
    Operation,
    Reduction,
    SendMode,
)
from leadline.program.noted import DONE, Done, Pending, Rank, Request, Size
from leadline.program.window import Window

ANY = ANY_PEER  # a receive takes the next message of whichever sender
SUM, PRODUCT, SMALLEST, LARGEST = Reduction.SUM, Reduction.PRODUCT, Reduction.SMALLEST, Reduction.LARGEST

# As plain numbers: operations are hashed and compared often.
_SEND, _RECV, _SENDRECV, _START, _WAIT = map(
    int, (Kind.SEND, Kind.RECV, Kind.SENDRECV, Kind.START, Kind.WAIT)
)
_NONBLOCKING, _PERSISTENT = int(Form.NONBLOCKING), int(Form.PERSISTENT)


class Comm:
    """A communicator as one rank sees it. Sizes are bytes or text such as "8 KiB", ranks those of it.

    A collective is `nonblocking` where it gives a request to be waited for, and `in_place` where this rank's
    data are where the result will be (MPI_IN_PLACE): of a gather, a scatter or a reduce only at the root.
    """

    def __init__(self, owner: Rank, index: int, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.owner, self.index = owner, index
        self._sizes = owner.trace.sizes

    # ------------------------------------------------------------------------------------- what is checked
    def size_of(self, size: Size) -> int:
        if type(size) is not int and type(size) is not str:  # True would be found as 1
            return parse_bytes(int(size) if is_whole(size) else size)
        found = self._sizes.get(size)
        if found is None:
            found = self._sizes[size] = parse_bytes(size)
        return found

    def peer(self, peer: int, what: str) -> int:
        if not is_whole(peer) or not 0 <= peer < self.size:
            raise UsageError(
                f"rank {self.owner.rank}: {what} rank {peer!r}, "
                f"but the communicator has ranks 0 to {self.size - 1}"
            )
        return int(peer)

    # ------------------------------------------------------------------------------------------- messages
    def compute(self, time: float | str) -> Done:
        """Computation: seconds, or text such as "3 us"."""
        self.owner.computed += seconds_of(self.owner.rank, time)
        return DONE

    def send(self, to: int, bytes: Size, tag: int = 0, mode: SendMode = SendMode.STANDARD) -> Done:
        size, tag = self.size_of(bytes), tag_of(self.owner.rank, tag)
        mode = named(self.owner.rank, SendMode, mode)
        self.owner.note(Operation(_SEND, self.index, self.peer(to, "sends to"), size, tag, mode=int(mode)))
        return DONE

    def recv(self, source: int, bytes: Size, tag: int = 0) -> Done:
        self.owner.note(self._receive(source, bytes, tag, 0, 0))
        return DONE

    def sendrecv(
        self, to: int, bytes: Size, source: int, source_bytes: Size | None = None, tag: int = 0
    ) -> Done:
        size = self.size_of(bytes)
        other = size if source_bytes is None else self.size_of(source_bytes)
        tag = tag_of(self.owner.rank, tag)
        self.owner.note(
            Operation(
                _SENDRECV,
                self.index,
                self.peer(to, "sends to"),
                size,
                tag,
                source=self.peer(source, "receives from"),
                source_bytes=other,
                source_tag=tag,
            )
        )
        return DONE

    def isend(self, to: int, bytes: Size, tag: int = 0, mode: SendMode = SendMode.STANDARD) -> Request:
        slot = self.owner.slot()
        size, peer = self.size_of(bytes), self.peer(to, "sends to")
        tag, mode = tag_of(self.owner.rank, tag), named(self.owner.rank, SendMode, mode)
        self.owner.note(Operation(_SEND, self.index, peer, size, tag, slot, 0, 0, int(mode), _NONBLOCKING))
        return Request(slot, persistent=False)

    def irecv(self, source: int, bytes: Size, tag: int = 0) -> Request:
        slot = self.owner.slot()
        self.owner.note(self._receive(source, bytes, tag, slot, _NONBLOCKING))
        return Request(slot, persistent=False)

    def send_init(self, to: int, bytes: Size, tag: int = 0, mode: SendMode = SendMode.STANDARD) -> Request:
        slot = self.owner.slot()
        size, peer = self.size_of(bytes), self.peer(to, "sends to")
        tag, mode = tag_of(self.owner.rank, tag), named(self.owner.rank, SendMode, mode)
        self.owner.note(Operation(_SEND, self.index, peer, size, tag, slot, 0, 0, int(mode), _PERSISTENT))
        return Request(slot, persistent=True)

    def recv_init(self, source: int, bytes: Size, tag: int = 0) -> Request:
        slot = self.owner.slot()
        self.owner.note(self._receive(source, bytes, tag, slot, _PERSISTENT))
        return Request(slot, persistent=True)

    def _receive(self, source: int, size: Size, tag: int, slot: int, form: int) -> Operation:
        size, tag = self.size_of(size), tag_of(self.owner.rank, tag)
        if is_whole(source) and source == ANY:
            return Operation(_RECV, self.index, ANY, size, tag, slot, form=form, free=FREE_SOURCE)
        return Operation(
            _RECV, self.index, self.peer(source, "receives from"), size, tag, slot, 0, 0, 0, form
        )

    def start(self, *requests: Request) -> Done:
        """Begins persistent operations."""
        for request in requests_of(self.owner.rank, requests):
            if not request.persistent or request.active:
                raise UsageError(
                    f"rank {self.owner.rank} starts what is no persistent operation, or is under way"
                )
            request.active = True
        self.owner.note(Operation(_START, gives=tuple(request.slot for request in requests)))
        return DONE

    def wait(self, request: Request) -> Done:
        return self._wait(requests_of(self.owner.rank, (request,)), Completion.WAIT)

    def wait_all(self, requests: Iterable[Request]) -> Done:
        return self._wait(requests_of(self.owner.rank, requests), Completion.WAITALL)

    def _wait(self, requests: tuple[Request, ...], how: Completion) -> Done:
        slots = []
        for request in requests:
            if not request.active:
                raise UsageError(f"rank {self.owner.rank} waits for an operation that is not under way")
            request.active = False
            slots.append(request.slot)
        self.owner.note(Operation(_WAIT, 0, 0, 0, 0, 0, 0, 0, int(how), gives=tuple(slots)))
        for request in requests:
            if not request.persistent:
                self.owner.release(request.slot)
        return DONE

    def free(self, request: Request) -> Done:
        """A persistent operation is needed no longer."""
        requests_of(self.owner.rank, (request,))
        if not request.persistent or request.active:
            raise UsageError(f"rank {self.owner.rank} frees what is no persistent operation, or is under way")
        self.owner.note(Operation(int(Kind.FREE), request=request.slot))
        self.owner.release(request.slot)
        return DONE

    # ----------------------------------------------------------------------------------------- collectives
    def _collective(
        self,
        kind: Kind,
        size: Size,
        *,
        nonblocking: bool,
        in_place: bool = False,
        root: int = 0,
        reduction: Reduction = Reduction.SUM,
        type: Datatype = Datatype.OTHER,
        gives: Mapping[int, Size] | None = None,
        takes: Mapping[int, Size] | None = None,
    ) -> Any:
        nonblocking = truth_of(self.owner.rank, "nonblocking", nonblocking)
        if truth_of(self.owner.rank, "in_place", in_place) and kind in ROOTED and self.rank != root:
            raise UsageError(f"rank {self.owner.rank}: the root alone has its data in place, which is {root}")
        slot = self.owner.slot() if nonblocking else 0
        self.owner.note(
            Operation(
                int(kind),
                self.index,
                self.peer(root, "names as root"),
                self.size_of(size),
                request=slot,
                mode=int(gives is not None or takes is not None),
                form=_NONBLOCKING if nonblocking else 0,
                type=int(named(self.owner.rank, Datatype, type)),
                reduction=int(named(self.owner.rank, Reduction, reduction)),
                free=IN_PLACE if in_place else 0,
                gives=self._parts(gives),
                takes=self._parts(takes),
            )
        )
        return Request(slot, persistent=False) if nonblocking else DONE

    def _varying(self, kind: Kind, blocks: Mapping[int, Size], *, root: int = 0, **said: Any) -> Any:
        """A collective in which each rank has a block of its own size; a root alone needs to know all."""
        blocks, root = blocks_of(self.owner.rank, blocks), self.peer(root, "names as root")
        everybody = kind in (Kind.ALLGATHER, Kind.REDUCE_SCATTER)
        known = blocks if everybody or self.rank == root else {}
        said["gives" if kind is Kind.SCATTER else "takes"] = known
        return self._collective(kind, blocks.get(self.rank, 0), root=root, **said)

    def _parts(self, parts: Mapping[int, Size] | None) -> tuple[int, ...]:
        items = blocks_of(self.owner.rank, {} if parts is None else parts).items()
        known = sorted((self.peer(peer, "has a block of"), self.size_of(size)) for peer, size in items)
        return tuple(value for block in known for value in block)

    def barrier(self, *, nonblocking: bool = False) -> Any:
        return self._collective(Kind.BARRIER, 0, nonblocking=nonblocking)

    def bcast(self, bytes: Size, root: int = 0, *, nonblocking: bool = False) -> Any:
        return self._collective(Kind.BCAST, bytes, root=root, nonblocking=nonblocking)

    def reduce(
        self,
        bytes: Size,
        root: int = 0,
        *,
        reduction: Reduction = SUM,
        type: Datatype = Datatype.FLOAT64,
        nonblocking: bool = False,
        in_place: bool = False,
    ) -> Any:
        return self._collective(
            Kind.REDUCE,
            bytes,
            root=root,
            nonblocking=nonblocking,
            in_place=in_place,
            reduction=reduction,
            type=type,
        )

    def allreduce(
        self,
        bytes: Size,
        *,
        reduction: Reduction = SUM,
        type: Datatype = Datatype.FLOAT64,
        nonblocking: bool = False,
        in_place: bool = False,
    ) -> Any:
        return self._collective(
            Kind.ALLREDUCE, bytes, nonblocking=nonblocking, in_place=in_place, reduction=reduction, type=type
        )

    def gather(self, bytes: Size, root: int = 0, *, nonblocking: bool = False, in_place: bool = False) -> Any:
        return self._collective(Kind.GATHER, bytes, root=root, nonblocking=nonblocking, in_place=in_place)

    def gatherv(
        self, blocks: Mapping[int, Size], root: int = 0, *, nonblocking: bool = False, in_place: bool = False
    ) -> Any:
        """`blocks` are those of all ranks; one that is not named has none."""
        return self._varying(Kind.GATHER, blocks, root=root, nonblocking=nonblocking, in_place=in_place)

    def scatter(
        self, bytes: Size, root: int = 0, *, nonblocking: bool = False, in_place: bool = False
    ) -> Any:
        return self._collective(Kind.SCATTER, bytes, root=root, nonblocking=nonblocking, in_place=in_place)

    def scatterv(
        self, blocks: Mapping[int, Size], root: int = 0, *, nonblocking: bool = False, in_place: bool = False
    ) -> Any:
        """`blocks` are those of all ranks; one that is not named gets none."""
        return self._varying(Kind.SCATTER, blocks, root=root, nonblocking=nonblocking, in_place=in_place)

    def allgather(self, bytes: Size, *, nonblocking: bool = False, in_place: bool = False) -> Any:
        """`bytes` are one rank's block."""
        return self._collective(Kind.ALLGATHER, bytes, nonblocking=nonblocking, in_place=in_place)

    def allgatherv(
        self, blocks: Mapping[int, Size], *, nonblocking: bool = False, in_place: bool = False
    ) -> Any:
        """`blocks` are those of all ranks; one that is not named has none."""
        return self._varying(Kind.ALLGATHER, blocks, nonblocking=nonblocking, in_place=in_place)

    def alltoall(self, bytes: Size, *, nonblocking: bool = False, in_place: bool = False) -> Any:
        """`bytes` go from each rank to each."""
        return self._collective(Kind.ALLTOALL, bytes, nonblocking=nonblocking, in_place=in_place)

    def alltoallv(
        self,
        gives: Mapping[int, Size],
        takes: Mapping[int, Size],
        *,
        nonblocking: bool = False,
        in_place: bool = False,
    ) -> Any:
        """Bytes to each rank and from each; ranks that are not named get or give nothing."""
        for blocks in (gives, takes):
            blocks_of(self.owner.rank, blocks)
        return self._collective(
            Kind.ALLTOALL, 0, nonblocking=nonblocking, in_place=in_place, gives=gives, takes=takes
        )

    def reduce_scatter(
        self,
        bytes: Size | Mapping[int, Size],
        *,
        reduction: Reduction = SUM,
        type: Datatype = Datatype.FLOAT64,
        nonblocking: bool = False,
        in_place: bool = False,
    ) -> Any:
        """`bytes` are one rank's block of the result, or, by ranks, that of each."""
        kind = Kind.REDUCE_SCATTER
        if not is_whole(bytes) and not isinstance(bytes, str):
            return self._varying(
                kind,
                cast("Mapping[int, Size]", bytes),
                nonblocking=nonblocking,
                in_place=in_place,
                reduction=reduction,
                type=type,
            )
        size = cast("Size", bytes)
        return self._collective(
            kind, size, nonblocking=nonblocking, in_place=in_place, reduction=reduction, type=type
        )

    def scan(
        self,
        bytes: Size,
        *,
        reduction: Reduction = SUM,
        type: Datatype = Datatype.FLOAT64,
        nonblocking: bool = False,
        in_place: bool = False,
    ) -> Any:
        return self._collective(
            Kind.SCAN, bytes, nonblocking=nonblocking, in_place=in_place, reduction=reduction, type=type
        )

    # ------------------------------------------------------------------- communicators, windows and regions
    def split(self, color: int | None, key: int = 0) -> Pending:
        """The ranks of one colour; None of the communicator for the colour None."""
        return self.owner.trace.meet(self, Construction.SPLIT, color_of(self.owner.rank, color, key))

    def dup(self) -> Pending:
        """The same ranks, apart from this communicator."""
        return self.owner.trace.meet(self, Construction.DUP, (0, self.rank))

    def grid(self, lengths: int | Sequence[int], periodic: bool = True) -> Grid:
        """These ranks as a grid: of so many axes as near to a cube as they allow, or of these lengths."""
        asked = lengths_of(self.owner.rank, lengths)
        given = even_grid(self.size, asked) if isinstance(asked, int) else asked
        if prod(given) != self.size:
            raise UsageError(f"a grid of {'x'.join(map(str, given))} has not the {self.size} ranks there are")
        return Grid(self.rank, given, truth_of(self.owner.rank, "periodic", periodic))

    def window(self, bytes: Size) -> Window:
        """Memory of every rank that all may read and write."""
        owner = self.owner
        if owner.windows:
            number = heapq.heappop(owner.windows)
        else:
            owner.highest_window += 1
            number = owner.highest_window
        owner.note(Operation(int(Kind.WIN), self.index, bytes=self.size_of(bytes), extra=number))
        return Window(self, number)

    @contextmanager
    def region(self, name: str) -> Iterator[None]:
        """What is asked for inside belongs to a part of the program of this name."""
        index = self.owner.trace.region(name_of(self.owner.rank, name))
        self.owner.note(Operation(int(Kind.REGION_BEGIN), extra=index + 1))
        yield
        self.owner.note(Operation(int(Kind.REGION_END), extra=index + 1))
