"""Slots of nonblocking operations: always the smallest that is free, so that loops fold."""

import heapq


class Slots:
    """The slots of one rank, from 1."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._used = 0

    def take(self) -> int:
        """A slot for a new operation."""
        if self._free:
            return heapq.heappop(self._free)
        self._used += 1
        return self._used

    def give(self, slot: int) -> None:
        """The operation has completed."""
        heapq.heappush(self._free, slot)
