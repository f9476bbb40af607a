"""What a rank asks of a window, in a program that is written in Python."""

import heapq
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

from leadline.program.checked import group_of, truth_of
from leadline.program.model import Kind, Operation
from leadline.program.noted import DONE, Done, Size

if TYPE_CHECKING:
    from leadline.program.comm import Comm


class Window:
    """Memory that other ranks read and write. An epoch is from fence to fence, from lock to unlock,
    or from start to complete beside a target's post to wait."""

    def __init__(self, comm: "Comm", number: int) -> None:
        self._comm, self._number = comm, number
        self._lets: tuple[int, ...] = ()
        self._reaches: tuple[int, ...] = ()

    def __await__(self) -> Generator[Any, Any, "Window"]:
        return self
        yield

    def _note(
        self, kind: Kind, peer: int = 0, size: Size = 0, mode: int = 0, group: Iterable[int] = ()
    ) -> Done:
        comm = self._comm
        comm.owner.note(
            Operation(
                int(kind),
                comm.index,
                comm.peer(peer, "reaches for"),
                comm.size_of(size),
                extra=self._number,
                mode=mode,
                gives=tuple(comm.peer(each, "has an epoch with") for each in group),
            )
        )
        return DONE

    def put(self, target: int, bytes: Size) -> Done:
        return self._note(Kind.PUT, target, bytes)

    def get(self, target: int, bytes: Size) -> Done:
        return self._note(Kind.GET, target, bytes)

    def accumulate(self, target: int, bytes: Size) -> Done:
        return self._note(Kind.ACCUMULATE, target, bytes)

    def fence(self) -> Done:
        return self._note(Kind.FENCE)

    def post(self, origins: Iterable[int]) -> Done:
        """These ranks may reach for this one's memory, until `wait`."""
        self._lets = group_of(self._comm.owner.rank, origins)
        return self._note(Kind.POST, group=self._lets)

    def start(self, targets: Iterable[int]) -> Done:
        """Accesses to these ranks' memory begin, which have said `post` or will, until `complete`."""
        self._reaches = group_of(self._comm.owner.rank, targets)
        return self._note(Kind.START_EPOCH, group=self._reaches)

    def complete(self) -> Done:
        return self._note(Kind.COMPLETE, group=self._reaches)

    def wait(self) -> Done:
        """Until all that were let in by `post` have said `complete`."""
        return self._note(Kind.WAIT_EPOCH, group=self._lets)

    def lock(self, target: int, *, exclusive: bool = False) -> Done:
        return self._note(
            Kind.LOCK, target, mode=int(truth_of(self._comm.owner.rank, "exclusive", exclusive))
        )

    def unlock(self, target: int) -> Done:
        return self._note(Kind.UNLOCK, target)

    def flush(self, target: int) -> Done:
        return self._note(Kind.FLUSH, target)

    def free(self) -> Done:
        self._note(Kind.WIN_FREE)
        heapq.heappush(self._comm.owner.windows, self._number)
        return DONE
