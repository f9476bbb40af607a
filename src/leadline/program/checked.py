"""What a rank's code gives to calls of `comm`, checked: each refusal names the rank and what was given."""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from numbers import Real
from typing import Any, TypeVar

from leadline.core.arguments import is_whole
from leadline.core.errors import UsageError
from leadline.core.units import parse_time
from leadline.program.noted import Request

LONGEST = 1e9  # s
_MOST_AXES = 32
_TAGS = 1 << 31  # as many as an int of C has from 0 on
Named = TypeVar("Named", bound=IntEnum)


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
    if is_whole(lengths) and lengths > _MOST_AXES:
        raise UsageError(f"rank {rank}: a grid has at most {_MOST_AXES} axes, but got {lengths}")
    if found and all(is_whole(each) and each > 0 for each in found):
        return int(lengths) if is_whole(lengths) else tuple(map(int, found))
    raise UsageError(
        f"rank {rank}: a grid is of 1 or more axes, or of axes of 1 or more ranks such as (4, 2), "
        f"but got {lengths!r}"
    )


def truth_of(rank: int, what: str, value: object) -> bool:
    """Whether something that a call can be asked for is asked for."""
    if not isinstance(value, bool):
        raise UsageError(f"rank {rank}: {what} is True or False, but got {value!r}")
    return value


def blocks_of(rank: int, blocks: Any) -> Mapping[Any, Any]:
    """The sizes of blocks, by ranks."""
    if not isinstance(blocks, Mapping):
        raise UsageError(f"rank {rank}: blocks are sizes by ranks, such as {{0: 8}}, but got {blocks!r}")
    return blocks


def group_of(rank: int, group: Any) -> tuple[Any, ...]:
    """The ranks that an epoch is with."""
    if not isinstance(group, Iterable) or isinstance(group, str):
        raise UsageError(f"rank {rank}: an epoch is with a list of ranks such as [0, 1], but got {group!r}")
    return tuple(group)


def color_of(rank: int, color: Any, key: Any) -> tuple[int | None, int]:
    """A rank's colour, where it has one, and its place among those of the same colour."""
    if color is not None and not is_whole(color):
        raise UsageError(f"rank {rank}: a colour is a whole number or None, but got {color!r}")
    if not is_whole(key):
        raise UsageError(f"rank {rank}: the key of a split is a whole number, but got {key!r}")
    return None if color is None else int(color), int(key)


def name_of(rank: int, name: Any) -> str:
    """A region's name, as it is shown on one line."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise UsageError(f"rank {rank}: a region's name is a text on one line, but got {name!r}")
    return name
