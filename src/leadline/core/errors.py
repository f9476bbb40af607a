"""What the user is told when something is wrong: one sentence, and the exit code that goes with it."""

from collections.abc import Iterable
from difflib import get_close_matches


class LeadlineError(Exception):
    """A failure that the user can act on: what was wrong, what was got, what would do."""

    exit_code = 1


class UsageError(LeadlineError):
    """A request that cannot be understood: an unknown name, a bad unit, a typing error in a plan."""

    exit_code = 2


def suggest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown `word`: the nearest known name, else all of them.

    >>> suggest("pingpnog", ["pingpong", "noise"])
    "; did you mean 'pingpong'?"
    >>> suggest("zzz", ["pingpong", "noise"])
    '; known are: noise, pingpong'
    """
    names = sorted(known)
    near = get_close_matches(word, names, n=1)
    return f"; did you mean '{near[0]}'?" if near else f"; known are: {', '.join(names)}"
