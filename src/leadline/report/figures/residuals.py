"""Where do the fits miss: what is left of each point without the fit, as a share of it?"""

from leadline.report.figures import Entry, Figure
from leadline.report.figures._axes import sizes
from leadline.report.figures._canvas import canvas
from leadline.report.figures._fitted import PREFERRED, drawable
from leadline.report.figures._points import HIDING, rounded
from leadline.report.figures._split import Split
from leadline.report.subject import Subject

BENCHMARK, METRIC = "pingpong", "latency"


def applies(subject: Subject) -> bool:
    """The ping-pong where something was fitted to it."""
    return subject.benchmark == BENCHMARK and any(_fits(subject))


def _fits(subject: Subject) -> list:  # type: ignore[type-arg]
    return [fit for fit in subject.fits if fit.series.get("metric") == METRIC and drawable(fit)]


def describe(subject: Subject) -> list[Figure]:
    """Relative residuals by size, one fit at first, the others in the legend."""
    rows = subject.of(METRIC)
    split = Split.of(subject, rows, ("bytes",))
    fits = _fits(subject)
    values = [
        {
            "s": split.group(fit.series),
            "v": split.variant(fit.series),
            "f": fit.name,
            "x": float(x),
            "y": rounded(float(r / y)),
        }
        for fit in fits
        for x, y, r in zip(fit.x, fit.y, fit.residuals, strict=True)
        if y
    ]
    names = sorted({fit.name for fit in fits}, key=lambda name: (name != PREFERRED, name))
    title = "What the fits leave over"
    spec = {
        **canvas(title, 240, names[1:]),
        "datasets": {"points": values},
        "layer": [
            {
                "data": {"values": [{"zero": 0}]},
                "mark": {"type": "rule", "strokeWidth": 1},
                "encoding": {"y": {"datum": 0}},
            },
            {
                "data": {"name": "points"},
                "transform": [{"filter": f"{HIDING} && indexof(hidden, datum.f) < 0"}],
                "mark": {"type": "point", "filled": True, "size": 28, "opacity": 0.9},
                "encoding": {
                    "x": sizes([int(value["x"]) for value in values]),
                    "y": {
                        "field": "y",
                        "type": "quantitative",
                        "title": "(measured − fit) / measured",
                        "axis": {"format": "+.2~%", "titleX": -34, "titleY": -14, "tickCount": 5},
                    },
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
            },
        ],
    }
    legend = (*split.legend(), *(Entry("fit", name, hidden=name != names[0]) for name in names))
    caption = "Around zero without a pattern: the model has the right shape there."
    return [Figure("residuals", title, spec, caption, (), legend)]
