"""How far a run is: a line that is written over on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING

import click

from leadline.cli._table import terminal_width
from leadline.core.progress import heard_by

if TYPE_CHECKING:
    from leadline.run.campaign import Progress

LOG_WIDTH = 100  # characters
BAR, LEAST_BAR = 20, 6  # characters
PERIOD = 30.0  # s between lines of a log, such as that of a job
LEAST_TEXT = 12  # characters of what is being done that are worth their place


@contextmanager
def shown() -> Iterator[tuple[Callable[["Progress"], None], Callable[[str], None]]]:
    """A line that is written over on a terminal, elsewhere one every `PERIOD`: what to call with progress,
    and with steps.

    Drawn only when it is called: a thread of its own would take processor time from the ranks.
    """
    terminal = sys.stderr.isatty()

    def draw(text: str) -> None:
        if terminal:
            click.echo(f"\r\x1b[K{text}", err=True, nl=False)

    logged = time.monotonic()

    def show(progress: "Progress") -> None:
        nonlocal logged
        if terminal:
            draw(line(progress, terminal_width() - 1))
        elif time.monotonic() - logged >= PERIOD:
            logged = time.monotonic()
            click.echo(f"leadline: {line(progress, LOG_WIDTH)}", err=True)

    def say(what: str) -> None:
        draw(what[: terminal_width() - 1])

    def hear(what: str, lasting: bool) -> None:
        if terminal:
            say(what)
        elif lasting:
            click.echo(f"leadline: {what}", err=True)

    try:
        with heard_by(hear):
            yield show, say
    finally:
        draw("")


def line(progress: "Progress", width: int) -> str:
    """How far a run is, in at most `width` columns: what is done, a bar, points, time left.

    What does not fit goes, the bar first and the time left last.
    """
    done = progress.points - progress.open
    timed = isfinite(progress.time)
    share = progress.elapsed / progress.time if timed and progress.time else done / max(progress.points, 1)
    share = min(max(share, 0.0), 1.0)
    remaining = progress.time - progress.elapsed if timed else 0.0
    # Simulated points differ too much in cost for an estimate, and a last launch may go on after the time.
    left = f"{_clock(remaining)} left" if remaining > 0 else f"{_clock(progress.elapsed)} so far"
    parts = [left]
    points = f"{done} of {progress.points} points"
    if len(points) + 2 + len(left) <= width:
        parts.insert(0, points)
    room = width - _total(parts) - 2
    doing = progress.doing if len(progress.doing) <= room else f"{progress.doing[: max(room - 3, 0)]}..."
    if progress.doing and room >= LEAST_TEXT:
        parts.insert(0, doing)
    if (bar := min(BAR, width - _total(parts) - 4)) >= LEAST_BAR:
        filled = round(bar * share)
        parts.insert(len(parts) - 1, f"[{'#' * filled}{'.' * (bar - filled)}]")
    return "  ".join(parts)[:width]


def _total(parts: list[str]) -> int:
    """The width of parts with two blanks between them."""
    return len("  ".join(parts))


def _clock(seconds: float) -> str:
    """A time as minutes and seconds, with hours where there are some."""
    minutes, rest = divmod(max(round(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
