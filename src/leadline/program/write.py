"""A program written by hand: a rank's code in Python over `comm`, evaluated once per rank to operations.

The code is a generator (`yield comm.recv(...)`) or an async function (`await comm.recv(...)`), or a plain
function where it makes no communicators. Nothing is sent: an operation is noted when it is called, and what
is yielded comes back. Only where ranks make a communicator together does a rank stop until all have come.

    from leadline import program

    def halo(comm, bytes="8 KiB", steps=100):
        grid = comm.grid(3)
        around = [grid.shift(axis, by) for axis in range(3) for by in (-1, 1)]
        for _ in range(steps):
            requests = [comm.irecv(peer, bytes) for peer in around]
            requests += [comm.isend(peer, bytes) for peer in around]
            yield comm.wait_all(requests)
            yield comm.compute("3 us")
            yield comm.allreduce(8)

    program.evaluate(halo, ranks=4096).write("halo.program")
"""

import heapq
import inspect
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

from leadline.core.errors import UsageError
from leadline.core.grids import even_grid
from leadline.core.units import parse_bytes, parse_time
from leadline.program.build import ProgramBuilder
from leadline.program.model import (
    ANY_PEER,
    FREE_SOURCE,
    Communicator,
    Completion,
    Construction,
    Datatype,
    Form,
    Kind,
    Operation,
    Program,
    Reduction,
    SendMode,
)

ANY = ANY_PEER  # a receive takes the next message of whichever sender
SUM, PRODUCT, SMALLEST, LARGEST = Reduction.SUM, Reduction.PRODUCT, Reduction.SMALLEST, Reduction.LARGEST
Size = int | str  # B, or with a unit: "8 KiB"

# As plain numbers: operations are hashed and compared often.
_SEND, _RECV, _SENDRECV, _START, _WAIT = map(
    int, (Kind.SEND, Kind.RECV, Kind.SENDRECV, Kind.START, Kind.WAIT)
)
_NONBLOCKING, _PERSISTENT = int(Form.NONBLOCKING), int(Form.PERSISTENT)


class Done:
    """What a blocking operation gives: nothing, to be yielded or awaited."""

    def __await__(self) -> Generator[Any, Any, None]:
        return
        yield


_DONE = Done()


class Request:
    """A nonblocking or persistent operation, to be waited for."""

    __slots__ = ("active", "persistent", "slot")

    def __init__(self, slot: int, persistent: bool) -> None:
        self.slot, self.persistent, self.active = slot, persistent, not persistent

    def __await__(self) -> Generator[Any, Any, "Request"]:
        return self
        yield


class Pending:
    """A communicator that all ranks of another make together; yielded or awaited it is that communicator."""

    def __init__(self) -> None:
        self.comm: Comm | None = None
        self.here = False

    def __await__(self) -> Generator[Any, Any, "Comm | None"]:
        yield self
        return self.comm


class Grid:
    """Ranks as points of a grid, the last axis fastest. Arithmetic alone: no MPI call."""

    def __init__(self, rank: int, lengths: Sequence[int], periodic: bool) -> None:
        self.lengths, self.periodic = tuple(lengths), periodic
        places = []
        for length in reversed(self.lengths):
            places.append(rank % length)
            rank //= length
        self.coordinates = tuple(reversed(places))

    def at(self, coordinates: Sequence[int]) -> int | None:
        """The rank at a place; None outside of a grid that is not periodic."""
        rank = 0
        for place, length in zip(coordinates, self.lengths, strict=True):
            if not 0 <= place < length and not self.periodic:
                return None
            rank = rank * length + place % length
        return rank

    def shift(self, axis: int, by: int = 1) -> int:
        """The rank so many steps along an axis. Raises UsageError where a grid that is not periodic ends."""
        found = self.neighbour([by if each == axis else 0 for each in range(len(self.lengths))])
        if found is None:
            raise UsageError(f"no rank is {by} further along axis {axis}: the grid is not periodic")
        return found

    def neighbour(self, offset: Sequence[int]) -> int | None:
        """The rank at an offset; None outside of a grid that is not periodic."""
        return self.at([a + b for a, b in zip(self.coordinates, offset, strict=True)])


