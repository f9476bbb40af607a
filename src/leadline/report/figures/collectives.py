"""What does a collective cost by size, on each communicator, by each algorithm, in each form?"""

from collections.abc import Callable

from leadline.analysis.guidelines.terms import USUAL
from leadline.core.record import Row
from leadline.report.figures import Figure
from leadline.report.plots.curve import caption_of, curve
from leadline.report.subject import Subject, varying

# Coordinates that stand beside one another, and how a figure of each is to be read.
BESIDE = {
    "communicator": "Where a part costs more than the world, something made for all serves only all.",
    "algorithm": "The library's own choice beside algorithms over messages: what is below can be gained.",
    "form": "What begins and ends apart may cost more by itself, and yet less beside a computation.",
    "cadence": "Back to back ranks need not be in step; isolated, all begin at one moment.",
    "variation": "Blocks that are told one by one, and ones that vary.",
    "reduction": "An operation of the program's own keeps the library from its shortcuts.",
    "type": "The same bytes of other numbers.",
    "root": "From or towards one rank and another.",
}
_SWEPT = {"communicator", "cadence", "bytes"}


def applies(subject: Subject) -> bool:
    """The benchmarks of collectives that have a size."""
    return set(subject.sweeps) >= _SWEPT


def describe(subject: Subject) -> list[Figure]:
    """Time by size, a figure for each coordinate that varies while the others are as programs usually call.

    Then the mean over ranks, which parts from the slowest where communicators are many, and what overlaps.
    """
    rows = subject.of("time")
    differing = varying(rows, [name for name in BESIDE if name in subject.sweeps])
    drawn = [_beside(subject, "time", name) for name in differing if _fair(rows, name)]
    if not differing:
        drawn.append(_plain(subject, "time"))
    if "mean" in subject.metrics and _fair(subject.of("mean"), "communicator"):
        drawn.append(_beside(subject, "mean", "communicator"))
    if "overlap" in subject.metrics:
        drawn.append(_overlap(subject))
    return drawn


def _usual(*but: str) -> Callable[[Row], bool]:
    """Whether a row is of a call as programs usually make it, whatever the coordinates `but` are."""
    asked = {name: value for name, value in USUAL.items() if name not in but}
    return lambda row: all(row.get(name) in (None, value) for name, value in asked.items())


def _fair(rows: list[Row], name: str) -> bool:
    """Whether several values of a coordinate were measured with all else as usual."""
    keep = _usual(name)
    return len({row.get(name) for row in rows if keep(row)}) > 1


def _beside(subject: Subject, metric: str, name: str) -> Figure:
    """A colour a value of the coordinate, a dash a series."""
    what = "Time" if metric == "time" else "Mean time over ranks"
    return curve(
        subject,
        metric,
        name=f"{_plainly(subject)}-{metric}-by-{name}",
        title=f"{what} of {_plainly(subject)} by {name}",
        caption=caption_of(subject, BESIDE[name]),
        by=name,
        keep=_usual(name),
    )


def _plain(subject: Subject, metric: str) -> Figure:
    """Where nothing varies but the size."""
    return curve(
        subject,
        metric,
        name=f"{_plainly(subject)}-{metric}",
        title=f"Time of {_plainly(subject)} by size",
        caption=caption_of(subject),
    )


def _overlap(subject: Subject) -> Figure:
    """The share that is hidden, a colour a form."""
    return curve(
        subject,
        "overlap",
        name=f"{_plainly(subject)}-overlap",
        title=f"Share of {_plainly(subject)} that a computation hides",
        caption=caption_of(
            subject,
            "1: the operation costs nothing beside a computation as long. 0: it goes on only while the "
            "program waits for it. Below 0: together is dearer than one after the other.",
        ),
        by="form",
        log=False,
        keep=_usual("form"),
    )


def _plainly(subject: Subject) -> str:
    """The benchmark's name as words and files have it."""
    return subject.benchmark.replace("_", "-")
