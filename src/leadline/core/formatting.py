"""Quantities as people are told them: value, unit, interval, and how sure the interval is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from leadline.core import units
from leadline.core.record import Row

# An interval that reaches less than this is told with the confidence that it has.
CLOSE_TO_95 = 0.945
# Bounds farther apart have a unit each: "[0.12 µs, 6.3 ms]".
FAR = 1000.0


def counted(count: int, noun: str) -> str:
    """How many of something there are: "1 rank", "1,024 ranks", "2 launches"."""
    ending = "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{'' if count == 1 else ending}"


@dataclass(frozen=True)
class FormattedQuantity:
    """A quantity in parts: its value with its unit, its interval in the same unit, a note, a warning."""

    value: str
    interval: str = ""
    note: str = ""
    flag: str = ""


def formatted(
    value: float | None,
    unit: str,
    low: float | None = None,
    high: float | None = None,
    *,
    confidence: float | None = None,
    flag: str | None = None,
    exact: bool = False,
) -> FormattedQuantity:
    """A quantity in SI `unit` with its interval; a confidence below 95 % is noted, and simulation."""
    text = units.format_quantity(value, unit, low, high)
    number, bracket, interval = text.partition(" [")
    short = confidence is not None and confidence < CLOSE_TO_95 and bool(bracket)
    note = "simulated" if exact else f"at {100 * (confidence or 0):.0f} %" if short else ""
    return FormattedQuantity(number, f"[{interval}" if bracket else "", note, flag or "")


def format_row(row: Row) -> FormattedQuantity:
    """The value of a summary's row with its interval, or that it is simulated without noise."""
    return formatted(
        row["value"],
        row["unit"],
        row.get("low"),
        row.get("high"),
        confidence=row.get("confidence"),
        exact=bool(row.get("exact")),
    )


def next_launch(row: Row) -> FormattedQuantity:
    """Where the next launch's median lies: "[0.26, 0.31] µs"; a dash where it is not known."""
    low, high = row.get("next_low"), row.get("next_high")
    if low is None or high is None:
        return FormattedQuantity(units.MISSING)
    told = formatted(row["value"], row["unit"], low, high, confidence=row.get("next_confidence"))
    if 0 < low < high / FAR:
        bounds = (units.format_quantity(float(f"{each:.2g}"), row["unit"]) for each in (low, high))
        return FormattedQuantity(f"[{', '.join(bounds)}]", note=told.note)
    unit = told.value.partition(" ")[2]
    return FormattedQuantity(f"{told.interval} {unit}".rstrip(), note=told.note)


# What answers a simulated point beside a network model, in words.
_BESIDE = {"hardware": "collective hardware", "symmetry": "some ranks for all"}


def network_text(answered: str) -> str:
    """What simulated a point's messages: "hardware+loggp" is "loggp, collective hardware"."""
    each = [part.split("+") for part in answered.split("; ")]
    return "; ".join(
        ", ".join(_BESIDE.get(name, name) for name in sorted(names, key=_BESIDE.__contains__))
        for names in each
    )


def ratio_text(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    confidence: float | None = None,
    form: str = ".2f",
) -> str:
    """A ratio with its interval where there is one: "0.93 [0.91, 0.96]"; a confidence below 95 % is said."""
    if value is None:
        return ""
    if low is None or high is None:
        return f"{value:{form}}"
    short = confidence is not None and confidence < CLOSE_TO_95
    return f"{value:{form}} [{low:{form}}, {high:{form}}]" + (
        f" at {100 * (confidence or 0):.0f} %" if short else ""
    )


@dataclass(frozen=True)
class Column:
    """How a table for people shows the values of a key: under a heading, in words.

    A number with a `unit` is in SI units and gets as many digits as its interval supports, whose ends are the
    row's values of the keys `ends`. With `digits` it has so many after the point, in units of `worth`.
    """

    heading: str
    unit: str = ""
    ends: tuple[str, str] = ("", "")
    digits: int | None = None
    worth: float = 1.0
    sign: str = ""  # "+": also of what is above zero

    def text(self, row: Row, key: str) -> str:
        """The value of a row; empty where it has none."""
        value = row.get(key)
        if value is None:
            return ""
        if isinstance(value, list | tuple):
            return "x".join(map(str, value))
        if self.digits is not None:
            return f"{value / self.worth:{self.sign}.{self.digits}f} {self.unit}".rstrip()
        if self.unit:
            return units.format_quantity(value, self.unit, *(row.get(end) for end in self.ends))
        return str(value)


def texts(rows: Iterable[Row], columns: Mapping[str, Column]) -> list[dict[str, str]]:
    """The rows of a table for people, in words, by the keys of `columns`."""
    return [{key: column.text(row, key) for key, column in columns.items()} for row in rows]