class _Rank:
    """What a rank has asked for so far."""

    def __init__(self, trace: "_Evaluation", rank: int) -> None:
        self.trace, self.rank = trace, rank
        self.operations: list[Operation] = []
        self.before: list[float] = []
        self.computed = 0.0
        self.slots: list[int] = []  # below `highest` that are free again
        self.highest = 0
        self.open = 0  # requests
        self.windows: list[int] = []
        self.highest_window = 0

    def note(self, operation: Operation) -> None:
        self.operations.append(operation)
        self.before.append(self.computed)
        self.computed = 0.0

    def slot(self) -> int:
        self.open += 1
        if self.slots:
            return heapq.heappop(self.slots)
        self.highest += 1
        return self.highest

    def release(self, slot: int) -> None:
        self.open -= 1
        heapq.heappush(self.slots, slot)


class Comm:
    """A communicator as one rank sees it. Sizes are bytes or text such as "8 KiB", ranks those of it."""

    def __init__(self, owner: _Rank, index: int, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self._owner, self._index = owner, index
        self._sizes = owner.trace.sizes

    # ------------------------------------------------------------------------------------- what is checked
    def _bytes(self, size: Size) -> int:
        found = self._sizes.get(size)
        if found is None:
            found = self._sizes[size] = parse_bytes(size)
        return found

    def _peer(self, peer: int, what: str) -> int:
        if not 0 <= peer < self.size:
            raise UsageError(
                f"rank {self._owner.rank}: {what} rank {peer}, "
                f"but the communicator has ranks 0 to {self.size - 1}"
            )
        return peer

    # ------------------------------------------------------------------------------------------- messages
    def compute(self, time: float | str) -> Done:
        """Computation: seconds, or text such as "3 us"."""
        seconds = parse_time(time) if isinstance(time, str) else float(time)
        if not 0 <= seconds < 1e9:
            raise UsageError(f"rank {self._owner.rank}: a time to compute is 0 or more seconds, got {time!r}")
        self._owner.computed += seconds
        return _DONE

    def send(self, to: int, bytes: Size, tag: int = 0, mode: SendMode = SendMode.STANDARD) -> Done:
        size = self._bytes(bytes)
        self._owner.note(Operation(_SEND, self._index, self._peer(to, "sends to"), size, tag, mode=int(mode)))
        return _DONE

    def recv(self, source: int, bytes: Size, tag: int = 0) -> Done:
        self._owner.note(self._receive(source, bytes, tag, 0, 0))
        return _DONE

    def sendrecv(
        self, to: int, bytes: Size, source: int, source_bytes: Size | None = None, tag: int = 0
    ) -> Done:
        size = self._bytes(bytes)
        other = size if source_bytes is None else self._bytes(source_bytes)
        self._owner.note(
            Operation(
                _SENDRECV,
                self._index,
                self._peer(to, "sends to"),
                size,
                tag,
                source=self._peer(source, "receives from"),
                source_bytes=other,
                source_tag=tag,
            )
        )
        return _DONE

    def isend(self, to: int, bytes: Size, tag: int = 0, mode: SendMode = SendMode.STANDARD) -> Request:
        slot = self._owner.slot()
        size, peer = self._bytes(bytes), self._peer(to, "sends to")
        self._owner.note(Operation(_SEND, self._index, peer, size, tag, slot, 0, 0, int(mode), _NONBLOCKING))
        return Request(slot, persistent=False)

    def irecv(self, source: int, bytes: Size, tag: int = 0) -> Request:
        slot = self._owner.slot()
        self._owner.note(self._receive(source, bytes, tag, slot, _NONBLOCKING))
        return Request(slot, persistent=False)

    def send_init(self, to: int, bytes: Size, tag: int = 0, mode: SendMode = SendMode.STANDARD) -> Request:
        slot = self._owner.slot()
        size, peer = self._bytes(bytes), self._peer(to, "sends to")
        self._owner.note(Operation(_SEND, self._index, peer, size, tag, slot, 0, 0, int(mode), _PERSISTENT))
        return Request(slot, persistent=True)

    def recv_init(self, source: int, bytes: Size, tag: int = 0) -> Request:
        slot = self._owner.slot()
        self._owner.note(self._receive(source, bytes, tag, slot, _PERSISTENT))
        return Request(slot, persistent=True)

    def _receive(self, source: int, size: Size, tag: int, slot: int, form: int) -> Operation:
        size = self._bytes(size)
        if source == ANY:
            return Operation(_RECV, self._index, ANY, size, tag, slot, form=form, free=FREE_SOURCE)
        return Operation(
            _RECV, self._index, self._peer(source, "receives from"), size, tag, slot, 0, 0, 0, form
        )

    def start(self, *requests: Request) -> Done:
        """Begins persistent operations."""
        for request in requests:
            if not request.persistent or request.active:
                raise UsageError(
                    f"rank {self._owner.rank} starts what is no persistent operation, or is under way"
                )
            request.active = True
        self._owner.note(Operation(_START, gives=tuple(request.slot for request in requests)))
        return _DONE

    def wait(self, request: Request) -> Done:
        return self._wait((request,), Completion.WAIT)

    def wait_all(self, requests: Iterable[Request]) -> Done:
        return self._wait(tuple(requests), Completion.WAITALL)

    def _wait(self, requests: tuple[Request, ...], how: Completion) -> Done:
        slots = []
        for request in requests:
            if not request.active:
                raise UsageError(f"rank {self._owner.rank} waits for an operation that is not under way")
            request.active = False
            slots.append(request.slot)
        self._owner.note(Operation(_WAIT, 0, 0, 0, 0, 0, 0, 0, int(how), gives=tuple(slots)))
        for request in requests:
            if not request.persistent:
                self._owner.release(request.slot)
        return _DONE

    def free(self, request: Request) -> Done:
        """A persistent operation is needed no longer."""
        if not request.persistent or request.active:
            raise UsageError(
                f"rank {self._owner.rank} frees what is no persistent operation, or is under way"
            )
        self._owner.note(Operation(int(Kind.FREE), request=request.slot))
        self._owner.release(request.slot)
        return _DONE

    # ----------------------------------------------------------------------------------------- collectives
    def _collective(
        self,
        kind: Kind,
        size: Size,
        *,
        nonblocking: bool,
        root: int = 0,
        reduction: Reduction = Reduction.SUM,
        type: Datatype = Datatype.OTHER,
        gives: Mapping[int, Size] | None = None,
        takes: Mapping[int, Size] | None = None,
    ) -> Any:
        slot = self._owner.slot() if nonblocking else 0
        self._owner.note(
            Operation(
                int(kind),
                self._index,
                self._peer(root, "names as root"),
                self._bytes(size),
                request=slot,
                form=_NONBLOCKING if nonblocking else 0,
                type=int(type),
                reduction=int(reduction),
                gives=self._parts(gives),
                takes=self._parts(takes),
            )
        )
        return Request(slot, persistent=False) if nonblocking else _DONE

    def _parts(self, parts: Mapping[int, Size] | None) -> tuple[int, ...]:
        items = sorted((parts or {}).items())
        return tuple(
            value for peer, size in items for value in (self._peer(peer, "has a block of"), self._bytes(size))
        )

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
    ) -> Any:
        return self._collective(
            Kind.REDUCE, bytes, root=root, nonblocking=nonblocking, reduction=reduction, type=type
        )

    def allreduce(
        self,
        bytes: Size,
        *,
        reduction: Reduction = SUM,
        type: Datatype = Datatype.FLOAT64,
        nonblocking: bool = False,
    ) -> Any:
        return self._collective(
            Kind.ALLREDUCE, bytes, nonblocking=nonblocking, reduction=reduction, type=type
        )

    def gather(self, bytes: Size, root: int = 0, *, nonblocking: bool = False) -> Any:
        return self._collective(Kind.GATHER, bytes, root=root, nonblocking=nonblocking)

    def scatter(self, bytes: Size, root: int = 0, *, nonblocking: bool = False) -> Any:
        return self._collective(Kind.SCATTER, bytes, root=root, nonblocking=nonblocking)

    def allgather(self, bytes: Size, *, nonblocking: bool = False) -> Any:
        """`bytes` are one rank's block."""
        return self._collective(Kind.ALLGATHER, bytes, nonblocking=nonblocking)

    def alltoall(self, bytes: Size, *, nonblocking: bool = False) -> Any:
        """`bytes` go from each rank to each."""
        return self._collective(Kind.ALLTOALL, bytes, nonblocking=nonblocking)

    def alltoallv(
        self, gives: Mapping[int, Size], takes: Mapping[int, Size], *, nonblocking: bool = False
    ) -> Any:
        """Bytes to each rank and from each; ranks that are not named get or give nothing."""
        return self._collective(Kind.ALLTOALL, 0, nonblocking=nonblocking, gives=gives, takes=takes)

    def reduce_scatter(
        self,
        bytes: Size,
        *,
        reduction: Reduction = SUM,
        type: Datatype = Datatype.FLOAT64,
        nonblocking: bool = False,
    ) -> Any:
        """`bytes` are one rank's block of the result."""
        return self._collective(
            Kind.REDUCE_SCATTER, bytes, nonblocking=nonblocking, reduction=reduction, type=type
        )

    def scan(
        self,
        bytes: Size,
        *,
        reduction: Reduction = SUM,
        type: Datatype = Datatype.FLOAT64,
        nonblocking: bool = False,
    ) -> Any:
        return self._collective(Kind.SCAN, bytes, nonblocking=nonblocking, reduction=reduction, type=type)

    # ------------------------------------------------------------------- communicators, windows and regions
    def split(self, color: int | None, key: int = 0) -> Pending:
        """The ranks of one colour; None of the communicator for the colour None."""
        return self._owner.trace.meet(self, Construction.SPLIT, (color, key))

    def dup(self) -> Pending:
        """The same ranks, apart from this communicator."""
        return self._owner.trace.meet(self, Construction.DUP, (0, self.rank))

    def grid(self, lengths: int | Sequence[int], periodic: bool = True) -> Grid:
        """These ranks as a grid: of so many axes as near to a cube as they allow, or of these lengths."""
        given = even_grid(self.size, lengths) if isinstance(lengths, int) else tuple(lengths)
        if prod(given) != self.size:
            raise UsageError(f"a grid of {'x'.join(map(str, given))} has not the {self.size} ranks there are")
        return Grid(self.rank, given, periodic)

    def window(self, bytes: Size) -> "Window":
        """Memory of every rank that all may read and write."""
        owner = self._owner
        if owner.windows:
            number = heapq.heappop(owner.windows)
        else:
            owner.highest_window += 1
            number = owner.highest_window
        owner.note(Operation(int(Kind.WIN), self._index, bytes=self._bytes(bytes), extra=number))
        return Window(self, number)

    @contextmanager
    def region(self, name: str) -> Iterator[None]:
        """What is asked for inside belongs to a part of the program of this name."""
        index = self._owner.trace.region(name)
        self._owner.note(Operation(int(Kind.REGION_BEGIN), extra=index + 1))
        yield
        self._owner.note(Operation(int(Kind.REGION_END), extra=index + 1))


