"""Fits as lines over points, and the protocol switches that they found as rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from leadline.analysis.fits import SWITCH
from leadline.report.figures import Entry
from leadline.report.plots.axes import Channel, axis_unit
from leadline.report.plots.points import HIDING, rounded
from leadline.report.plots.split import Split
from leadline.report.subject import Subject
from leadline.report.theme import Spec

if TYPE_CHECKING:
    from leadline.analysis.fits import Fit, Parameter

PREFERRED = "piecewise"  # shown at first; the others are switched on in the legend
_EVALUATED = 72  # places along the axis: enough that a bend looks like one
_HIDING = f"{HIDING} && indexof(hidden, datum.f) < 0"


@dataclass(frozen=True)
class Overlay:
    """Fitted lines and switches as data, with the legend's entries for the fits."""

    lines: list[Spec] = field(default_factory=list)
    switches: list[Spec] = field(default_factory=list)
    legend: tuple[Entry, ...] = ()

    def datasets(self) -> dict[str, list[Spec]]:
        """The named data of the layers."""
        named = {"fits": self.lines, "switches": self.switches}
        return {name: values for name, values in named.items() if values}

    def layers(self, y: Channel, dashed: Channel) -> list[Spec]:
        """Rules where the protocol switches, and the fitted lines with the dashes of their variants."""
        layers: list[Spec] = []
        if self.switches:
            told = {"s": "series", "v": "variant", "t": "protocol switch"}
            layers.append(
                {
                    "data": {"name": "switches"},
                    "transform": [{"filter": _HIDING}],
                    "mark": {"type": "rule", "strokeDash": [3, 4], "strokeWidth": 1.2, "opacity": 0.75},
                    "encoding": {"detail": {"field": "v"}, "tooltip": _tooltip(told)},
                }
            )
        if self.lines:
            told = {"f": "fit", "s": "series", "v": "variant"}
            layers.append(
                {
                    "data": {"name": "fits"},
                    "transform": [{"filter": _HIDING}],
                    "mark": {"type": "line", "strokeWidth": 2, "opacity": 0.85},
                    "encoding": {
                        "y": y,
                        **dashed,
                        "detail": [{"field": "f"}, {"field": "g"}],
                        "tooltip": _tooltip(told),
                    },
                }
            )
        return layers


def _tooltip(titles: dict[str, str]) -> list[dict[str, str]]:
    return [{"field": name, "type": "nominal", "title": title} for name, title in titles.items()]


def overlay(subject: Subject, metric: str, split: Split, places: Sequence[float]) -> Overlay:
    """The fits of `metric` along `places` (the points' x), for the groups that the figure shows."""
    fits = [
        fit
        for fit in subject.fits
        if fit.series.get("metric") == metric and split.group(fit.series) in split.groups
    ]
    names = sorted({fit.name for fit in fits if drawable(fit)}, key=lambda name: (name != PREFERRED, name))
    if not names or not places:
        return Overlay()
    shown = PREFERRED if PREFERRED in names else names[0]
    lines = [point for fit in fits if fit.name in names for point in _line(fit, split, places)]
    rules = [
        {**_of(fit, split), "x": rounded(each.value), "t": each.told()}
        for fit in fits
        for each in switches(fit)
        if min(places) <= each.value <= max(places)
    ]
    legend = tuple(Entry("fit", name, hidden=name != shown) for name in names)
    return Overlay(lines, rules, legend)


def drawable(fit: "Fit") -> bool:
    """Whether a fit is a curve over its x (LogGP, for one, may be parameters alone)."""
    return len(fit.x) > 1 and bool(np.isfinite(fit.predict(fit.x)).any())


def switches(fit: "Fit") -> list["Parameter"]:
    """The sizes at which a fit found that the protocol changes."""
    return [each for each in fit.parameters if each.name.startswith(SWITCH)]


def _of(fit: "Fit", split: Split) -> Spec:
    return {"s": split.group(fit.series), "v": split.variant(fit.series), "f": fit.name}


def _line(fit: "Fit", split: Split, places: Sequence[float]) -> list[Spec]:
    """A fit's curve at places that are dense on a logarithmic axis, where it is above 0.

    g counts its pieces: the line has a gap at a switch, which lies somewhere between two measured sizes.
    """
    low, high = min(places), max(places)
    dense = np.unique(
        np.concatenate([np.expm1(np.linspace(np.log1p(low), np.log1p(high), _EVALUATED)), list(places)])
    )
    worth = axis_unit(str(fit.series.get("unit", "s")))[0]
    heights = np.asarray(fit.predict(dense), dtype=float) / worth
    common = _of(fit, split)
    gaps = [(each.low or each.value, each.high or each.value) for each in switches(fit)]
    return [
        {
            **common,
            "g": sum(bool(x >= high) for _, high in gaps),
            "x": rounded(float(x)),
            "y": rounded(float(y)),
        }
        for x, y in zip(dense, heights, strict=True)
        if np.isfinite(y) and y > 0 and not any(low < x < high for low, high in gaps)
    ]
