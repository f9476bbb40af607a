"""How does an application scale: what was measured over what its model and described machines predict?

An application is judged by the metric that tells its whole: `rate` where it has one, else `time`.
"""

from collections import defaultdict
from dataclasses import replace

from leadline.core import paths
from leadline.core.record import SIMULATED, Row
from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of, curve
from leadline.report.subject import Subject, sweeps

WHOLE = ("rate", "time")
READING = {
    ("rate", "weak"): "A straight line up is perfect: every rank brings its own share of the work.",
    (
        "rate",
        "strong",
    ): "A straight line up is perfect, until what ranks exchange outweighs what they compute.",
    ("time", "weak"): "Level is perfect: every rank brings its own share of the work.",
}
OTHERWISE = {
    "rate": "Up is better.",
    "time": "Down is what more ranks are good for where they share the work; up is what they cost.",
}
PREDICTED = (
    "Wide pale lines with a tick at each point: what the run's own latency, bandwidth and memory predict, "
    "in a band that their intervals give."
)
DESCRIBED = "Simulated series: what described machines predict, a band where they have noise."


def applies(subject: Subject) -> bool:
    """An application with a point on several numbers of ranks."""
    metric = _whole(subject)
    return subject.benchmark in paths.applications() and bool(metric and _scaled(subject.of(metric)))


def describe(subject: Subject) -> list[Figure]:
    """Time or rate over ranks, weak and strong scaling apart."""
    metric = _whole(subject)
    assert metric
    scaled = _scaled(subject.of(metric))
    drawn = []
    for kind in sorted({row.get("scaling") for row in scaled}, key=str):
        rows = [row for row in scaled if row.get("scaling") == kind]
        points = {_point(row) for row in rows}

        def keep(row: Row, points: set[tuple[object, ...]] = points) -> bool:
            return _point(row) in points

        sentences = [READING.get((metric, str(kind)), OTHERWISE[metric])]
        sentences += [PREDICTED] if any(keep(row) for row in subject.expected) else []
        sentences += [DESCRIBED] if any(row.get("source") == SIMULATED for row in rows) else []
        words = f"{kind} scaling" if kind else "scaling"
        figure = curve(
            subject,
            metric,
            name=f"{subject.benchmark}-{words.replace(' ', '-')}",
            title=f"{subject.benchmark}: {words}, {metric} by number of ranks",
            caption=caption_of(subject, *sentences),
            x="ranks",
            keep=keep,
        )
        # Points on one number of ranks are left to the figure that draws whatever is left.
        drawn.append(figure if len(scaled) == len(subject.of(metric)) else replace(figure, metrics=()))
    return drawn


def _whole(subject: Subject) -> str | None:
    """The metric that tells the whole of the application."""
    return next((metric for metric in WHOLE if metric in subject.metrics), None)


def _scaled(rows: list[Row]) -> list[Row]:
    """The rows of points that some series has on several numbers of ranks."""
    ranks = defaultdict(set)
    for row in rows:
        ranks[_point(row)].add(row["ranks"])
    return [row for row in rows if len(ranks[_point(row)]) > 1]


def _point(row: Row) -> tuple[object, ...]:
    """What an application is asked beside the number of ranks."""
    return tuple(sorted((name, row[name]) for name in sweeps([row]) if name != "grid"))
