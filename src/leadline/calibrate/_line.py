"""The line through costs by size that neither begins below nothing nor falls."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def line(sizes: Array, costs: Array, scale: Array) -> tuple[float, float]:
    """Overhead, s, and cost, s/B, nearest to `costs`, s, where a distance counts as a share of `scale`."""
    from scipy.optimize import nnls  # noqa: PLC0415  (slow to import)

    # Seconds and bytes differ by nine powers of ten: columns of equal length keep the digits.
    sides = np.stack([1 / scale, sizes / scale], axis=1)
    lengths = np.linalg.norm(sides, axis=0)
    lengths[lengths == 0] = 1
    found, _ = nnls(sides / lengths, costs / scale)
    overhead, cost = found / lengths
    return float(overhead), float(cost)
