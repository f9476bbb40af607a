"""How often, and for how long, is a rank kept from its work: the distribution of the noise benchmark's
samples?
"""

import numpy as np

from leadline.report.figures import Figure
from leadline.report.plots.axes import ABOVE, axis_unit, titled
from leadline.report.plots.canvas import canvas
from leadline.report.plots.dots import dots
from leadline.report.plots.points import HIDING, rounded
from leadline.report.plots.split import Split
from leadline.report.subject import Subject
from leadline.report.theme import Spec

BENCHMARK = "noise"
_TITLES = {
    "lost": "How much of its time a rank was kept from its work",
    "longest": "The longest interruption in each sample",
}
_AXIS: Spec = {
    "type": "quantitative",
    "scale": {"type": "log", "nice": False},
    "axis": {"format": ".6~r", "grid": False, "labelOverlap": "greedy", "tickCount": 8},
}
_SHARE: Spec = {
    "type": "quantitative",
    "scale": {"type": "log", "nice": False},
    "axis": {"format": "~%", **ABOVE, "tickCount": 5, "labelOverlap": "greedy"},
}
_KEPT = 160  # points of a distribution: one for every step that a figure of this size can show


def applies(subject: Subject) -> bool:
    """The noise benchmark."""
    return subject.benchmark == BENCHMARK


def describe(subject: Subject) -> list[Figure]:
    """For every metric: how large a share of the samples was beyond each value."""
    return [_distribution(subject, metric) for metric in subject.metrics]


def _distribution(subject: Subject, metric: str) -> Figure:
    """The share of samples above x, a step curve for each series, both axes logarithmic."""
    split = Split.of(subject, subject.of(metric))
    unit = subject.of(metric)[0]["unit"]
    worth = axis_unit(unit)[0]
    values = [
        {"s": group, "v": which, "x": rounded(x / worth), "y": rounded(y)}
        for (group, which), samples in _samples(subject, metric, split).items()
        for x, y in beyond(samples)
    ]
    title = _TITLES.get(metric, f"Distribution of {metric}")
    name = f"noise-{metric.replace('_', '-')}"
    if not values:  # nothing above zero was found: no distribution, but a value
        return dots(subject, [metric], name=name, title=title)
    spec = {
        **canvas(title),
        "datasets": {"points": values},
        "data": {"name": "points"},
        "transform": [{"filter": HIDING}],
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.6},
        "encoding": {
            "x": {"field": "x", "title": titled(metric, unit), **_AXIS},
            "y": {"field": "y", "title": "share of samples beyond", **_SHARE},
            "color": split.colour(),
            "strokeDash": split.dashes(),
        },
    }
    caption = "The share of samples (up) that lost more than that (across). Lower left is quieter."
    return Figure(name, title, spec, caption, (metric,), split.legend())


def _samples(subject: Subject, metric: str, split: Split) -> dict[tuple[str, str], list[float]]:
    """All samples of each group and variant, without warm-up."""
    gathered: dict[tuple[str, str], list[float]] = {}
    for row in subject.records.rows(named=True):
        if row["metric"] == metric and row["samples"]:
            samples = row["samples"][row["warmup"] or 0 :]
            gathered.setdefault((split.group(row), split.variant(row)), []).extend(samples)
    return gathered


def beyond(samples: list[float]) -> list[tuple[float, float]]:
    """The share of `samples` at or above each of their values, (value, share), thinned evenly in the
    logarithm of the share; values of 0 and less have no place on a logarithmic axis and only count in the
    shares.
    """
    ordered = np.sort(np.asarray(samples, dtype=float))
    count = len(ordered)
    if count == 0:
        return []
    # Rank from the top, 1 for the largest: dense where the tail is, which is what the figure is about.
    ranks = np.unique(np.geomspace(1, count, _KEPT).astype(int))
    places = [(float(ordered[count - rank]), float(rank / count)) for rank in ranks]
    return sorted((value, share) for value, share in places if value > 0)
