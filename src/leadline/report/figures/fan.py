"""How fast can one rank receive from, and send to, several neighbours at once?"""

from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of, curve
from leadline.report.subject import Subject

BENCHMARK = "fan"


def applies(subject: Subject) -> bool:
    """The fan benchmark along its neighbours."""
    return subject.benchmark == BENCHMARK and "neighbours" in subject.sweeps


def describe(subject: Subject) -> list[Figure]:
    """Bandwidth by number of neighbours, a dash a direction; linear, since neighbours add."""
    return [
        curve(
            subject,
            metric,
            name=f"fan-{metric.replace('_', '-')}",
            title=f"{metric.replace('_', ' ').capitalize()} by number of neighbours",
            caption=caption_of(subject),
            x="neighbours",
            log=False,
        )
        for metric in subject.metrics
    ]
