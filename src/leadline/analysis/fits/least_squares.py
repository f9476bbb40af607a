"""Latency and bandwidth by least squares over all sizes: T(n) = latency + n / bandwidth.

Every size has weight 1, as in the textbook way (R. W. Hockney's two parameters; numpy's polyfit). The large
sizes, whose times are largest, then decide: the bandwidth is good, and the latency is what is left over at
the other end. Where the curve bends it can come out negative, far below anything measured; it is shown and
flagged, for that is how one sees that a straight line does not hold. `asymptotic` weighs the other way,
`piecewise` both.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.fits import Fit
from leadline.analysis.fits._line import straight
from leadline.analysis.series import pingpong

QUESTION = "Which latency and bandwidth fit all sizes best, each size counting alike?"

Array = NDArray[np.float64]


def line(x: Array, y: Array) -> tuple[Array, Array]:
    """Intercept and slope of the least-squares line; `y` may hold many data sets, sizes along its last
    axis.
    """
    dx = x - x.mean()
    slope = (y * dx).sum(axis=-1) / (dx * dx).sum()
    return y.mean(axis=-1) - slope * x.mean(), slope


def fit(records: pl.DataFrame) -> Iterator[Fit]:
    """One fit for each ping-pong series of at least 3 sizes."""
    for source in pingpong(records, fewest=3):
        yield straight("least_squares", QUESTION, source, line, fewest=2, notes=[])
