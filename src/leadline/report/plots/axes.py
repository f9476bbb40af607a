"""Axes that figures share: sizes in powers of two, counts, and quantities in the unit that people use."""

from collections.abc import Iterable, Sequence

from leadline.report.theme import Spec

Channel = Spec

# The unit of an axis is fixed, so that figures can be laid beside one another.
AXIS_UNITS: dict[str, tuple[float, str]] = {
    "s": (1e-6, "µs"),
    "B/s": (1e9, "GB/s"),
    "1/s": (1e6, "million/s"),
    "1": (1.0, ""),
}

_BYTES = (
    "datum.value < 1024 ? datum.value + ' B' : datum.value < 1048576 ? datum.value / 1024 + ' KiB' : "
    "datum.value < 1073741824 ? datum.value / 1048576 + ' MiB' : datum.value / 1073741824 + ' GiB'"
)
# A logarithmic axis has room for names at every third power of two: 0, 1, 8, 64, 512 B, 4 KiB, ...
_EVERY = 3
# Grid lines between powers of ten are fainter than those at them.
_DECADES = {
    "condition": {"test": "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6", "value": 1},
    "value": 0.45,
}
ABOVE = {"titleX": -34, "titleY": -14}  # px; puts the title of a y axis above it, over its numbers
_WIDE = 16  # a count sweep that spans more than this factor goes on a logarithmic axis


def axis_unit(unit: str) -> tuple[float, str]:
    """What one displayed unit is worth in SI `unit`, and its name; an unknown unit stands as it is."""
    return AXIS_UNITS.get(unit, (1.0, unit))


def titled(quantity: str, unit: str) -> str:
    """An axis title: the quantity in words, and the unit that its numbers have."""
    name = axis_unit(unit)[1]
    words = quantity.replace("_", " ")
    return f"{words} ({name})" if name else words


def sizes(values: Iterable[int], title: str = "message size") -> Channel:
    """A logarithmic x axis of sizes in bytes; a size of 0 has its place before 1 B (symmetric logarithm)."""
    values = list(values)
    top = max(values, default=1)
    powers = [2**power for power in range(0, max(top, 1).bit_length(), _EVERY)]
    lowest = min((value for value in values if value > 0), default=1)
    ticks = [power for power in powers if power >= lowest / 2**_EVERY]
    scale: Spec = {"type": "log", "base": 2, "nice": False}
    if 0 in values:
        # The constant is where the axis turns from linear to logarithmic: below 1 B there is only 0.
        scale = {"type": "symlog", "constant": 1, "nice": False}
        ticks = [0, *powers]
    return _x(title, scale, {"values": ticks, "labelExpr": _BYTES})


def linear_sizes(title: str = "message size") -> Channel:
    """A linear x axis of sizes in bytes, for what repeats every so many of them."""
    return _x(
        title,
        {"type": "linear", "nice": False, "zero": False},
        {"labelExpr": "datum.value + ' B'", "tickCount": 8},
    )


def counts(values: Iterable[float], title: str, log: bool = True) -> Channel:
    """An x axis of counts: linear, or by powers of two where they span a wide range and `log` allows it."""
    ticks = sorted({float(value) for value in values})
    positive = [tick for tick in ticks if tick > 0]
    wide = log and len(positive) == len(ticks) > 0 and ticks[-1] / ticks[0] > _WIDE
    scale: Spec = {"type": "log", "base": 2, "nice": False} if wide else {"zero": False, "nice": False}
    shown = ticks if len(ticks) <= 2 * _WIDE else None
    return _x(
        title.replace("_", " "), scale, {"values": shown, "format": ",.6~r"} if shown else {"format": ",.6~r"}
    )


def _x(title: str, scale: Spec, axis: Spec) -> Channel:
    """A quantitative x channel with room for points at its ends."""
    return {
        "field": "x",
        "type": "quantitative",
        "title": title,
        "scale": {**scale, **({} if scale.get("type") in ("log", "symlog") else {"padding": 12})},
        "axis": {"labelOverlap": "greedy", "labelFlush": False, "grid": False, **axis},
    }


def quantity(title: str, values: Sequence[float], log: bool = True) -> Channel:
    """A y axis of a quantity: logarithmic where asked and possible (all above 0), else linear from 0.

    The title stands above the axis and reads as a line, so that a narrow figure keeps its width.
    """
    scale: Spec = {"zero": True}
    axis: Spec = {
        **ABOVE,
        "format": ",.6~r",
        "tickCount": 6,
        "labelOverlap": "greedy",
    }
    if log and values and min(values) > 0:
        scale = {"type": "log", "nice": False, "padding": 8}
        axis["gridOpacity"] = _DECADES
    return {"field": "y", "type": "quantitative", "title": title, "scale": scale, "axis": axis}
