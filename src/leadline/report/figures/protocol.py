"""Where do packets end and protocols change: the time of a fixed amount of data sent in messages of each
size?
"""

from leadline.report.figures import Figure
from leadline.report.plots.axes import linear_sizes
from leadline.report.plots.curve import caption_of, curve
from leadline.report.subject import Subject

BENCHMARK = "protocol"
SMALL = 2000  # B; up to here the sweep is dense enough to show single packets


def applies(subject: Subject) -> bool:
    """The protocol benchmark along its sizes."""
    return subject.benchmark == BENCHMARK and "bytes" in subject.sweeps


def describe(subject: Subject) -> list[Figure]:
    """Each metric over small messages, and over all of them; a dash a protocol that was forced."""
    return [figure for metric in subject.metrics for figure in _both(subject, metric)]


def _both(subject: Subject, metric: str) -> list[Figure]:
    """The zig-zag of small messages on a linear axis, where there is one, and the whole range."""
    words = metric.replace("_", " ")
    said = "Steps that come back every so many bytes are packets; a jump that stays is a switch of protocol."
    small = [row for row in subject.of(metric) if row["bytes"] is not None and 0 < row["bytes"] <= SMALL]
    drawn = [
        curve(
            subject,
            metric,
            name=f"protocol-{metric.replace('_', '-')}",
            title=f"{words.capitalize()} of 1 MB by the size of the messages that carry it",
            caption=caption_of(subject, said),
            fits=True,
        )
    ]
    if len({row["bytes"] for row in small}) > 12:
        drawn.append(
            curve(
                subject,
                metric,
                name=f"protocol-{metric.replace('_', '-')}-small",
                title=f"{words.capitalize()} of 1 MB in messages up to {SMALL} B",
                caption=caption_of(subject, said),
                axis=linear_sizes(),
                keep=lambda row: 0 < row["bytes"] <= SMALL,
            )
        )
    return drawn
