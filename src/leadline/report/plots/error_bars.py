"""Error bars: where a band would be thinner than a line, and where a paper wants them instead of bands."""

import math

from leadline.report.plots.axes import Channel
from leadline.report.plots.canvas import HEIGHT
from leadline.report.plots.points import HIDING, Datum
from leadline.report.theme import Spec

THIN = 3.0  # px; a band of less cannot be told from the line within it
_CAP = 13  # px, wider than a point, so that the ends show beside it


def mark_thin(points: list[Datum], log: bool) -> None:
    """Set e where a point's interval would be a band thinner than THIN on the figure's y axis."""
    scale = math.log if log and all(point["y"] > 0 for point in points) else float
    heights = [scale(point["y"]) for point in points]
    span = max(heights, default=0.0) - min(heights, default=0.0)
    if scale is float:  # a linear axis begins at 0
        span = max(heights, default=0.0)
    for point in points:
        if point.get("lo") is None or "hi" not in point or span <= 0:
            continue
        if (scale(point["hi"]) - scale(point["lo"])) / span * HEIGHT < THIN:
            point["e"] = 1


def error_bars(y: Channel, which: str = "isValid(datum.e)") -> list[Spec]:
    """The layers of error bars of the points that `which` chooses: a rule, and a cap at either end."""
    source = {"data": {"name": "points"}, "transform": [{"filter": f"{HIDING} && {which}"}]}
    cap = {"type": "tick", "orient": "horizontal", "thickness": 1.2, "size": _CAP}
    return [
        {
            **source,
            "mark": {"type": "rule", "strokeWidth": 1.2},
            "encoding": {"y": {**y, "field": "lo"}, "y2": {"field": "hi"}},
        },
        *({**source, "mark": cap, "encoding": {"y": {**y, "field": end}}} for end in ("lo", "hi")),
    ]


def with_error_bars(spec: Spec) -> Spec:
    """A figure whose intervals are error bars throughout, in place of its bands."""
    bands = [layer for layer in spec.get("layer", ()) if _is_band(layer)]
    if not bands:
        return spec
    y = {**bands[0]["encoding"]["y"], "field": "y"}
    rest = [layer for layer in spec["layer"] if not _is_band(layer) and not _is_bar(layer)]
    return {**spec, "layer": [*rest, *error_bars(y, "isValid(datum.lo)")]}


def _is_band(layer: Spec) -> bool:
    """Whether a layer shows the points' intervals as bands."""
    interval = layer.get("encoding", {}).get("y", {}).get("field") == "lo" and "y2" in layer["encoding"]
    named = layer.get("data", {}).get("name") == "points"
    return bool(interval and named and "isValid(datum.e)" not in str(layer.get("transform")))


def _is_bar(layer: Spec) -> bool:
    """Whether a layer is of the error bars of thin bands."""
    return "isValid(datum.e)" in str(layer.get("transform"))
