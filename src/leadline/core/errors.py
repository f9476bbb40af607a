"""What the user is told when something is wrong: one sentence, and the exit code that goes with it."""

from collections.abc import Iterable
from difflib import get_close_matches

FEW = 24  # names that a sentence can list
SHORT = 3  # letters of a word that is near only to words about as long


class LeadlineError(Exception):
    """A failure that the user can act on: what was wrong, what was got, what would do.

    Exit code 1: something failed that was asked for sensibly, such as a measurement, a build or a write.
    """

    exit_code = 1


class UsageError(LeadlineError):
    """A request that cannot be understood: an unknown name, a bad unit, a typing error in a plan.

    Also a file that is not there, is of another kind, or is damaged.
    """

    exit_code = 2


class Interrupted(KeyboardInterrupt):
    """Something from outside ended the work, as Ctrl-C does; the text says what: an allocation is over."""


def of_system(problem: OSError) -> LeadlineError:
    """What a system refused, in a sentence: a directory that is not there, a full disk."""
    name = f" {problem.filename}" if problem.filename else ""
    return LeadlineError(f"cannot read or write{name}: {problem.strerror or problem}")


def written(value: object) -> str:
    """A value of a TOML file in a message: true and false as the file has them."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def suggest(word: object, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown `word`: the nearest known name, else all of a few.

    >>> suggest("pingpnog", ["pingpong", "noise"])
    "; did you mean 'pingpong'?"
    >>> suggest("zzz", ["pingpong", "noise"])
    '; known are: noise, pingpong'
    >>> suggest("foo", ["flood", "fo"])
    "; did you mean 'fo'?"
    >>> suggest("zzz", map(str, range(100)))
    ''
    """
    names, word = sorted(known), str(word)
    # Of a short word more would be alike by chance: 'foo' is no 'flood'.
    alike = [name for name in names if len(word) > SHORT or abs(len(name) - len(word)) <= 1]
    if near := get_close_matches(word, alike, n=1):
        return f"; did you mean '{near[0]}'?"
    return f"; known are: {', '.join(names)}" if 0 < len(names) <= FEW else ""
