"""Progress of work deep within a call, such as a build, for whoever listens; nobody has to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# What hears of a step, and whether it is worth a line of its own where there is no terminal.
Listener = Callable[[str, bool], None]

_listeners: list[Listener] = []


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Have `listener` called with every step that is announced within the block; an inner block's comes
    first.
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def announce(words: str, lasting: bool = False) -> None:
    """Say what is being done now; `lasting` where it will take so long that everybody should know."""
    if _listeners:
        _listeners[-1](words, lasting)
