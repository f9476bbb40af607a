"""Colours and type of the figures: once as CSS variables for the page, once as plain colours for paper.

Descriptions name colours by token, `var(--s0)` ... `var(--ink)`. In the page the browser's style sheet
resolves them, so that light, dark and print follow without drawing anything again; `on_paper` replaces them
before a description goes to SVG, PNG or PDF.
"""

import json
from collections.abc import Mapping
from typing import Any

Spec = dict[str, Any]

# Ten hues that stay apart for the common colour deficiencies and keep 3:1 contrast with their background
# (WCAG 1.4.11); series differ by shape as well, so that none depends on colour.
LIGHT: dict[str, str] = {
    "paper": "#ffffff",
    "ink": "#1d2733",
    "muted": "#5b6875",
    "grid": "#e6eaee",
    "line": "#c3cbd3",
    "s0": "#1769aa",
    "s1": "#c8443c",
    "s2": "#1f8a63",
    "s3": "#a8690a",
    "s4": "#7653b3",
    "s5": "#0d8596",
    "s6": "#b8478a",
    "s7": "#667a17",
    "s8": "#8a5636",
    "s9": "#56616d",
}
DARK: dict[str, str] = {
    "paper": "#161b21",
    "ink": "#e4e9ee",
    "muted": "#9aa7b4",
    "grid": "#262e37",
    "line": "#414c58",
    "s0": "#6cb4f0",
    "s1": "#f28b82",
    "s2": "#5cc9a0",
    "s3": "#e6b450",
    "s4": "#b79df0",
    "s5": "#62c8d8",
    "s6": "#ee94c4",
    "s7": "#b6cb5c",
    "s8": "#d3a283",
    "s9": "#aab5c0",
}
HUES = sum(name[1:].isdigit() for name in LIGHT)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 4), (2, 3), (9, 3, 2, 3), (12, 4), (4, 2, 1, 2))

_NAMED = ("color", "shape", "strokeDash")  # channels that tell names

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
# Light to dark in lightness alone, so that a heat map reads the same in grey and in both schemes.
HEAT = ["#e9f2f7", "#b5d4e6", "#72aed0", "#3a82b5", "#1a5a91", "#0c3563"]

PAPER_WIDTH = 560  # px; two columns of a paper


def token(name: str) -> str:
    """The colour called `name` as descriptions write it."""
    return f"var(--{name})"


def hue(index: int) -> str:
    """The colour token of the series with that ordinal; the hues repeat after the last."""
    return token(f"s{index % HUES}")


_AXIS: Spec = {
    "labelColor": token("muted"),
    "titleColor": token("ink"),
    "titleFontWeight": "normal",
    "titleFontSize": 12,
    "labelFontSize": 11,
    "titlePadding": 10,
    "labelPadding": 6,
    "gridColor": token("grid"),
    "domainColor": token("line"),
    "tickColor": token("line"),
    "tickSize": 4,
}
# The title of a y axis stands above it and reads as a line, so that a narrow figure keeps its width.
_AXIS_Y: Spec = {
    "domain": False,
    "ticks": False,
    "titleAngle": 0,
    "titleAlign": "left",
    "titleAnchor": "start",
}
_LEGEND: Spec = {
    "labelColor": token("ink"),
    "titleColor": token("muted"),
    "titleFontWeight": "normal",
    "labelFontSize": 11,
    "symbolSize": 60,
    "symbolOpacity": 1,
    "orient": "bottom",
    "direction": "vertical",
    "labelLimit": 400,
}
_TITLE: Spec = {"color": token("ink"), "anchor": "start", "fontSize": 14, "fontWeight": 600, "offset": 14}


def config() -> Spec:
    """What all figures share, in the page and on paper."""
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "axis": _AXIS,
        "axisY": _AXIS_Y,
        "legend": _LEGEND,
        "title": _TITLE,
        "text": {"color": token("ink"), "font": FONT},
        "rule": {"color": token("muted")},
        "aria": False,
    }


def in_page(spec: Any) -> Any:
    """A description for the page, whose buttons are its legends of names; a heat map keeps its own."""
    if isinstance(spec, list):
        return [in_page(each) for each in spec]
    if not isinstance(spec, dict):
        return spec
    inner = {key: in_page(value) for key, value in spec.items() if key != "datasets"}
    if "datasets" in spec:
        inner["datasets"] = spec["datasets"]
    for channel in _NAMED:
        if isinstance(inner.get(channel), dict) and inner[channel].get("type") == "nominal":
            inner[channel] = {**inner[channel], "legend": None}
    return inner


def on_paper(spec: Spec, title: str) -> Spec:
    """A description that stands alone: light colours, a fixed width, its title in it."""
    page: Spec = {**spec, "title": title, "config": {**config(), "background": LIGHT["paper"], "padding": 12}}
    if page.get("width") == "container":
        page["width"] = PAPER_WIDTH
    text = json.dumps(page)
    for name, colour in LIGHT.items():
        text = text.replace(token(name), colour)
    resolved: Spec = json.loads(text)
    return resolved


def css(colours: Mapping[str, str]) -> str:
    """The colours as declarations of CSS variables."""
    return " ".join(f"--{name}: {value};" for name, value in colours.items())