class Window:
    """Memory that other ranks read and write. An epoch is from fence to fence, or from lock to unlock."""

    def __init__(self, comm: Comm, number: int) -> None:
        self._comm, self._number = comm, number

    def __await__(self) -> Generator[Any, Any, "Window"]:
        return self
        yield

    def _note(self, kind: Kind, peer: int = 0, size: Size = 0, mode: int = 0) -> Done:
        comm = self._comm
        comm._owner.note(
            Operation(
                int(kind),
                comm._index,
                comm._peer(peer, "reaches for"),
                comm._bytes(size),
                extra=self._number,
                mode=mode,
            )
        )
        return _DONE

    def put(self, target: int, bytes: Size) -> Done:
        return self._note(Kind.PUT, target, bytes)

    def get(self, target: int, bytes: Size) -> Done:
        return self._note(Kind.GET, target, bytes)

    def accumulate(self, target: int, bytes: Size) -> Done:
        return self._note(Kind.ACCUMULATE, target, bytes)

    def fence(self) -> Done:
        return self._note(Kind.FENCE)

    def lock(self, target: int, *, exclusive: bool = False) -> Done:
        return self._note(Kind.LOCK, target, mode=int(exclusive))

    def unlock(self, target: int) -> Done:
        return self._note(Kind.UNLOCK, target)

    def flush(self, target: int) -> Done:
        return self._note(Kind.FLUSH, target)

    def free(self) -> Done:
        self._note(Kind.WIN_FREE)
        heapq.heappush(self._comm._owner.windows, self._number)
        return _DONE


