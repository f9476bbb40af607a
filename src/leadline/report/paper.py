"""How figures for papers look: their size, with or without fits, intervals as bands or as error bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.report.figures import Figure
from leadline.report.plots.error_bars import with_error_bars
from leadline.report.theme import Spec

MM = 72 / 25.4  # pt; a pixel of the drawing is a point of the paper
TEXT, TITLE = 8, 9  # pt: labels, and titles of axes and of the figure


@dataclass(frozen=True)
class Style:
    """What is asked of a figure; `width` and `height` of all of it, in mm."""

    width: float = 140.0
    height: float = 90.0
    error_bars: bool = False
    fits: bool = True
    formats: Sequence[str] = ("pdf",)

    def apply(self, figure: Figure) -> Figure:
        """The figure without what is not wanted."""
        spec = figure.spec
        if not self.fits:
            spec = _without_fits(spec)
        if self.error_bars:
            spec = with_error_bars(spec)
        return Figure(figure.name, figure.title, spec, figure.caption, figure.metrics, figure.legend)

    def sized(self, spec: Spec) -> Spec:
        """A description for paper in this size, with text of TEXT and TITLE points."""
        config = {**spec["config"], "padding": 3}
        sizes: dict[str, Spec] = {
            "axis": {
                "labelFontSize": TEXT,
                "titleFontSize": TITLE,
                "titlePadding": 4,
                "labelPadding": 8,
                "labelSeparation": 3,
            },
            "legend": {
                "labelFontSize": TEXT,
                "titleFontSize": TEXT,
                "direction": "horizontal",
                "offset": 4,
                "layout": {"bottom": {"direction": "vertical", "anchor": "start"}},
            },
            "point": {"size": 20},
        }
        for name, each in sizes.items():
            config[name] = {**config.get(name, {}), **each}
        drawn = {**spec, "config": config}
        if "layer" in spec or "mark" in spec:
            drawn.pop("title", None)  # a paper's figure has a caption
            drawn = _tight(drawn)
            drawn |= {
                "width": round(self.width * MM),
                "height": round(self.height * MM),
                "autosize": {"type": "fit", "contains": "padding"},
            }
        return drawn


def _data(layer: Spec) -> str:
    """The name of a layer's data."""
    return str(layer.get("data", {}).get("name", ""))


def _without_fits(spec: Spec) -> Spec:
    """A figure without its fits; the line through the points gets their width and their dashes."""
    layers = spec.get("layer", ())
    dashes = next((each["encoding"]["strokeDash"] for each in layers if _data(each) == "fits"), None)
    if dashes is None:
        return spec
    kept = [each for each in layers if _data(each) not in ("fits", "switches")]
    for place, layer in enumerate(kept):
        mark = layer["mark"]
        if mark.get("type") == "line" and _data(layer) == "points":
            encoding = {"y": layer["encoding"]["y"], "strokeDash": dashes}
            kept[place] = {
                **layer,
                "mark": {**mark, "strokeWidth": 1.6, "opacity": 0.9},
                "encoding": encoding,
            }
    return {**spec, "layer": kept}


def _tight(part: Any) -> Any:
    """A description whose scales leave less room at their ends: a small figure has none to spare."""
    if isinstance(part, list):
        return [_tight(each) for each in part]
    if not isinstance(part, dict):
        return part
    inner = {key: each if key == "datasets" else _tight(each) for key, each in part.items()}
    if isinstance(scale := inner.get("scale"), dict) and "padding" in scale:
        inner["scale"] = {**scale, "padding": 4}
    return inner
