"""What a message costs a stream that goes by windows, each of which ends with an empty answer."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def slower_end(sizes: Array, gaps: Array, window: int, whole_sizes: Array, whole: Array) -> Array:
    """What one message costs the slower end, (draws, S), from the time a message of a stream.

    A window is W - 1 messages at the pace of the slower end, one message as a whole, and the empty answer:
    W gap(n) = (W - 1) E(n) + T(n) + T(0), with T of half a round trip of a ping-pong, (draws, sizes of it).
    """
    if window == 1:
        return gaps
    columns = [np.interp(sizes, whole_sizes, row) for row in whole]
    once = np.stack(columns) + whole[:, :1]
    # A stream that is quicker than its first message alone would have an end that costs nothing.
    return np.asarray(np.maximum((window * gaps - once) / (window - 1), gaps / window), dtype=np.float64)
