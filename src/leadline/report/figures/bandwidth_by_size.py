"""How many bytes and messages a second go through as messages grow?"""

from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of, curve
from leadline.report.subject import Subject

TITLES = {
    ("bandwidth", "bandwidth"): "Bandwidth in one direction by message size",
    ("bandwidth", "message_rate"): "Message rate in one direction by message size",
    ("bibandwidth", "bandwidth"): "Bandwidth in both directions by message size",
    ("bibandwidth", "message_rate"): "Message rate in both directions by message size",
}


def applies(subject: Subject) -> bool:
    """The windowed bandwidth benchmarks."""
    return (
        any((subject.benchmark, metric) in TITLES for metric in subject.metrics) and "bytes" in subject.sweeps
    )


def describe(subject: Subject) -> list[Figure]:
    """Each metric by size."""
    return [
        curve(
            subject,
            metric,
            name=f"{subject.benchmark}-{metric.replace('_', '-')}-by-size",
            title=TITLES[subject.benchmark, metric],
            caption=caption_of(subject),
            fits=True,
        )
        for metric in subject.metrics
        if (subject.benchmark, metric) in TITLES
    ]
