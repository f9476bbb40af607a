"""How good a fit is: an information criterion, the error at sizes that were left out, and flags of
parameters.
"""

from collections.abc import Callable
from math import log

import numpy as np
from numpy.typing import NDArray

from leadline.analysis.fits import Parameter
from leadline.analysis.series import Series

Array = NDArray[np.float64]

# Relative error below which a residual says nothing: no median of launches is known to a thousandth.
RESOLUTION = 1e-3
LINE, BREAK = 2, 3  # what a line and a break count as, in parameters


def criterion(squares: float, sizes: int, pieces: int) -> float:
    """Schwarz's information criterion of a model of straight pieces; lower is better.

    `squares` is the sum of squared relative residuals at `sizes` sizes. It is N ln s^2 + p ln N with s^2 =
    squares / (N - 2 pieces), which few sizes need: without that correction four lines through twelve sizes
    look exact. A line counts as 2 parameters and a break as 3, for its place is searched for: A. R. Hall,
    D. R. Osborn and N. Sakkas, Inference on structural breaks using information criteria, The Manchester
    School 81 (2013) 54. So chosen, a straight line is given a break one time in twenty at most
    (tests/analysis/fits).
    """
    left = max(sizes - LINE * pieces, 1)
    parameters = LINE * pieces + BREAK * (pieces - 1)
    return sizes * log(max(squares / left, RESOLUTION**2)) + parameters * log(sizes)


def squares(measured: Array, predicted: Array) -> float:
    """Sum of squared residuals, each as a share of what was measured."""
    return float((((measured - predicted) / measured) ** 2).sum())


def holdout(
    x: Array, y: Array, predict_at: Callable[[Array, Array, float], float], fewest: int
) -> float | None:
    """Median relative error at a size that was left out of the fit, over all sizes.

    `predict_at(x, y, at)` fits to sizes `x` and times `y` and returns the prediction at `at`. None where
    leaving one out would leave fewer than `fewest`.
    """
    if x.size - 1 < fewest:
        return None
    rest = ~np.eye(x.size, dtype=bool)
    errors = [abs(predict_at(x[keep], y[keep], x[i]) - y[i]) / y[i] for i, keep in enumerate(rest)]
    return float(np.nanmedian(errors)) if np.isfinite(errors).any() else None


def parameter(source: Series, name: str, value: float, draws: Array, unit: str) -> Parameter:
    """A parameter with the interval that its `draws` give, flagged where it cannot be what it is called."""
    low, high = source.interval(draws)
    return Parameter(name, value, low, high, unit, flag(name, value, unit))


def flag(name: str, value: float, unit: str) -> str | None:
    """What is wrong with a value that is called by that name: a latency, size or bandwidth below zero."""
    if value >= 0:
        return None
    kind = {"s": "an overhead" if "overhead" in name else "a gap" if "gap" in name else "a latency"}
    kind |= {"B/s": "a bandwidth", "B": "a size", "s/B": "a time per byte"}
    return f"negative: not {kind.get(unit, 'a ' + name)}"


def line_parameters(
    source: Series, latency: float, slope: float, latencies: Array, slopes: Array
) -> list[Parameter]:
    """Latency, bandwidth and half-bandwidth size of T(n) = latency + slope n, from the fit and from its
    draws.

    The half-bandwidth size is where half the bandwidth is reached: latency times bandwidth (R. W. Hockney,
    The communication challenge for MPP, Parallel Computing 20 (1994) 389, there n_1/2).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        bandwidth, bandwidths = float(np.divide(1.0, slope)), 1 / slopes
        halves = latencies / slopes
        half = float(np.divide(latency, slope))
    return [
        parameter(source, "latency", latency, latencies, "s"),
        parameter(source, "bandwidth", bandwidth, bandwidths, "B/s"),
        parameter(source, "half-bandwidth size", half, halves, "B"),
    ]
