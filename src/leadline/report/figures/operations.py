"""What does each way of moving a message cost: one-sided and two-sided operations side by side?"""

from leadline.core import units
from leadline.core.record import Row
from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of, curve
from leadline.report.plots.dots import dots
from leadline.report.subject import HEADLINE, Subject, coordinate, sweeps, varying

BENCHMARKS = ("roundtrip", "flood")


def applies(subject: Subject) -> bool:
    """The benchmarks that sweep an operation."""
    return subject.benchmark in BENCHMARKS and "operation" in subject.sweeps


def describe(subject: Subject) -> list[Figure]:
    """For each metric: the operations at one small size, a row each, and their curves by size."""
    return [figure for metric in subject.metrics for figure in _both(subject, metric)]


def _both(subject: Subject, metric: str) -> list[Figure]:
    """Side by side, and by size where more than one was measured."""
    words = metric.replace("_", " ")
    rows = subject.of(metric)
    size = common_size(rows)
    drawn = [_beside(subject, metric, size)]
    if "bytes" in varying(rows, ["bytes"]):
        drawn.append(
            curve(
                subject,
                metric,
                name=f"{subject.benchmark}-{metric.replace('_', '-')}-by-size",
                title=f"{subject.benchmark.capitalize()} {words} by message size",
                caption=caption_of(subject, "A colour an operation, a dash a series."),
                by="operation",
            )
        )
    return drawn


def _beside(subject: Subject, metric: str, size: int | None) -> Figure:
    """A row an operation (and a variant, if there are any), a dot a series."""
    words = metric.replace("_", " ")
    rows = subject.of(metric)
    others = [name for name in varying(rows, sweeps(rows)) if name not in ("operation", "bytes")]

    def label(row: Row) -> str:
        return ", ".join([str(row["operation"]), *(coordinate(name, row[name]) for name in others)])

    return dots(
        subject,
        [metric],
        name=f"{subject.benchmark}-{metric.replace('_', '-')}-operations",
        title=f"{subject.benchmark.capitalize()} {words} of each operation"
        + (f" at {units.format_bytes(size)}" if size is not None else ""),
        caption=caption_of(subject),
        label=label,
        keep=lambda row: size is None or row["bytes"] == size,
    )


def common_size(rows: list[Row]) -> int | None:
    """The size nearest to HEADLINE that most series and operations have; null where sizes were not swept."""
    counts: dict[int, int] = {}
    for row in rows:
        if row.get("bytes") is not None:
            counts[row["bytes"]] = counts.get(row["bytes"], 0) + 1
    return min(counts, key=lambda size: (-counts[size], abs(size - HEADLINE)), default=None)
