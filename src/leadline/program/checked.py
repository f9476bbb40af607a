"""What a rank's code gives to calls of `comm`, checked: each refusal names the rank and what was given."""

from collections.abc import Iterable
from enum import IntEnum
from numbers import Integral, Real
from typing import Any, TypeVar

from leadline.core.errors import UsageError
from leadline.core.units import parse_time
from leadline.program.noted import Request

LONGEST = 1e9  # s
_TAGS = 1 << 31  # as many as an int of C has from 0 on
Named = TypeVar("Named", bound=IntEnum)


def is_whole(value: object) -> bool:
    """Whether it is a whole number, of whatever type."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def tag_of(rank: int, tag: Any) -> int:
    """A message's tag."""
    if not is_whole(tag) or not 0 <= tag < _TAGS:
        raise UsageError(f"rank {rank}: a tag is a whole number, 0 or more and below 2^31, but got {tag!r}")
    return int(tag)


def seconds_of(rank: int, time: Any) -> float:
    """A time to compute, s: a number of seconds or a text with its unit."""
    seconds: Any = parse_time(time) if isinstance(time, str) else time
    if not isinstance(seconds, Real) or isinstance(seconds, bool) or not 0 <= float(seconds) < LONGEST:
        raise UsageError(f"rank {rank}: a time to compute is 0 or more seconds, but got {time!r}")
    return float(seconds)


def named(rank: int, kind: type[Named], value: Any) -> Named:
    """A member of a list of words, such as a reduction."""
    if type(value) is kind:  # asked of every operation
        return value
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(each.name for each in kind)
        raise UsageError(f"rank {rank}: a {kind.__name__} is one of {known}, but got {value!r}") from None


def requests_of(rank: int, requests: object) -> tuple[Request, ...]:
    """What is waited for together, or begun."""
    given = tuple(requests) if isinstance(requests, Iterable) else (requests,)
    for each in given:
        if not isinstance(each, Request):
            raise UsageError(f"rank {rank}: a request is what isend or irecv gives, but got {each!r}")
    return given


def lengths_of(rank: int, lengths: Any) -> tuple[int, ...] | int:
    """The lengths of a grid's axes, or how many there are."""
    found = tuple(lengths) if isinstance(lengths, Iterable) and not isinstance(lengths, str) else (lengths,)
    if found and all(is_whole(each) and each > 0 for each in found):
        return int(lengths) if is_whole(lengths) else tuple(map(int, found))
    raise UsageError(
        f"rank {rank}: a grid is of 1 or more axes, or of axes of 1 or more ranks such as (4, 2), "
        f"but got {lengths!r}"
    )
