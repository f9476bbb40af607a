"""Points as figures carry them: one small dictionary each, with what a pointer held over it is told.

Fields: s group, v variant, x and y place, lo and hi interval of the median (axis units), q the quantity
with its interval, n the interval of the next launch, l launches, d what disturbed the point, m set where
noise made it meaningless (its interval, which could span decades, is then told and not drawn).
"""

import math
from collections.abc import Iterable

from leadline.core import units
from leadline.core.record import Row
from leadline.report.plots.axes import axis_unit
from leadline.report.plots.split import Split
from leadline.report.subject import coordinate
from leadline.report.theme import Spec

Datum = Spec
_DIGITS = 5  # more than a screen can show, fewer than a page should carry

HIDING = "indexof(hidden, datum.s) < 0 && indexof(hidden, datum.v) < 0"


def rounded(value: float | None) -> float | None:
    """A number with as many digits as a figure can show; null for what is not a number."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{_DIGITS}g}")


def datum(row: Row, split: Split, x: str | None) -> Datum:
    """A row of the summary as a point; `x` is the coordinate along the x axis, if any."""
    worth = axis_unit(row["unit"])[0]
    low, high = row.get("low"), row.get("high")
    point: Datum = {
        "s": split.group(row),
        "v": split.variant(row),
        "y": rounded(row["value"] / worth),
        "q": units.format_quantity(row["value"], row["unit"], low, high),
        "l": row.get("launches"),
    }
    if x is not None:
        point |= {"x": row[x], "p": coordinate(x, row[x])}
    if low is not None and high is not None and not row.get("meaningless"):
        point |= {"lo": rounded(low / worth), "hi": rounded(high / worth)}
    if row.get("next_low") is not None and row.get("next_high") is not None:
        quantity = units.format_quantity(row["value"], row["unit"], row["next_low"], row["next_high"])
        point["n"] = quantity[quantity.index("[") :]
    if row.get("disturbed"):
        point["d"] = row.get("disturbance") or "other work on the machine"
    if row.get("meaningless"):
        point["m"] = 1
    return point


def data(rows: Iterable[Row], split: Split, x: str | None, log: bool = False) -> list[Datum]:
    """Points in the order of their x; on a logarithmic axis without those that have no place on it.

    A bandwidth of 0 B messages is 0 by definition and says nothing; without it the axis can be logarithmic.
    """
    kept = [row for row in rows if row["value"] is not None and (x is None or row.get(x) is not None)]
    if log and any(row["value"] > 0 for row in kept):
        kept = [row for row in kept if row["value"] > 0]
    if x is not None:
        kept.sort(key=lambda row: row[x])
    points = [datum(row, split, x) for row in kept]
    for point in points:
        if log and (point.get("lo") or 0) <= 0:
            point.pop("lo", None)
    mark_alone(points)
    return points


def mark_alone(points: list[Datum]) -> None:
    """Set a where a point's interval has none beside it in its series, so that no band can show it."""
    lines: dict[tuple[str, str], list[Datum]] = {}
    for point in points:
        lines.setdefault((point["s"], point["v"]), []).append(point)
    for line in lines.values():
        there = [False, *("lo" in point for point in line), False]
        for place, point in enumerate(line, start=1):
            if there[place] and not there[place - 1] and not there[place + 1]:
                point["a"] = 1


def tooltip(points: list[Datum], metric: str, x: str | None) -> list[dict[str, str]]:
    """What a pointer held over a point is told: only the fields that some point has."""
    titles = {"s": "series", "v": "variant", "p": x or "", "q": metric.replace("_", " ")}
    titles |= {"n": "next launch", "l": "launches", "d": "noise"}
    return [
        {"field": name, "type": "nominal", "title": title}
        for name, title in titles.items()
        if any(point.get(name) not in (None, "") for point in points)
    ]
