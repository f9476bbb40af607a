"""What does a pair lose while the traffic of others passes through its node?"""

from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of, curve
from leadline.report.subject import Subject

BENCHMARK = "flowthrough"


def applies(subject: Subject) -> bool:
    """The flow-through benchmark, whose traffic is a number of pairs."""
    return subject.benchmark == BENCHMARK and "traffic" in subject.sweeps


def describe(subject: Subject) -> list[Figure]:
    """Every metric of the middle pair by the number of pairs that stream across, linear from 0."""
    return [
        curve(
            subject,
            metric,
            name=f"flowthrough-{metric.replace('_', '-')}",
            title="A pair's bandwidth while others stream across",
            caption=caption_of(subject, "Level: passing traffic costs the pair nothing."),
            x="traffic",
            x_title="pairs that stream across",
            log=False,
        )
        for metric in subject.metrics
    ]
