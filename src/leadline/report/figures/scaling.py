"""How does an application scale: what was measured over what a described machine predicts?"""

from leadline.record import SIMULATED
from leadline.report.figures import Figure
from leadline.report.figures._curve import caption_of, curve
from leadline.report.subject import Row, Subject

# Application: what it is judged by, and what a perfect machine would show over the number of ranks.
JUDGED = {
    "ring": ("time", "A straight line up: every rank adds two messages to a turn."),
    "sum3d": ("time", "Level at best: one rank has all the data, and the others wait for it."),
    "jacobi": ("rate", "A straight line up, weak; the same, strong, until sides outweigh parts."),
    "ft": ("time", "Strong scaling: half the time on twice the ranks."),
}
BOTH = "Measured points lie over what the described machine predicts, a band where it has noise."


def applies(subject: Subject) -> bool:
    """An application on several numbers of ranks."""
    metric, _ = JUDGED.get(subject.benchmark, ("", ""))
    return len({row["ranks"] for row in subject.of(metric)}) > 1


def describe(subject: Subject) -> list[Figure]:
    """Time or rate over ranks, weak and strong scaling apart."""
    metric, reading = JUDGED[subject.benchmark]
    rows = subject.of(metric)
    kinds = {row.get("scaling") for row in rows} - {None} or {None}
    both = len({row.get("source") == SIMULATED for row in rows}) > 1
    sentences = [reading, BOTH] if both else [reading]
    drawn = []
    for kind in sorted(kinds, key=str):
        of_kind = [row for row in rows if row.get("scaling") == kind]
        if len({row["ranks"] for row in of_kind}) < 2:
            continue

        def keep(row: Row, kind: object = kind) -> bool:
            return row.get("scaling") == kind

        words = f"{kind} scaling" if kind else "scaling"
        drawn.append(
            curve(
                subject,
                metric,
                name=f"{subject.benchmark}-{words.replace(' ', '-')}",
                title=f"{subject.benchmark}: {words}, {metric} by number of ranks",
                caption=caption_of(subject, *sentences),
                x="ranks",
                keep=keep,
            )
        )
    return drawn
