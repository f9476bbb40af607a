"""Where do the fits miss: what is left of each point without the fit, as a share of it?"""

from typing import TYPE_CHECKING

from leadline.report.figures import Entry, Figure
from leadline.report.plots.axes import ABOVE, sizes
from leadline.report.plots.canvas import canvas
from leadline.report.plots.fitted import PREFERRED, drawable
from leadline.report.plots.points import HIDING, rounded
from leadline.report.plots.split import Split
from leadline.report.subject import Subject
from leadline.report.theme import Spec

if TYPE_CHECKING:
    from leadline.analysis.fits import Fit

BENCHMARK, METRIC = "pingpong", "latency"
_ZERO: Spec = {
    "data": {"values": [{}]},
    "mark": {"type": "rule", "strokeWidth": 1},
    "encoding": {"y": {"datum": 0}},
}
_SHARE: Spec = {
    "field": "y",
    "type": "quantitative",
    "title": "(measured − fit) / measured",
    "axis": {"format": "+.2~%", **ABOVE, "tickCount": 5},
}


def applies(subject: Subject) -> bool:
    """The ping-pong where something was fitted to it."""
    return subject.benchmark == BENCHMARK and any(_fits(subject))


def _fits(subject: Subject) -> list["Fit"]:
    """The fits of the latency that are curves."""
    return [fit for fit in subject.fits if fit.series.get("metric") == METRIC and drawable(fit)]


def describe(subject: Subject) -> list[Figure]:
    """Relative residuals by size, one fit at first, the others in the legend."""
    split = Split.of(subject, subject.of(METRIC), ("bytes",))
    fits = _fits(subject)
    values = [
        {
            "s": split.group(fit.series),
            "v": split.variant(fit.series),
            "f": fit.name,
            "x": float(x),
            "y": rounded(float(left / y)),
        }
        for fit in fits
        for x, y, left in zip(fit.x, fit.y, fit.residuals, strict=True)
        if y
    ]
    names = sorted({fit.name for fit in fits}, key=lambda name: (name != PREFERRED, name))
    title = "What the fits leave over"
    spec = {
        **canvas(title, 240, names[1:]),
        "datasets": {"points": values},
        "layer": [_ZERO, _points(split, [int(x) for fit in fits for x in fit.x])],
    }
    legend = (*split.legend(), *(Entry("fit", name, hidden=name != names[0]) for name in names))
    caption = "Around zero without a pattern: the model has the right shape there."
    return [Figure("residuals", title, spec, caption, (), legend)]


def _points(split: Split, places: list[int]) -> Spec:
    return {
        "data": {"name": "points"},
        "transform": [{"filter": f"{HIDING} && indexof(hidden, datum.f) < 0"}],
        "mark": {"type": "point", "filled": True, "size": 28, "opacity": 0.9},
        "encoding": {
            "x": sizes(places),
            "y": _SHARE,
            "color": split.colour(),
            "shape": split.shapes(),
            "tooltip": [
                {"field": "f", "type": "nominal", "title": "fit"},
                {"field": "s", "type": "nominal", "title": "series"},
                {"field": "v", "type": "nominal", "title": "variant"},
                {"field": "x", "type": "quantitative", "title": "bytes"},
                {"field": "y", "type": "quantitative", "title": "residual", "format": "+.1%"},
            ],
        },
    }
