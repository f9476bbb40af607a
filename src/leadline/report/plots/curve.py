"""A quantity along a sweep: points, their intervals as bands, fits as lines over them, switches as rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leadline.core.formatting import CLOSE_TO_95
from leadline.core.record import Row
from leadline.report import theme
from leadline.report.figures import Figure
from leadline.report.plots.axes import Channel, counts, quantity, sizes, titled
from leadline.report.plots.canvas import canvas
from leadline.report.plots.dots import dots
from leadline.report.plots.error_bars import error_bars, mark_thin
from leadline.report.plots.fitted import Overlay, overlay
from leadline.report.plots.points import HIDING, Datum, data, tooltip
from leadline.report.plots.split import Split
from leadline.report.subject import SIZES, Subject
from leadline.report.theme import Spec

Layer = Spec


def curve(
    subject: Subject,
    metric: str,
    *,
    name: str,
    title: str,
    caption: str = "",
    x: str = "bytes",
    x_title: str | None = None,
    axis: Channel | None = None,
    by: str | None = None,
    log: bool = True,
    fits: bool = False,
    keep: Callable[[Row], bool] = lambda row: True,
) -> Figure:
    """A figure of `metric` along the sweep `x`, a colour a group and a dash a variant.

    `axis` is the x channel where the usual one (titled `x_title`) does not do; `by` makes a coordinate the
    groups; `log` asks for a logarithmic y axis; `fits` overlays the models; `keep` chooses rows.
    """
    rows = [row for row in subject.of(metric) if row.get(x) is not None and keep(row)]
    if len({row[x] for row in rows}) == 1:
        return dots(subject, [metric], name=name, title=title, caption=caption, keep=keep)
    split = Split.of(subject, rows, (x,), by)
    points = data(rows, split, x, log)
    mark_thin(points, log)
    bands = data([row for row in subject.expected if row["metric"] == metric and keep(row)], split, x, log)
    drawn = overlay(subject, metric, split, [point["x"] for point in points]) if fits else Overlay()
    spec = {
        **canvas(title, hidden=[entry.name for entry in drawn.legend if entry.hidden]),
        "datasets": {"points": points, **({"bands": bands} if bands else {}), **drawn.datasets()},
        "encoding": {
            "x": axis or _axis(x, x_title, [row[x] for row in rows]),
            "color": split.colour(),
        },
        "layer": [
            *_bands(bands, _heights(points, metric, rows, log)),
            *_lines(points, split, _heights(points, metric, rows, log), drawn),
            *point_layers(points, split, metric, x, _heights(points, metric, rows, log)),
        ],
    }
    legend = (*split.legend(), *drawn.legend)
    return Figure(name, title, spec, caption, (metric,), legend)


@dataclass(frozen=True)
class Along:
    """Figures that a file of `figures/` declares: a curve along the sweep `x` for each metric of a benchmark.

    `title` may hold {metric} and {Metric}, the metric in words, `name` {metric} with hyphens. `metrics` are
    those that are drawn, by default all; `reading` is how to read the figure; `axis` makes the x channel from
    the rows; `fewest` is how many values of `x` there must be. The rest is as for `curve`.
    """

    benchmark: str
    x: str
    title: str
    reading: str = ""
    name: str = ""
    metrics: tuple[str, ...] = ()
    x_title: str | None = None
    axis: Callable[[list[Row]], Channel] | None = None
    log: bool = True
    fits: bool = False
    fewest: int = 1
    keep: Callable[[Row], bool] = lambda row: True

    def describe(self, subject: Subject, metric: str) -> list[Figure]:
        """The figure of a metric; none where this is of something else."""
        if subject.benchmark != self.benchmark or (self.metrics and metric not in self.metrics):
            return []
        rows = [row for row in subject.of(metric) if row.get(self.x) is not None and self.keep(row)]
        if len({row[self.x] for row in rows}) < self.fewest:
            return []
        words = metric.replace("_", " ")
        name = self.name or f"{self.benchmark}-{{metric}}"
        figure = curve(
            subject,
            metric,
            name=name.format(metric=metric.replace("_", "-")),
            title=self.title.format(metric=words, Metric=words.capitalize()),
            caption=caption_of(subject, *filter(None, [self.reading])),
            x=self.x,
            x_title=self.x_title,
            axis=self.axis(rows) if self.axis else None,
            log=self.log,
            fits=self.fits,
            keep=self.keep,
        )
        return [figure]


def _axis(x: str, title: str | None, values: Sequence[float]) -> Channel:
    """The usual x axis of a sweep."""
    if x in SIZES:
        return sizes([int(value) for value in values], title or "message size")
    return counts(values, title or x)


def _heights(points: list[Datum], metric: str, rows: list[Row], log: bool) -> Channel:
    unit = rows[0]["unit"] if rows else "1"
    return quantity(titled(metric, unit), [point["y"] for point in points], log)


def _lines(points: list[Datum], split: Split, y: Channel, drawn: Overlay) -> list[Layer]:
    """What lies below the points: intervals, lines from point to point, fits and switches."""
    dashed = {"strokeDash": split.dashes()}
    faint = 0.45 if drawn.lines else 0.9
    joining = {"detail": {"field": "v", "type": "nominal"}} if drawn.lines else dashed
    return [
        *_intervals(points, y),
        {
            "data": {"name": "points"},
            "transform": [{"filter": HIDING}],
            "mark": {"type": "line", "strokeWidth": 1 if drawn.lines else 1.6, "opacity": faint},
            "encoding": {"y": y, **joining},
        },
        *drawn.layers(y, dashed),
    ]


def _bands(points: list[Datum], y: Channel) -> list[Layer]:
    """What the model says: between the ends of its parameters' intervals, its typical value as dots."""
    if not points:
        return []
    ends = {"y": {**y, "field": "lo"}, "y2": {"field": "hi"}, "detail": {"field": "v", "type": "nominal"}}
    told = [{"field": "v", "type": "nominal", "title": "predicted, variant"}]
    told.append({"field": "q", "type": "nominal", "title": "predicted"})
    source = {"data": {"name": "bands"}, "transform": [{"filter": HIDING}]}
    detail = {"detail": {"field": "v", "type": "nominal"}}
    return [
        {**source, "mark": {"type": "area", "opacity": 0.12}, "encoding": ends},
        {
            **source,
            "mark": {"type": "line", "strokeWidth": 5, "opacity": 0.25, "strokeCap": "round"},
            "encoding": {"y": y, **detail},
        },
        {
            **source,
            "mark": {"type": "tick", "orient": "horizontal", "thickness": 3, "size": 22, "opacity": 0.7},
            "encoding": {"y": y, **detail, "tooltip": told},
        },
    ]


