"""What a rank has asked for while its code is evaluated, and what it is given for that."""

import heapq
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Protocol

from leadline.program.model import Construction, Operation

if TYPE_CHECKING:
    from leadline.program.comm import Comm

Size = int | str  # B, or with a unit: "8 KiB"


class Done:
    """What a blocking operation gives: nothing, to be yielded or awaited."""

    def __await__(self) -> Generator[Any, Any, None]:
        return
        yield


DONE = Done()


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


class Meetings(Protocol):
    """What ranks share while their code is evaluated."""

    sizes: dict[Size, int]

    def region(self, name: str) -> int:
        """The index of a region's name."""

    def meet(self, comm: "Comm", how: Construction, brought: tuple[int | None, int]) -> Pending:
        """A rank comes to make a communicator."""


class Rank:
    """What a rank has asked for so far."""

    def __init__(self, trace: "Meetings", rank: int) -> None:
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
