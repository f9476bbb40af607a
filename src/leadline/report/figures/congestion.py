"""What is left to a pair while another pair uses the same link, compared with what it has alone?"""

from leadline.core.record import Row
from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of
from leadline.report.plots.dots import dots
from leadline.report.subject import Subject, coordinate, sweeps, varying

BENCHMARK = "congestion"
BUSY = "busy"
# The ranks of each pair, as the benchmark lays them along a line.
_ENDS = {
    ("nested", "first"): "0 → 3, around 1 → 2",
    ("nested", "second"): "1 → 2, within 0 → 3",
    ("overlapping", "first"): "0 → 2, beside 1 → 3",
    ("overlapping", "second"): "1 → 3, beside 0 → 2",
}


def applies(subject: Subject) -> bool:
    """The congestion benchmark with its patterns."""
    return subject.benchmark == BENCHMARK and {"pattern", "measured", "other"} <= set(subject.sweeps)


def describe(subject: Subject) -> list[Figure]:
    """One row for each pattern, pair and size; the other pair idle and busy in the same row."""
    told = ("pattern", "measured", "other")
    others = [name for name in varying(subject.rows, sweeps(subject.rows)) if name not in told]

    def label(row: Row) -> str:
        pair = _ENDS.get((row["pattern"], row["measured"]), f"{row['pattern']}, {row['measured']}")
        return ", ".join([pair, *(coordinate(name, row[name]) for name in others)])

    return [
        dots(
            subject,
            [metric],
            name=f"congestion-{metric.replace('_', '-')}",
            title=f"{metric.replace('_', ' ').capitalize()} of a pair that shares its link",
            caption=caption_of(subject, "Filled: the other pair is idle. Open: it sends as well."),
            label=label,
            filled=lambda row: row["other"] != BUSY,
        )
        for metric in subject.metrics
    ]