def _intervals(points: list[Datum], y: Channel) -> list[Layer]:
    """Intervals as bands along a series, and as a bar where one stands alone; no layer without data.

    A point without an interval stays in a band's data: the band breaks there rather than reach across.
    """
    encoding = {"y": {**y, "field": "lo"}, "y2": {"field": "hi"}, "detail": {"field": "v", "type": "nominal"}}
    marks = {
        "!isValid(datum.a)": {"type": "area", "opacity": 0.18},
        "isValid(datum.a)": {"type": "rule", "strokeWidth": 5, "opacity": 0.3, "strokeCap": "round"},
    }
    there = {f"{'' if 'a' in point else '!'}isValid(datum.a)" for point in points if "lo" in point}
    bands = [
        {
            "data": {"name": "points"},
            "transform": [{"filter": f"{HIDING} && {which}"}],
            "mark": mark,
            "encoding": encoding,
        }
        for which, mark in marks.items()
        if which in there
    ]
    return [*bands, *(error_bars(y) if any("e" in point for point in points) else ())]


def point_layers(points: list[Datum], split: Split, metric: str, x: str | None, y: Channel) -> list[Layer]:
    """The points: filled, and hollow where the noise made the interval meaningless."""
    encoding = {"y": y, "shape": split.shapes(), "tooltip": tooltip(points, metric, x)}
    layers: list[Layer] = [
        {
            "data": {"name": "points"},
            "transform": [{"filter": f"{HIDING} && !isValid(datum.m)"}],
            "mark": {"type": "point", "filled": True, "size": 34, "opacity": 1},
            "encoding": encoding,
        }
    ]
    if any("m" in point for point in points):
        hollow = {"type": "point", "filled": False, "fill": theme.token("paper"), "size": 40, "opacity": 1}
        layers.append(
            {
                "data": {"name": "points"},
                "transform": [{"filter": f"{HIDING} && isValid(datum.m)"}],
                "mark": hollow,
                "encoding": encoding,
            }
        )
    return layers


def caption_of(subject: Subject, *sentences: str) -> str:
    """A caption: how to read the figure, and what its intervals and hollow points are where it has any."""
    said = list(sentences)
    reached = [row["confidence"] for row in subject.rows if row.get("confidence") is not None]
    if reached and min(reached) >= CLOSE_TO_95:
        said.append("Shaded, or as bars where too thin: 95 % intervals of the median over launches.")
    elif reached:
        least = f"{100 * min(reached):.0f} %"
        said.append(f"Shaded, or as bars: intervals of the median over launches, some at {least}.")
    if any(row.get("meaningless") for row in subject.rows):
        said.append("Hollow points are too noisy to use; their intervals are not drawn.")
    return " ".join(said)
