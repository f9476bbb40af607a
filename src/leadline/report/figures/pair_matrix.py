"""Which cores of a node, or which ranks, are close: each pair's latency and bandwidth, as a matrix?"""

from leadline.core.record import Row
from leadline.core.units import format_bytes
from leadline.report import theme
from leadline.report.figures import Entry, Figure
from leadline.report.plots.axes import titled
from leadline.report.plots.canvas import canvas
from leadline.report.plots.curve import caption_of
from leadline.report.plots.dots import dots
from leadline.report.plots.points import datum, tooltip
from leadline.report.plots.split import Split
from leadline.report.subject import Subject
from leadline.report.theme import Spec

PLACES = {"corepairs": "core", "rankpairs": "rank"}  # what a pair of each benchmark is of
_LABELLED = 12  # cores; up to so many each cell has room for its number
_HEIGHT = (120, 30, 620)  # px: least, for each core, most
_LEGEND = {
    "orient": "bottom",
    "direction": "horizontal",
    "gradientLength": 160,
    "format": ",.3~r",
    "tickCount": 3,
}
_CHOSEN = "datum.c == chosen"


def applies(subject: Subject) -> bool:
    """A benchmark of pairs, which are written "0-1"."""
    return subject.benchmark in PLACES and "pair" in subject.sweeps


def describe(subject: Subject) -> list[Figure]:
    """A matrix for every metric; one series and size at a time, chosen in the legend. Two places need none.

    What a rank does with itself is in a figure of its own, since it is no message between two.
    """
    figures = []
    for metric in subject.metrics:
        rows = [row for row in subject.of(metric) if _is_pair(row)]
        if rows:
            alone = len({row["pair"] for row in rows}) == 1
            figures.append(_row(subject, metric) if alone else _matrix(subject, metric, rows))
        if any(_is_own(row) for row in subject.of(metric)):
            figures.append(_own(subject, metric))
    return figures


def ends(row: Row) -> tuple[int, int]:
    """The two places of a pair: "3-11" is (3, 11)."""
    first, second = row["pair"].split("-", 1)
    return int(first), int(second)


def _is_pair(row: Row) -> bool:
    """Whether a row is of one pair of two places, rather than of several pairs at once."""
    return "+" not in row["pair"] and not _is_own(row)


def _is_own(row: Row) -> bool:
    return "+" not in row["pair"] and len(set(ends(row))) == 1


def _row(subject: Subject, metric: str) -> Figure:
    """The only pair that there is, its sizes in rows."""
    name, words = f"{subject.benchmark}-{metric.replace('_', '-')}", metric.replace("_", " ")
    title = f"{words.capitalize()} between the two {PLACES[subject.benchmark]}s"
    return dots(subject, [metric], name=name, title=title, caption=caption_of(subject), keep=_is_pair)


def _own(subject: Subject, metric: str) -> Figure:
    """Each rank with itself, a row each."""
    name, place = f"{subject.benchmark}-own-{metric.replace('_', '-')}", PLACES[subject.benchmark]
    title = f"{metric.replace('_', ' ').capitalize()} of each {place} with itself"

    def label(row: Row) -> str:
        return f"{place} {ends(row)[0]}, {format_bytes(row['bytes'])}"

    caption = caption_of(subject)
    return dots(subject, [metric], name=name, title=title, caption=caption, label=label, keep=_is_own)


def _matrix(subject: Subject, metric: str, rows: list[Row]) -> Figure:
    """The matrix of one metric, with the choices of series and size that it can show."""
    split = Split.of(subject, rows, ("pair",))
    cells: list[Spec] = []
    for row in rows:
        first, second = ends(row)
        point = {**datum(row, split, "pair"), "c": _choice(split, row)}
        cells += [{**point, "a": first, "b": second}, {**point, "a": second, "b": first}]
    choices = list(dict.fromkeys(cell["c"] for cell in cells))
    words = metric.replace("_", " ")
    place = PLACES[subject.benchmark]
    title = f"{words.capitalize()} between every two {place}s"
    cores = len({cell["a"] for cell in cells} | {cell["b"] for cell in cells})
    least, each, most = _HEIGHT
    spec = {
        **canvas(title, max(least, min(each * cores, most))),
        "params": [{"name": "chosen", "value": choices[0] if choices else ""}],
        "data": {"values": cells},
        "transform": [{"filter": _CHOSEN}],
        "encoding": {"x": _places("a", place), "y": _places("b", place)},
        "layer": _layers(cells, metric, rows[0]["unit"], cores),
    }
    legend = tuple(Entry("choice", choice, hidden=choice != choices[0]) for choice in choices)
    caption = f"Row and column are the {place}s; the darker, the higher."
    return Figure(f"{subject.benchmark}-{metric.replace('_', '-')}", title, spec, caption, (metric,), legend)


def _choice(split: Split, row: Row) -> str:
    """The name of the matrix that a row belongs to."""
    return " · ".join(word for word in (split.group(row), split.variant(row)) if word)


def _places(field: str, place: str) -> Spec:
    axis = {"labelAngle": 0, "labelOverlap": "greedy", "ticks": False, "domain": False}
    scale = {"paddingInner": 0.04}
    return {"field": field, "type": "ordinal", "title": place, "axis": axis, "scale": scale}


def _layers(cells: list[Spec], metric: str, unit: str, cores: int) -> list[Spec]:
    """Coloured cells, and their numbers where there is room."""
    colour = {
        "field": "y",
        "type": "quantitative",
        "scale": {"range": theme.HEAT, "interpolate": "lab", "zero": False},
        "legend": {"title": titled(metric, unit), **_LEGEND},
    }
    told = [{"field": "p", "type": "nominal", "title": "pair"}, *tooltip(cells, metric, None)]
    rectangles = {
        "mark": {"type": "rect", "cornerRadius": 2},
        "encoding": {"color": colour, "tooltip": told},
    }
    return [rectangles, _numbers()] if cores <= _LABELLED else [rectangles]


def _numbers() -> Spec:
    """The cells' numbers, light on dark cells; which are dark is reckoned as the colour scale does."""
    ends = [{"op": "min", "field": "y", "as": "low"}, {"op": "max", "field": "y", "as": "high"}]
    place = "datum.high > datum.low ? (datum.y - datum.low) / (datum.high - datum.low) : 0"
    colour = {"condition": {"test": "datum.place > 0.45", "value": "#ffffff"}, "value": "#0c2438"}
    return {
        "transform": [{"joinaggregate": ends}, {"calculate": place, "as": "place"}],
        "mark": {"type": "text", "fontSize": 10},
        "encoding": {
            "text": {"field": "y", "type": "quantitative", "format": ".3~g"},
            "color": colour,
        },
    }
