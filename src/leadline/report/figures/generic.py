"""What does a benchmark say that has no figure of its own: its first numeric sweep as x, the rest as
series.
"""

from leadline.core.record import Row
from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of, curve
from leadline.report.plots.dots import dots
from leadline.report.subject import SIZES, Subject, varying


def applies(subject: Subject) -> bool:
    """Any benchmark with numbers."""
    return bool(subject.rows)


def describe(subject: Subject) -> list[Figure]:
    """A figure for every metric: a curve where a number was swept, else a dot for every point."""
    return [_one(subject, metric) for metric in subject.metrics]


def _one(subject: Subject, metric: str) -> Figure:
    rows = subject.of(metric)
    name = f"{subject.benchmark}-{metric}".replace("_", "-")
    title = f"{subject.benchmark.capitalize()}: {metric.replace('_', ' ')}"
    x = along(subject, rows)
    if x is None:
        return dots(subject, [metric], name=name, title=title, caption=caption_of(subject))
    title += f" by {'message size' if x in SIZES else x.replace('_', ' ')}"
    return curve(subject, metric, name=name, title=title, caption=caption_of(subject), x=x)


def along(subject: Subject, rows: list[Row]) -> str | None:
    """The first sweep of numbers that takes more than one value: the x axis."""
    numeric = [name for name in subject.sweeps if all(not isinstance(row.get(name), str) for row in rows)]
    return next(iter(varying(rows, numeric)), None)