class _Evaluation:
    """All ranks' code, each run until it ends or waits for the others to make a communicator."""

    def __init__(self, ranks: int) -> None:
        self.builder = ProgramBuilder(ranks)
        self.sizes: dict[Size, int] = {}
        self.ranks = [_Rank(self, rank) for rank in range(ranks)]
        # Of each communicator that is being made, by its parent: what each rank brought.
        self.meetings: dict[int, dict[int, tuple[Comm, Construction, tuple[int | None, int], Pending]]] = {}
        self.resumable: list[int] = []

    def region(self, name: str) -> int:
        regions = self.builder.regions
        if name not in regions:
            regions.append(name)
        return regions.index(name)

    def meet(self, comm: Comm, how: Construction, brought: tuple[int | None, int]) -> Pending:
        pending = Pending()
        meeting = self.meetings.setdefault(comm._index, {})
        if comm.rank in meeting:
            raise UsageError(
                f"rank {comm._owner.rank} makes a second communicator before it has got the first: "
                "yield it, or await it"
            )
        meeting[comm.rank] = (comm, how, brought, pending)
        if len(meeting) == comm.size:
            del self.meetings[comm._index]
            self._make(meeting)
        return pending

    def _make(self, meeting: dict[int, tuple[Comm, Construction, tuple[int | None, int], Pending]]) -> None:
        if len({how for _, how, _, _ in meeting.values()}) > 1:
            raise UsageError("ranks of a communicator split it and duplicate it at once")
        colors: dict[int, list[tuple[int, int]]] = {}
        for rank in sorted(meeting):
            color, key = meeting[rank][2]
            if color is not None:
                colors.setdefault(color, []).append((key, rank))
        made = self.builder.communicators
        places: dict[int, tuple[int, int, int]] = {}
        for _, members in sorted(colors.items()):
            members.sort()
            parent = made[meeting[0][0]._index]
            made.append(
                Communicator(
                    tuple(parent.members[rank] for _, rank in members), meeting[0][1], meeting[0][0]._index
                )
            )
            for place, (_, rank) in enumerate(members):
                places[rank] = len(made) - 1, place, len(members)
        for rank, (comm, how, _, pending) in meeting.items():
            owner = comm._owner
            index, place, size = places.get(rank, (-1, 0, 0))
            owner.note(Operation(int(Kind.COMM), comm._index, extra=index + 1, mode=int(how)))
            pending.comm = Comm(owner, index, place, size) if index >= 0 else None
            pending.here = True
            self.resumable.append(owner.rank)

    def run(self, code: Callable[[Comm], Any]) -> Program:
        count = len(self.ranks)
        waiting: dict[int, tuple[Generator[Any, Any, Any] | Coroutine[Any, Any, Any], Pending]] = {}
        for rank in self.ranks:
            running = code(Comm(rank, 0, rank.rank, count))
            self._go_on(rank, running, None, waiting)
        while waiting:
            ready = [rank for rank in self.resumable if rank in waiting and waiting[rank][1].here]
            self.resumable = []
            if not ready:
                first = min(waiting)
                raise UsageError(
                    f"rank {first} waits to make a communicator to which not all ranks come "
                    f"({len(waiting)} ranks wait)"
                )
            for number in ready:
                running, pending = waiting.pop(number)
                self._go_on(self.ranks[number], running, pending.comm, waiting)
        return self.builder.build()

    def _go_on(
        self,
        rank: _Rank,
        running: Any,
        value: Any,
        waiting: dict[int, tuple[Any, Pending]],
    ) -> None:
        if inspect.isgenerator(running) or inspect.iscoroutine(running):
            send = running.send
            try:
                while True:
                    value = send(value)
                    if type(value) is Pending:
                        if not value.here:
                            waiting[rank.rank] = running, value
                            return
                        value = value.comm
            except StopIteration:
                pass
        elif running is not None:
            raise UsageError(
                "a rank's code is a generator, an async function or returns nothing, "
                f"but got {type(running).__name__}"
            )
        if rank.open:
            raise UsageError(f"rank {rank.rank} ends with {rank.open} operations that it never waited for")
        if rank.computed:
            rank.note(Operation(int(Kind.NOP)))
        self.builder.add(rank.rank, rank.operations, before=rank.before)
        rank.operations, rank.before = [], []


def evaluate(code: Callable[..., Any], ranks: int, **arguments: Any) -> Program:
    """The program that `ranks` ranks execute whose code is `code(comm, **arguments)`.

    Raises UsageError, naming the rank, where it asks for what cannot be: a rank that is not there, a request
    that nobody waits for, a communicator to which not all ranks come.
    """
    if ranks < 1:
        raise UsageError(f"a program has 1 or more ranks, but got {ranks}")
    return _Evaluation(ranks).run(lambda comm: code(comm, **arguments))
