"""How long does a master take to serve its workers, directly and through a tree?"""

from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of, curve
from leadline.report.subject import Subject

BENCHMARK = "hotspot"


def applies(subject: Subject) -> bool:
    """The hot-spot benchmark along its workers."""
    return subject.benchmark == BENCHMARK and "workers" in subject.sweeps


def describe(subject: Subject) -> list[Figure]:
    """Latency by number of workers, a dash a shape and size."""
    return [
        curve(
            subject,
            metric,
            name=f"hotspot-{metric.replace('_', '-')}",
            title=f"{metric.replace('_', ' ').capitalize()} of one master with many workers",
            caption=caption_of(subject, "Where the tree's curve falls below the flat one, the tree pays."),
            x="workers",
        )
        for metric in subject.metrics
    ]
