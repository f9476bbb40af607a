"""What a rank waits for in an operation: how long, why, and for whom."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.program.events import Place

SENDER, RECEIVER, IMBALANCE = "late sender", "late receiver", "imbalance in a collective"
PROGRESS = "missing progress"  # the other rank computes
WAITS = (SENDER, RECEIVER, IMBALANCE, PROGRESS)
_SENDER, _RECEIVER = WAITS.index(SENDER), WAITS.index(RECEIVER)
STALL = 5_000  # ns; what takes less is not looked at for missing progress, or for who is in between

Nanoseconds = npt.NDArray[np.int64]


@dataclass
class Waiting:
    """Of each operation of a rank: how long it waits, for what (a place in WAITS), and whom."""

    time: Nanoseconds
    why: npt.NDArray[np.int8]
    rank: npt.NDArray[np.int32]
    index: Nanoseconds

    @classmethod
    def nowhere(cls, operations: int) -> "Waiting":
        """Of so many operations, none of which waits."""
        return cls(
            np.zeros(operations, np.int64),
            np.full(operations, -1, np.int8),
            np.full(operations, -1, np.int32),
            np.full(operations, -1, np.int64),
        )


def wait(times: Sequence[Nanoseconds], waiting: Sequence[Waiting], at: Place, why: int, cause: Place) -> None:
    """An operation waits until another one begins, unless it waits longer for something else.

    Of a receive and a send that are completed together and wait about as long, as in MPI_Sendrecv with a
    partner who is late, the receive waits: a send of few bytes waits for nobody.
    """
    rank, index = at
    enter, leave = times[rank][index].tolist()
    time = min(int(times[cause[0]][cause[1], 0]), leave) - enter
    longest, least = int(waiting[rank].time[index]), 0
    if longest and {why, int(waiting[rank].why[index])} == {_SENDER, _RECEIVER}:
        least = STALL if why == _RECEIVER else -STALL - 1
    if time > max(0, longest + least):
        waiting[rank].time[index] = time
        waiting[rank].why[index] = why
        waiting[rank].rank[index], waiting[rank].index[index] = cause
