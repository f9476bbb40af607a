"""How much do latency and bandwidth suffer as the ends move apart?"""

from leadline.report.figures import Figure
from leadline.report.plots.axes import counts
from leadline.report.plots.curve import caption_of, curve
from leadline.report.subject import Subject

BENCHMARK = "distance"
# The benchmark counts 0, 1, 2 within a node and 2 + hops between nodes.
_NAMES = (
    "datum.value == 0 ? 'core group' : datum.value == 1 ? 'package' : datum.value == 2 ? 'node' : "
    "datum.value == 3 ? '1 hop' : (datum.value - 2) + ' hops'"
)


def applies(subject: Subject) -> bool:
    """The distance benchmark."""
    return subject.benchmark == BENCHMARK and "distance" in subject.sweeps


def describe(subject: Subject) -> list[Figure]:
    """Every metric along the distance, a dash a size."""
    axis = counts([row["distance"] for row in subject.rows], "what both ends share, or hops between them")
    axis["axis"] = {**axis["axis"], "labelExpr": _NAMES}
    return [
        curve(
            subject,
            metric,
            name=f"distance-{metric.replace('_', '-')}",
            title=f"{metric.replace('_', ' ').capitalize()} by distance between the ends",
            caption=caption_of(subject),
            x="distance",
            axis=axis,
        )
        for metric in subject.metrics
    ]
