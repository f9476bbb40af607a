"""What goes on, for a person at a terminal who waits: a line with a spinner, and nothing anywhere else."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Any

import click

from leadline.core.progress import heard_by

DELAY = 0.5  # s; what is done by then needs no word, and a line that only flashes disturbs


@contextmanager
def working(words: str) -> Iterator[Callable[[str], None]]:
    """While the block runs, say `words` on the standard error, where that is a terminal.

    Gives what to call with other words as the work goes on. The line appears after `DELAY` and is gone at the
    end of the block, however that comes about.
    """
    if not sys.stderr.isatty():
        with heard_by(_notice):
            yield lambda _: None
        return
    line = _Line(words)
    timer = Timer(DELAY, line.start)
    timer.daemon = True
    timer.start()
    try:
        with heard_by(lambda words, _: line.say(words)):
            yield line.say
    finally:
        timer.cancel()
        line.stop()


def _notice(words: str, lasting: bool) -> None:
    """Print what takes minutes, for those who read a log."""
    if lasting:
        click.echo(f"leadline: {words}", err=True)


class _Line:
    """The line, which one thread may start while another ends it: whichever comes second knows."""

    def __init__(self, words: str) -> None:
        """Nothing is shown before `start`."""
        self.words = words
        self.ended = False
        self.shown: Any = None  # a rich Status, once there is one
        self.lock = Lock()

    def start(self) -> None:
        """Show the line, unless the work is done."""
        with self.lock:
            if not self.ended:
                from rich.console import Console  # noqa: PLC0415  (only where somebody has to wait)
                from rich.markup import escape  # noqa: PLC0415

                self.shown = Console(file=sys.stderr).status(f"{escape(self.words)} ...")
                self.shown.start()

    def say(self, words: str) -> None:
        """Show other words."""
        with self.lock:
            self.words = words
            if self.shown:
                from rich.markup import escape  # noqa: PLC0415

                self.shown.update(f"{escape(words)} ...")

    def stop(self) -> None:
        """Take the line away, for good."""
        with self.lock:
            self.ended = True
            if self.shown:
                self.shown.stop()
