"""How long does one message take as it grows, and where does the protocol change?"""

from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of, curve
from leadline.report.subject import Subject

BENCHMARK = "pingpong"


def applies(subject: Subject) -> bool:
    """The ping-pong's latency along its sizes."""
    return subject.benchmark == BENCHMARK and "bytes" in subject.sweeps and "latency" in subject.metrics


def describe(subject: Subject) -> list[Figure]:
    """Latency by size, with the fits over the points and a rule where each library switches its protocol."""
    return [
        curve(
            subject,
            "latency",
            name="latency-by-size",
            title="One-way latency by message size",
            caption=caption_of(
                subject,
                "Lines are fits; a dashed rule marks a protocol switch that the piecewise fit found.",
            ),
            fits=True,
        )
    ]
