"""Small models of what was measured: parameters with intervals, residuals, and how far they miss.

One file a fit. A module of this package whose name has no leading underscore is a fit; it has

    QUESTION: str                                       what it answers, one line
    def fit(records: pl.DataFrame) -> Iterable[Fit]     one `Fit` for each series it finds in a record table

and its name is the module's. Adding one edits no other file.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.core.plugins import Plugins
from leadline.core.units import format_bytes, format_quantity

Array = NDArray[np.float64]

SWITCH = "protocol switch"  # begins the names of parameters that are sizes where the protocol changes


@dataclass(frozen=True)
class Parameter:
    """One number of a model with its 95 % interval (null from a single launch), in SI units.

    `flag` says what is wrong with it, for example "negative: not a latency"; the value is shown all the same.
    """

    name: str
    value: float
    low: float | None
    high: float | None
    unit: str
    flag: str | None = None

    def told(self) -> str:
        """The parameter for people. A switch lies between two sizes, which are exact: "64 KiB to 128 KiB"."""
        if self.name.startswith(SWITCH) and self.low is not None and self.high is not None:
            return f"{format_bytes(int(self.low))} to {format_bytes(int(self.high))}"
        return format_quantity(self.value, self.unit, self.low, self.high)


@dataclass(frozen=True)
class Fit:
    """A model fitted to one series.

    `series` identifies it: those of the record's keys, and of the coordinates that do not vary in it, which
    are not null. `x` are sizes in bytes, `y` what was measured there (median over launches, `unit`),
    `predict` the model at any sizes (NaN where it says nothing), `residuals` y minus prediction.
    `criterion` is an information criterion on relative residuals (`leadline.analysis.criterion`),
    comparable
    between fits of one series, lower being better. `holdout` is the median relative error at sizes that
    were left out of the fit, one at a time.
    """

    name: str
    question: str
    series: dict[str, str | int]
    parameters: list[Parameter]
    predict: Callable[[Array], Array]
    x: Array
    y: Array
    residuals: Array
    unit: str = "s"
    criterion: float | None = None
    holdout: float | None = None
    notes: list[str] = field(default_factory=list)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, or None where this fit does not have it."""
        return next((each for each in self.parameters if each.name == name), None)


_FITS = Plugins(__name__, "unknown fit {}", {"ends": "asymptotic"})


def names() -> list[str]:
    """The names of all fits."""
    return _FITS.names()


def question(name: str) -> str:
    """What the fit of that name answers. Raises UsageError for a name that is none."""
    return str(_FITS.find(name).QUESTION)


def fit_all(records: pl.DataFrame, only: Iterable[str] | None = None) -> list[Fit]:
    """Every fit (or `only` those named) of every series in `records` that it applies to.

    Raises UsageError for the name of a fit that there is not.
    """
    chosen = [_FITS.find(name) for name in (names() if only is None else only)]
    return [fit for module in chosen for fit in module.fit(records)]
