"""Do several pairs between the same two nodes move more than one does?"""

from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of, curve
from leadline.report.subject import Subject, varying

BENCHMARK = "multistream"


def applies(subject: Subject) -> bool:
    """The multi-stream benchmark along its pairs."""
    return subject.benchmark == BENCHMARK and "pairs" in subject.sweeps


def describe(subject: Subject) -> list[Figure]:
    """Aggregate by size, a dash a number of pairs; and by pairs at the largest size, where both vary."""
    return [figure for metric in subject.metrics for figure in _both(subject, metric)]


def _both(subject: Subject, metric: str) -> list[Figure]:
    """By size and by pairs, whichever vary; by size where nothing does."""
    words = metric.replace("_", " ")
    name = f"multistream-{metric.replace('_', '-')}"
    rows = subject.of(metric)
    varied = varying(rows, ["bytes", "pairs"])
    largest = max((row["bytes"] for row in rows if row.get("bytes") is not None), default=None)
    drawn = []
    if varied != ["pairs"] and "bytes" in subject.sweeps:
        title = f"Aggregate {words} by message size"
        drawn.append(curve(subject, metric, name=name, title=title, caption=caption_of(subject)))
    if "pairs" in varied:
        drawn.append(
            curve(
                subject,
                metric,
                name=f"{name}-by-pairs",
                title=f"Aggregate {words} by number of pairs",
                caption=caption_of(subject, "A straight line up: each pair adds its whole share."),
                x="pairs",
                log=False,
                keep=lambda row: row.get("bytes") == largest,
            )
        )
    return drawn
