"""What every figure begins with: the language, a size, and the parameter by which its legend hides things."""

from collections.abc import Sequence

from leadline.report.theme import Spec

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
HEIGHT = 340  # px


def canvas(title: str, height: int = HEIGHT, hidden: Sequence[str] = ()) -> Spec:
    """A description without data or marks, as wide as its place.

    Layers filter by the parameter `hidden`: the names in the legend that are switched off.
    """
    return {
        "$schema": SCHEMA,
        "description": title,
        "width": "container",
        "height": height,
        "params": [{"name": "hidden", "value": list(hidden)}],
    }
