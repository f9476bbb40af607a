"""Predictions of applications: one application's model a file of this package, found by its file alone.

A file `NAME.py` answers `leadline predict NAME`: its docstring is the help, `OPTIONS` what may be asked,
`predict(asked)` the answer. `asked` has a value for every option, by its name with underscores.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from leadline.errors import UsageError, suggest


@dataclass(frozen=True)
class Option:
    """An option of a prediction: `--name VALUE`, or a switch where `read` is None."""

    name: str
    help: str
    read: Callable[[str], Any] | None = str  # raises UsageError for what cannot be read
    default: Any = None
    metavar: str = ""
    needed: bool = False
    words: tuple[str, ...] = ()  # the only values that there are; empty: any


@dataclass(frozen=True)
class Prediction:
    """A table: rows of SI values and of words; people see the keys of `columns` under their headings."""

    rows: Sequence[Mapping[str, Any]]
    columns: Mapping[str, str]
    notes: Sequence[str] = field(default=())


@dataclass(frozen=True)
class Predictor:
    """One application's model."""

    name: str
    about: str
    options: Sequence[Option]
    predict: Callable[[Mapping[str, Any]], Prediction]


def names() -> list[str]:
    """The applications that can be predicted."""
    return sorted(found.name for found in iter_modules(__path__) if not found.name.startswith("_"))


def path(name: str) -> Path:
    """The file of a model."""
    return Path(__file__).with_name(f"{name}.py")


def find(name: str) -> Predictor:
    """The model of that name; UsageError where there is none."""
    if name not in names():
        raise UsageError(f"there is no {name!r} to predict{suggest(name, names())}")
    module = import_module(f"{__name__}.{name}")
    return Predictor(name, (module.__doc__ or "").strip(), tuple(module.OPTIONS), module.predict)
