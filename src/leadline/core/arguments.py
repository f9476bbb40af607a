"""What functions for programs and notebooks are given: checked against their own annotations.

A command line says what is wrong in a sentence; a function that `import leadline` gives does so too, where
Python and the libraries below it would raise whatever came first.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_args, get_origin

from leadline.core.errors import UsageError, of_system

P = ParamSpec("P")
T = TypeVar("T")

PATH = "a text or a Path that a file may have"  # what would do, after "is"
LONGEST_NAME = 255  # bytes of a file's name, as file systems have it
_COLLECTIONS = (Sequence, Iterable)
_NUMBERS: dict[object, type] = {int: Integral, float: Real}


def is_whole(value: object) -> bool:
    """Whether it is a whole number, of whatever type."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def is_path(value: object) -> bool:
    """Whether a file may have this path: a text or a Path that a system can be asked for."""
    if not isinstance(value, str | Path):
        return False
    try:
        name = os.fsencode(value)
    except UnicodeEncodeError:
        return False
    return bool(name) and b"\0" not in name and max(map(len, name.split(b"/"))) <= LONGEST_NAME


def checked(**expected: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function that raises UsageError for an argument that is not of its annotated type.

    `expected` says of arguments what would do, as follows "ranks is"; an argument that it does not name
    is not checked. What the system refuses, such as a file in a directory that is not there, is a
    LeadlineError.
    """

    def around(function: Callable[P, T]) -> Callable[P, T]:
        asked = signature(function)

        @wraps(function)
        def called(*arguments: P.args, **named: P.kwargs) -> T:
            for name, value in asked.bind(*arguments, **named).arguments.items():
                if name in expected:
                    parameter = asked.parameters[name]
                    values = value if parameter.kind is Parameter.VAR_POSITIONAL else (value,)
                    _check(name, values, parameter.annotation, expected[name])
            try:
                return function(*arguments, **named)
            except OSError as problem:
                raise of_system(problem) from problem

        return called

    return around


def _check(name: str, values: Iterable[object], hint: Any, expected: str) -> None:
    """UsageError for a value that is not of the type `hint`."""
    for value in values:
        if not _is_of(value, hint):
            raise UsageError(f"{name} is {expected}, but got {value!r}")


def _is_of(value: object, hint: Any) -> bool:
    """Whether a value is of an annotated type: a list is any collection, a text beside a Path a path."""
    if hint is None or hint is type(None):
        return value is None
    origin, inner = get_origin(hint), get_args(hint)
    if inner and origin not in (Callable, *_COLLECTIONS):  # a union
        return any(_is_of(value, each) for each in inner) and (
            Path not in inner or not isinstance(value, str | Path) or is_path(value)
        )
    if origin in _COLLECTIONS:
        return (
            isinstance(value, Collection)
            and not isinstance(value, str | bytes | Mapping)
            and all(_is_of(each, inner[0]) for each in value)
        )
    if (origin or hint) is Callable:
        return callable(value)
    if hint in _NUMBERS:
        return isinstance(value, _NUMBERS[hint]) and not isinstance(value, bool)
    return isinstance(value, hint)
