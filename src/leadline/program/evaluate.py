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

import inspect
from collections.abc import Callable, Coroutine, Generator, Mapping
from typing import Any

from leadline.core.arguments import is_whole
from leadline.core.errors import UsageError
from leadline.core.formatting import counted
from leadline.program.build import ProgramBuilder
from leadline.program.comm import Comm
from leadline.program.grid import Grid
from leadline.program.model import Communicator, Construction, Kind, Operation, Program
from leadline.program.noted import Done, Pending, Rank, Request, Size
from leadline.program.window import Window

MOST_RANKS = (1 << 31) - 1  # an int of C, as ranks are in MPI
# What calls of `comm` give, and plain functions of it.
_GIVEN = frozenset((Done, Request, Comm, Grid, Window, type(None)))


class _Evaluation:
    """All ranks' code, each run until it ends or waits for the others to make a communicator."""

    def __init__(self, ranks: int) -> None:
        self.builder = ProgramBuilder(ranks)
        self.sizes: dict[Size, int] = {}
        self.ranks = [Rank(self, rank) for rank in range(ranks)]
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
        meeting = self.meetings.setdefault(comm.index, {})
        if comm.rank in meeting:
            raise UsageError(
                f"rank {comm.owner.rank} makes a second communicator before it has got the first: "
                "yield it, or await it"
            )
        meeting[comm.rank] = (comm, how, brought, pending)
        if len(meeting) == comm.size:
            del self.meetings[comm.index]
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
            parent = made[meeting[0][0].index]
            made.append(
                Communicator(
                    tuple(parent.members[rank] for _, rank in members), meeting[0][1], meeting[0][0].index
                )
            )
            for place, (_, rank) in enumerate(members):
                places[rank] = len(made) - 1, place, len(members)
        for rank, (comm, how, _, pending) in meeting.items():
            owner = comm.owner
            index, place, size = places.get(rank, (-1, 0, 0))
            owner.note(Operation(int(Kind.COMM), comm.index, extra=index + 1, mode=int(how)))
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
                    f"({counted(len(waiting), 'rank')} in all)"
                )
            for number in ready:
                running, pending = waiting.pop(number)
                self._go_on(self.ranks[number], running, pending.comm, waiting)
        return self.builder.build()

    def _go_on(
        self,
        rank: Rank,
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
                    else:
                        _check_yielded(rank.rank, value)
            except StopIteration:
                pass
        elif running is not None:
            raise UsageError(
                "a rank's code is a generator, an async function or returns nothing, "
                f"but got {type(running).__name__}"
            )
        if rank.open:
            raise UsageError(
                f"rank {rank.rank} ends with {counted(rank.open, 'operation')} that it never waited for"
            )
        if rank.computed:
            rank.note(Operation(int(Kind.NOP)))
        self.builder.add(rank.rank, rank.operations, before=rank.before)
        rank.operations, rank.before = [], []


def _check_yielded(rank: int, value: object) -> None:
    """UsageError for what no call of `comm` gives: what is in it would be left out, and nobody would know.

    Plain functions give None, and several requests may stand in a list.
    """
    if type(value) in _GIVEN:
        return
    if isinstance(value, list | tuple):
        for each in value:
            _check_yielded(rank, each)
        return
    if inspect.isgenerator(value) or inspect.iscoroutine(value) or callable(value):
        way = "'yield from' executes it" if inspect.isgenerator(value) else "call it"
        if inspect.iscoroutine(value):
            value.close()
            way = "'await' executes it, in an async function"
        name = getattr(value, "__name__", type(value).__name__)
        raise UsageError(f"rank {rank}: yields the function {name} itself; {way}")
    raise UsageError(
        f"rank {rank}: a rank yields what a call of comm gives, such as comm.recv(0, 8), but got {value!r}"
    )


def _check_asked(code: object, ranks: Any, arguments: Mapping[str, object]) -> None:
    """UsageError for a number of ranks that is none, and for code that does not take the arguments."""
    if not is_whole(ranks):
        raise UsageError(f"ranks is a whole number, 1 or more, but got {ranks!r}")
    if ranks < 1:
        raise UsageError(f"a program has 1 or more ranks, but got {ranks}")
    if ranks > MOST_RANKS:
        raise UsageError(f"a program has at most {MOST_RANKS} ranks, but got {ranks}")
    if not callable(code):
        raise UsageError(f"a rank's code is a function of comm, but got {code!r}")
    try:
        inspect.signature(code).bind(None, **arguments)
    except TypeError as problem:
        name = getattr(code, "__name__", type(code).__name__)
        raise UsageError(
            f"{name}(comm, ...) cannot be called with what evaluate was given: {problem}"
        ) from None
    except ValueError:  # of some that are not written in Python nothing is known
        pass


def evaluate(code: Callable[..., Any], ranks: int, **arguments: Any) -> Program:
    """The program that `ranks` ranks execute whose code is `code(comm, **arguments)`.

    Raises UsageError, naming the rank, where it asks for what cannot be: a rank that is not there, a request
    that nobody waits for, a communicator to which not all ranks come.
    """
    _check_asked(code, ranks, arguments)
    return _Evaluation(int(ranks)).run(lambda comm: code(comm, **arguments))
