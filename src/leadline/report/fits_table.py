"""The fits of a report as tables: a row a series, a column a parameter, remarks with flags and hold-out
error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from leadline.analysis.fits import SWITCH
from leadline.analysis.noise import percent
from leadline.core.formatting import FormattedQuantity, formatted
from leadline.report.subject import SERIES, Names, variant, varying

if TYPE_CHECKING:
    from leadline.analysis.fits import Fit, Parameter

_KEYS = ("benchmark", "metric", *SERIES)


@dataclass(frozen=True)
class Remark:
    """Something to know of a fit; a flag says that a parameter cannot be what it is called."""

    text: str
    flag: bool = False


@dataclass(frozen=True)
class FitRow:
    """One fitted series: a cell for each heading, null where this fit has no such parameter."""

    series: str
    cells: list[FormattedQuantity | None]
    remarks: list[Remark]


@dataclass(frozen=True)
class FitGroup:
    """All series that one model was fitted to."""

    name: str
    question: str
    headings: list[str]
    rows: list[FitRow]


def fit_groups(fits: Sequence["Fit"], names: Names) -> list[FitGroup]:
    """A table for each kind of fit, in the order of the fits' names."""
    ordered = sorted(fits, key=lambda fit: fit.name)
    return [_group(name, list(group), names) for name, group in groupby(ordered, key=lambda fit: fit.name)]


def _group(name: str, fits: Sequence["Fit"], names: Names) -> FitGroup:
    """The table of one kind of fit."""
    headings = list(dict.fromkeys(each.name for fit in fits for each in fit.parameters))
    coordinates = dict.fromkeys(key for fit in fits for key in fit.series if key not in _KEYS)
    told = varying([fit.series for fit in fits], coordinates)
    several = len({fit.series.get("benchmark") for fit in fits}) > 1
    rows = []
    for fit in fits:
        words = [str(fit.series.get("benchmark"))] if several else []
        words += [names.series(fit.series), variant(fit.series, [key for key in told if key in fit.series])]
        found = {each.name: each for each in fit.parameters}
        cells = [_cell(found[heading]) if heading in found else None for heading in headings]
        rows.append(FitRow(", ".join(word for word in words if word), cells, _remarks(fit)))
    return FitGroup(name.replace("_", " "), fits[0].question, headings, rows)


def _cell(parameter: "Parameter") -> FormattedQuantity:
    """A parameter with its interval and flag; a protocol switch by the sizes that it lies between."""
    if parameter.name.startswith(SWITCH):
        return FormattedQuantity(parameter.told(), flag=parameter.flag or "")
    return formatted(parameter.value, parameter.unit, parameter.low, parameter.high, flag=parameter.flag)


def _remarks(fit: "Fit") -> list[Remark]:
    """Flags first, then how far the fit misses, then its notes."""
    said = [Remark(f"{each.name}: {each.flag}", True) for each in fit.parameters if each.flag]
    if fit.holdout is not None:
        said.append(Remark(f"misses a size that was left out by {percent(fit.holdout)} (median)"))
    if fit.criterion is not None:
        said.append(Remark(f"information criterion {fit.criterion:.0f}".replace("-", "\u2212")))
    return said + [Remark(note) for note in fit.notes]
