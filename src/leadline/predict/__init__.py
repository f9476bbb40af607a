"""Predictions of applications: one application's model a file of this package, found by its file alone.

A file `NAME.py` is the command `leadline predict NAME`: its docstring is the help, `OPTIONS` are the options,
`predict(asked, simulate)` gives the table. `asked` has the value of each option, by the option's name with
underscores. `simulate` runs the simulator; models have no other access to it, so that a report, which only
compares models with a run, needs no simulator. A file may also have `of_run(rows, records)`: it takes rows of
a summary and the records that they are from, and returns the rows that the model can predict, with predicted
instead of measured values. Reports draw them as bands.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.core.errors import UsageError
from leadline.core.formatting import Column
from leadline.core.plugins import Plugins
from leadline.core.record import Row

if TYPE_CHECKING:
    import polars as pl

    from leadline.machine import Machine

# The records of measurements, each with the keys of a plan's `[[measure]]`, on a described machine.
Simulate = Callable[["Machine", Sequence[Row]], "pl.DataFrame"]


# The value of each option of a model, by the option's name with underscores.
ModelArguments = Mapping[str, Any]


@dataclass(frozen=True)
class Option:
    """An option of a prediction: `--name VALUE`, or a switch where `read` is None."""

    name: str
    help: str
    read: Callable[[str], object] | None = str  # raises UsageError for what cannot be read
    default: object = None
    metavar: str = ""
    needed: bool = False
    words: tuple[str, ...] = ()  # allowed values; empty: any


def count_from(least: int) -> Callable[[str], int]:
    """The reader of an option that is a whole number, `least` or more."""

    def read(value: str) -> int:
        if not value.isdecimal() or int(value) < least:
            raise UsageError(f"this is a whole number, {least} or more, but got {value!r}")
        return int(value)

    return read


@dataclass(frozen=True)
class Prediction:
    """A table: rows of SI values and words, and the columns that are printed."""

    rows: Sequence[Row]
    columns: Mapping[str, Column]
    notes: Sequence[str] = field(default=())


@dataclass(frozen=True)
class Predictor:
    """One application's model."""

    name: str
    about: str
    options: Sequence[Option]
    predict: Callable[[ModelArguments, Simulate], Prediction]


_MODELS = Plugins(__name__, "there is no {} to predict")


def names() -> list[str]:
    """The applications that can be predicted."""
    return _MODELS.names()


def path(name: str) -> Path:
    """The file of a model."""
    return Path(__file__).with_name(f"{name}.py")


def find(name: str) -> Predictor:
    """The model of that name; UsageError where there is none."""
    module = _MODELS.find(name)
    return Predictor(name, (module.__doc__ or "").strip(), tuple(module.OPTIONS), module.predict)


def expected(name: str, rows: Sequence[Row], records: "pl.DataFrame") -> list[Row]:
    """What an application's model says of the measured points of runs; nothing where it has none.

    `rows` are of a summary, with `value`, `low` and `high` in SI units; those of which the model can say
    something come back with its answer in these three.
    """
    if name not in names():
        return []
    module = _MODELS.find(name)
    of_run = getattr(module, "of_run", None)
    return list(of_run(rows, records)) if of_run else []
