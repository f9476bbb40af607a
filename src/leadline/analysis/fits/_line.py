"""Fits that are one straight line, T(n) = latency + n / bandwidth: they differ only in how the line is
laid.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from leadline.analysis.criterion import criterion, holdout, line_parameters, squares
from leadline.analysis.fits import Fit
from leadline.analysis.series import Series

Array = NDArray[np.float64]
Line = Callable[[Array, Array], tuple[Array, Array]]


def straight(name: str, question: str, source: Series, line: Line, *, fewest: int, notes: list[str]) -> Fit:
    """The fit of `source` that `line` gives: intercept and slope from sizes and times.

    `line` must take many data sets at once, sizes along the last axis of the times. `fewest` is how many
    sizes it needs.
    """
    x, y = source.sizes, source.typical
    latency, slope = (float(each) for each in line(x, y))

    def predict(sizes: Array) -> Array:
        return latency + slope * np.asarray(sizes, dtype=np.float64)

    def predict_at(x: Array, y: Array, at: float) -> float:
        latency, slope = line(x, y)
        return float(latency + slope * at)

    return Fit(
        name=name,
        question=question,
        series=source.keys,
        parameters=line_parameters(source, latency, slope, *line(x, source.draws)),
        predict=predict,
        x=x,
        y=y,
        residuals=y - predict(x),
        criterion=criterion(squares(y, predict(x)), x.size, 1),
        holdout=holdout(x, y, predict_at, fewest),
        notes=[*notes, *source.notes()],
    )
