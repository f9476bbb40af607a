"""Exact least squares with pieces: every piece's cost for many data sets at once, and the best places to
break.

Shapes: D data sets of S sizes each, ascending; arrays are (D, S). The best partition is found by dynamic
programming over the ends of pieces (R. Bellman, Commun. ACM 4 (1961) 284), so it is the optimum, not a
local one.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SHORTEST = 3  # sizes in a piece: two fix a line, the third can speak against it


def costs(x: Array, y: Array) -> Array:
    """Squared relative residuals of the line through each run of sizes: (D, S, S), [d, j, i] from i up to j.

    Weights are 1/y^2, so residuals count as shares of the time. Infinite for fewer than SHORTEST sizes.
    Means and products are updated size by size (B. P. Welford, Technometrics 4 (1962) 419), which keeps
    digits where sizes span nine powers of ten and differences of sums would not.
    """
    sets, sizes = y.shape
    result = np.full((sets, sizes, sizes), np.inf)
    weight, mean_x, mean_y, xx, xy, yy = (np.zeros((sets, sizes)) for _ in range(6))
    for length in range(1, sizes + 1):
        starts = sizes - length + 1
        new_x, new_y = x[:, length - 1 :], y[:, length - 1 :]
        weight, mean_x, mean_y, xx, xy, yy = (a[:, :starts] for a in (weight, mean_x, mean_y, xx, xy, yy))
        added = 1 / new_y**2
        total = weight + added
        dx, dy, both = new_x - mean_x, new_y - mean_y, weight * added / total
        xx, xy, yy = xx + both * dx * dx, xy + both * dx * dy, yy + both * dy * dy
        mean_x, mean_y, weight = mean_x + dx * added / total, mean_y + dy * added / total, total
        if length >= SHORTEST:
            diagonal = np.arange(starts)
            result[:, diagonal + length - 1, diagonal] = np.maximum(0.0, yy - xy * xy / xx)
    return result


def partitions(cost: Array, most: int) -> list[tuple[Array, Index]]:
    """For 1, 2, ... up to `most` pieces: the least cost (D,) and the first size of each piece (D, pieces)."""
    sets, sizes, _ = cost.shape
    best = cost[:, :, 0]  # best cost of the sizes up to each one, with so many pieces
    starts = np.zeros((sets, sizes, 1), dtype=np.int64)
    found = [(best[:, -1], starts[:, -1])]
    rows = np.arange(sets)[:, None]
    for _ in range(1, min(most, sizes // SHORTEST)):
        total = best[:, None, :-1] + cost[:, :, 1:]  # [d, j, i]: the last piece begins after size i
        last = np.argmin(total, axis=2)
        best = np.take_along_axis(total, last[:, :, None], axis=2)[:, :, 0]
        starts = np.concatenate([starts[rows, last], last[:, :, None] + 1], axis=2)
        found.append((best[:, -1], starts[:, -1]))
    return found


def lines(x: Array, y: Array, starts: Index) -> tuple[Array, Array]:
    """Intercepts and slopes, (D, pieces) each, of the lines through the pieces that begin at `starts`."""
    sets, sizes = y.shape
    ends = np.concatenate([starts[:, 1:], np.full((sets, 1), sizes)], axis=1)
    place = np.arange(sizes)
    inside = (place >= starts[:, :, None]) & (place < ends[:, :, None])
    weight = inside / y[:, None, :] ** 2
    weight = weight / weight.sum(axis=2, keepdims=True)
    mean_x, mean_y = (weight * x[:, None, :]).sum(axis=2), (weight * y[:, None, :]).sum(axis=2)
    dx = x[:, None, :] - mean_x[:, :, None]
    dy = y[:, None, :] - mean_y[:, :, None]
    slope = (weight * dx * dy).sum(axis=2) / (weight * dx * dx).sum(axis=2)
    return mean_y - slope * mean_x, slope
