"""Quantities side by side: a row a point of the benchmark, a dot a series, its interval as a bar through
it.
"""

from collections.abc import Callable, Sequence

from leadline.core.record import Row
from leadline.report.figures import Figure
from leadline.report.plots.axes import quantity, titled
from leadline.report.plots.canvas import canvas
from leadline.report.plots.points import HIDING, Datum, datum, tooltip
from leadline.report.plots.split import Split
from leadline.report.subject import Subject
from leadline.report.theme import Spec

_ROW = 46  # px for a row, so that the dots of several series stand apart in it


def dots(
    subject: Subject,
    metrics: Sequence[str],
    *,
    name: str,
    title: str,
    caption: str = "",
    label: Callable[[Row], str] | None = None,
    filled: Callable[[Row], bool] = lambda row: True,
    keep: Callable[[Row], bool] = lambda row: True,
    quantity_name: str | None = None,
) -> Figure:
    """A figure with a row for each value of `label` (by default the variant), series as coloured dots.

    `filled` says which dots are filled; hollow ones are explained by the caption. The axis starts at 0 unless
    the dots span more than a factor of ten, then it is logarithmic.
    """
    rows = [row for row in subject.of(*metrics) if row["value"] is not None and keep(row)]
    split = Split.of(subject, rows)
    named = label or split.variant
    points: list[Datum] = [
        {**datum(row, split, None), "r": named(row) or metrics[0].replace("_", " "), "h": not filled(row)}
        for row in rows
    ]
    order = list(dict.fromkeys(point["r"] for point in points))
    unit = rows[0]["unit"]
    values = [point["y"] for point in points]
    axis = titled(quantity_name or metrics[0], unit)
    spec = {
        **canvas(title, _ROW * len(order)),
        "datasets": {"points": points},
        "encoding": _rows(split, order),
        "layer": _layers(points, metrics[0], _along(axis, values), split.shapes()),
    }
    legend = tuple(entry for entry in split.legend() if entry.kind == "series")
    return Figure(name, title, spec, caption, tuple(metrics), legend)


def _along(title: str, values: list[float]) -> Spec:
    """The x channel of the quantity."""
    wide = bool(values) and min(values) > 0 and max(values) > 10 * min(values)
    axis = {"grid": True, "format": ",.6~r", "tickCount": 6, "labelOverlap": "greedy"}
    return {**quantity(title, values, log=wide), "axis": axis}


def _rows(split: Split, order: list[str]) -> Spec:
    """The shared channels: rows along y, the series beside one another within a row."""
    axis = {"labelLimit": 220, "grid": False, "domain": False, "ticks": False}
    return {
        "y": {"field": "r", "type": "nominal", "sort": order, "title": None, "axis": axis},
        "yOffset": {"field": "s", "type": "nominal", "sort": list(split.groups)},
        "color": split.colour(),
    }


def _layers(points: list[Datum], metric: str, x: Spec, shapes: Spec) -> list[Spec]:
    """Intervals as bars, then filled and hollow dots."""
    told = tooltip(points, metric, None)
    layers: list[Spec] = [
        {
            "data": {"name": "points"},
            "transform": [{"filter": f"{HIDING} && isValid(datum.lo)"}],
            "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.3, "strokeCap": "round"},
            "encoding": {"x": {**x, "field": "lo"}, "x2": {"field": "hi"}},
        },
    ]
    for hollow in sorted({bool(point["h"]) or "m" in point for point in points}):
        test = "(datum.h || isValid(datum.m))" if hollow else "!(datum.h || isValid(datum.m))"
        layers.append(
            {
                "data": {"name": "points"},
                "transform": [{"filter": f"{HIDING} && {test}"}],
                "mark": {"type": "point", "filled": not hollow, "size": 60, "opacity": 1},
                "encoding": {"x": x, "shape": shapes, "tooltip": told},
            }
        )
    return layers
