"""What an importer finds: tables of numbers, each from one launch of a suite's program."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leadline.core.errors import UsageError


@dataclass(frozen=True)
class Cell:
    """One line of a table: a point, and what was measured there in SI units, or why nothing was."""

    coordinates: Mapping[str, int | str]
    values: Mapping[str, float] = field(default_factory=dict)  # by metric
    batch: int | None = None  # operations that the printed mean is taken over; None where it is not told
    reason: str | None = None
    failed: bool = False  # with a reason: it failed, rather than was left out


@dataclass(frozen=True)
class Table:
    """One launch of one program of a suite."""

    benchmark: str
    ranks: int | None  # None where the text does not tell
    coordinates: Mapping[str, int | str]
    version: str
    cells: list[Cell]
    empty: str  # the reason to give where there are no cells
    place: str = ""  # file and line of its title
    notes: Sequence[str] = ()  # what was left out
    assumed: Mapping[str, str] = field(
        default_factory=dict
    )  # notes on coordinates that were taken for granted
    any_ranks: bool = False  # ranks are not told, and may be others in another text


_ROW = re.compile(r"\d+(?:\.\d*)?(?:\s+[-+]?(?:[.\d]|nan\b|inf\b).*)?", re.IGNORECASE)


def is_row(line: str) -> bool:
    """Whether a line means to be a row of numbers, rather than a word of the launcher's between the rows.

    >>> is_row("8  0.27"), is_row("8"), is_row("2 nodes are used")
    (True, True, False)
    """
    return bool(_ROW.fullmatch(line))


_NUMBER = re.compile(r"\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def number(text: str, place: str) -> float:
    """A number of a table, finite and not negative; UsageError with its place."""
    value = float(text) if _NUMBER.fullmatch(text) else float("nan")
    if not 0 <= value < float("inf"):
        raise UsageError(f"{place}: {text!r} stands where a number of a table should; mend or cut the line")
    return value


MOST = 2**60  # bytes, beyond any memory: what 64 bits hold, doubled twice


def whole(text: str, place: str) -> int:
    """A whole number of a table, such as a size; UsageError with its place."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 40 and int(text) <= MOST):
        raise UsageError(
            f"{place}: {text!r} stands where a whole number of a table should; mend or cut the line"
        )
    return int(text)


def word(text: str) -> str:
    """A name that a suite prints as a coordinate's name or value: "MPI_Win_flush" is mpi_win_flush."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
