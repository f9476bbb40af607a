"""Values of TOML keys: sizes, counts, words, ranges and lists of them.

Each function takes what TOML gave and returns what it means, or raises UsageError with a sentence that says
what would do; the caller puts the file and the line in front.
"""

import re
from collections.abc import Callable, Collection
from typing import TypeVar

from leadline.core.errors import UsageError, suggest, written
from leadline.core.units import LARGEST, parse_bytes

T = TypeVar("T")
Value = int | str

# A range that is longer than this is more likely a wrong unit than a wish.
LONGEST = 100_000

_RANGE = re.compile(r"(?P<first>.+?)\.\.(?P<last>.+?)(?:\bstep\b(?P<step>.+))?")


def text(value: object) -> str:
    """One word or sentence."""
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"this is a text in quotes, but got {written(value)}")
    return value


def flag(value: object) -> bool:
    """Whether something holds: true or false."""
    if not isinstance(value, bool):
        raise UsageError(f"this is true or false, but got {value!r}")
    return value


def count(value: object) -> int:
    """A whole number, 0 or more; a plan may also write it as text."""
    digits = str(value).strip()
    if not isinstance(value, int | str) or not digits.isdecimal():
        raise UsageError(f"a count is a whole number, 0 or more, but got {written(value)}")
    if len(digits) > len(str(LARGEST)) or int(digits) > LARGEST:
        raise UsageError(f"a count is less than 2^63, but got {value!r}")
    return int(digits)


def word(known: Collection[str] = ()) -> Callable[[object], str]:
    """A reader of one word out of `known`, or of any word where none are given."""

    def parse(value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise UsageError(f"this is a word in quotes, but got {written(value)}")
        if known and value not in known:
            raise UsageError(f"unknown word {value!r}{suggest(value, known)}")
        return value

    return parse


def words(
    known: Collection[str] = (), check: Callable[[str], object] | None = None
) -> Callable[[object], tuple[str, ...]]:
    """A reader of one word or a list of them, each out of `known` or accepted by `check`."""

    def one(value: object) -> list[str]:
        found = word(known)(value)
        if check:
            check(found)
        return [found]

    return lambda value: _each(value, one)


def sizes(value: object) -> tuple[int, ...]:
    """Sizes in bytes: "8 B", ["8 B", 1024], "0 B .. 4 MiB" or "1 B .. 2000 B step 16 B".

    A range without a step doubles, and may begin at 0.
    """
    return _each(value, lambda item: _range(item, parse_bytes))


def counts(value: object) -> tuple[int, ...]:
    """Counts: 4, [1, 2, 3], "1 .. 64" (doubling) or "1 .. 6 step 1"."""
    return _each(value, lambda item: _range(item, count))


def rank_counts(*everywhere: str) -> Callable[[object], tuple[Value, ...]]:
    """A reader of numbers of ranks: counts from 1, or the words for one on every core or node."""

    def ranks(value: object) -> list[Value]:
        if isinstance(value, str) and not re.search(r"\d", value):
            return [word(everywhere)(value)]
        found = _range(value, count)
        if 0 in found:
            raise UsageError(f"there is at least one rank, but got {value!r}")
        return [*found]

    return lambda value: _each(value, ranks)


def mappings(value: object) -> tuple[str, ...]:
    """Which rank sits where, once or a list: orders of axes ("XYZT"), "random:SEED", files."""
    return _each(value, lambda item: [text(item)])


def partitions(value: object) -> tuple[int, ...]:
    """Sizes of partitions in ranks: counts from 1."""
    found = counts(value)
    if 0 in found:
        raise UsageError(f"a partition has at least one rank, but got {value!r}")
    return found


def launch_counts(value: object) -> tuple[int, int]:
    """At least and at most how many launches: 10, or {at_least = 6, at_most = 60}."""
    if not isinstance(value, dict):
        value = {"at_least": value, "at_most": value}
    if set(value) != {"at_least", "at_most"}:
        got = ", ".join(map(str, value)) or "none"
        raise UsageError(f"this is a number or a table with at_least and at_most, but got the keys {got}")
    least, most = count(value["at_least"]), count(value["at_most"])
    if not 1 <= least <= most:
        raise UsageError(f"at_least is 1 or more and at_most no less, but got {least} and {most}")
    return least, most


def _each(value: object, parse: Callable[[object], list[T]]) -> tuple[T, ...]:
    """What one item, or each item of a list, stands for; nothing empty, nothing twice."""
    items = value if isinstance(value, list) else [value]
    found = tuple(one for item in items for one in parse(item))
    if not found:
        raise UsageError("the list is empty; leave the key out to take the default")
    for index, one in enumerate(found):
        if index >= 1 and one in found[:index]:
            raise UsageError(f"{one!r} is listed twice")
    return found


def _range(value: object, parse: Callable[[object], int]) -> list[int]:
    """The numbers of a range, or the one number that `value` is."""
    match = _RANGE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return [parse(value)]
    first, last = parse(match["first"].strip()), parse(match["last"].strip())
    if first > last:
        raise UsageError(f"a range goes upwards, but got {value!r}")
    if match["step"] is None:
        return _doubling(first, last)
    step = parse(match["step"].strip())
    if step < 1:
        raise UsageError(f"the step of a range is 1 or more, but got {value!r}")
    if (last - first) // step >= LONGEST:
        raise UsageError(f"{value!r} are more than {LONGEST} values; take a larger step")
    return list(range(first, last + 1, step))


def _doubling(first: int, last: int) -> list[int]:
    """From `first`, each twice the one before, none above `last`; 0 is followed by 1."""
    found = [first]
    while (after := max(1, 2 * found[-1])) <= last:
        found.append(after)
    return found
