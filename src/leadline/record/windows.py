"""One-sided operations of a rank, from its entries: handles of windows become numbers."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from leadline.program.model import NOBODY, Communicator, Kind, Operation
from leadline.record.spills import Entry

UNKNOWN_WINDOW = "a window from a call that is not known"
_ELSEWHERE = 0, 0  # instead of number and communicator: it reaches processes that are not recorded


@dataclass
class Windows:
    """The windows of a rank, and whom they are open for."""

    outside: set[str]
    alive: dict[int, tuple[int, int]] = field(default_factory=dict)  # number and communicator
    free: list[int] = field(default_factory=list)
    posted: dict[int, tuple[int, ...]] = field(default_factory=dict)  # whom a window is open for, and
    begun: dict[int, tuple[int, ...]] = field(default_factory=dict)  # whose it reaches

    def elsewhere(self, window: int) -> None:
        """A window that reaches processes which are not recorded: what is done with it is left out."""
        self.alive[window] = _ELSEWHERE

    def made(self, window: int, index: int, size: int) -> Operation:
        """A window of a communicator, of which this rank gives so many bytes."""
        number = heapq.heappop(self.free) if self.free else 1 + sum(n > 0 for n, _ in self.alive.values())
        self.alive[window] = number, index
        return Operation(int(Kind.WIN), index, bytes=size, extra=number)

    def access(self, entry: Entry) -> Operation:
        """A put, a get or an accumulation."""
        window, target, size, _ = entry.values
        number, comm = self._find(window)
        if target == NOBODY or not number:
            return Operation(int(Kind.NOP))
        return Operation(entry.kind, comm, target, size, extra=number)

    def epoch(self, entry: Entry, communicators: Sequence[Communicator]) -> Operation | None:
        """What opens, closes or ends a window; None of one that is left out."""
        window, target, _, *world = entry.values
        number, comm = self._find(window)
        if not number:
            return None
        members = communicators[comm].members
        ranks = tuple(members.index(rank) for rank in world)
        if entry.kind == Kind.WIN_FREE:
            del self.alive[window]
            heapq.heappush(self.free, number)
            target = 0
        if entry.kind == Kind.POST:
            self.posted[window] = ranks
        elif entry.kind == Kind.START_EPOCH:
            self.begun[window] = ranks
        elif entry.kind == Kind.COMPLETE:
            ranks = self.begun.pop(window, ())
        elif entry.kind == Kind.WAIT_EPOCH:
            ranks = self.posted.pop(window, ())
        return Operation(entry.kind, comm, target, extra=number, mode=entry.mode, gives=ranks)

    def _find(self, window: int) -> tuple[int, int]:
        if window not in self.alive:
            self.outside.add(UNKNOWN_WINDOW)
            self.elsewhere(window)
        return self.alive[window]
