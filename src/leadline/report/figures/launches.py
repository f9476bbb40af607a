"""Do launches differ, and does the machine change while it is measured: the headline latency launch by
launch?
"""

import polars as pl

from leadline.analysis.estimates import is_exact, launch_estimates
from leadline.core import units
from leadline.core.record import Row
from leadline.report.figures import Figure
from leadline.report.plots.axes import axis_unit, counts, quantity, titled
from leadline.report.plots.canvas import HEIGHT, canvas
from leadline.report.plots.points import HIDING, rounded
from leadline.report.plots.split import Split
from leadline.report.subject import HEADLINE, Subject, usual
from leadline.report.theme import Spec

BENCHMARK, METRIC = "pingpong", "latency"
_FEWEST = 2  # launches; one says nothing about how launches differ


def applies(subject: Subject) -> bool:
    """The ping-pong where it was launched more than once."""
    return subject.benchmark == BENCHMARK and any(
        (row["launches"] or 0) >= _FEWEST for row in headline(subject)
    )


def headline(subject: Subject) -> list[Row]:
    """The rows of the smallest message that the report leads with: 8 B, or the size nearest to it."""
    rows = [row for row in subject.of(METRIC) if row.get("bytes") is not None]
    rows = [row for row in rows if usual(row)] or rows
    size = min((row["bytes"] for row in rows), key=lambda size: abs(size - HEADLINE), default=None)
    return [row for row in rows if row["bytes"] == size]


def describe(subject: Subject) -> list[Figure]:
    """The median of each launch in the order of launches, and the median over launches with its interval."""
    rows = [row for row in headline(subject) if not row.get("exact")]
    split = Split.of(subject, rows, ("bytes",))
    size = units.format_bytes(rows[0]["bytes"])
    worth = axis_unit(rows[0]["unit"])[0]
    points = _medians(subject, split, rows, worth)
    bands = [_band(row, split, worth) for row in rows]
    title = f"Latency at {size}, launch by launch"
    y = quantity(titled(METRIC, rows[0]["unit"]), [point["y"] for point in points], log=False)
    y["scale"] = {"zero": False, "nice": True}
    spec = {
        **canvas(title, HEIGHT - 80),
        "datasets": {"points": points, "bands": bands},
        "encoding": {"color": split.colour()},
        "layer": _layers(split, y, [point["x"] for point in points]),
    }
    caption = (
        "A point is the median of one launch. The band is the 95 % interval of the median over launches; "
        "points that fall in two groups are a machine, or a library, with two states."
    )
    return [Figure("launches", title, spec, caption, (), split.legend())]


def _medians(subject: Subject, split: Split, rows: list[Row], worth: float) -> list[Spec]:
    """Each launch's median at the headline's points."""
    chosen = subject.records.filter((pl.col("metric") == METRIC) & (pl.col("bytes") == rows[0]["bytes"]))
    medians = launch_estimates(chosen).filter(~is_exact())
    return [
        {
            "s": split.group(row),
            "v": split.variant(row),
            "x": row["launch"],
            "y": rounded(row["median"] / worth),
            "q": units.format_quantity(row["median"], row["unit"]),
        }
        for row in medians.rows(named=True)
        if usual(row) or not any(usual(each) for each in rows)
    ]


def _band(row: Row, split: Split, worth: float) -> Spec:
    """The median over launches and its interval."""
    low, high = row.get("low"), row.get("high")
    return {
        "s": split.group(row),
        "v": split.variant(row),
        "y": rounded(row["value"] / worth),
        "lo": rounded(low / worth) if low is not None else None,
        "hi": rounded(high / worth) if high is not None else None,
    }


def _layers(split: Split, y: Spec, launches: list[int]) -> list[Spec]:
    """Bands, medians as lines across, and the launches."""
    shown = [
        {"field": "s", "type": "nominal", "title": "series"},
        {"field": "x", "type": "nominal", "title": "launch"},
        {"field": "q", "type": "nominal", "title": "median of the launch"},
    ]
    return [
        {
            "data": {"name": "bands"},
            "transform": [{"filter": f"{HIDING} && isValid(datum.lo)"}],
            "mark": {"type": "rect", "opacity": 0.14},
            "encoding": {"y": {**y, "field": "lo"}, "y2": {"field": "hi"}},
        },
        {
            "data": {"name": "bands"},
            "transform": [{"filter": HIDING}],
            "mark": {"type": "rule", "strokeWidth": 1.2},
            "encoding": {"y": y, "strokeDash": split.dashes()},
        },
        {
            "data": {"name": "points"},
            "transform": [{"filter": HIDING}],
            "mark": {"type": "point", "filled": True, "size": 34, "opacity": 0.9},
            "encoding": {
                "x": counts(launches, "launch", log=False),
                "y": y,
                "shape": split.shapes(),
                "tooltip": shown,
            },
        },
    ]
