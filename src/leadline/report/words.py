"""Quantities and points as the page tells them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from leadline import units
from leadline.report.subject import SIZES

# An interval that reaches less than this is told with the confidence that it has.
CLOSE_TO_95 = 0.945


@dataclass(frozen=True)
class Told:
    """A quantity in parts: its value with its unit, its interval in the same unit, a note, a warning."""

    value: str
    interval: str = ""
    note: str = ""
    flag: str = ""


def tell(
    value: float | None,
    unit: str,
    low: float | None = None,
    high: float | None = None,
    *,
    confidence: float | None = None,
    flag: str | None = None,
) -> Told:
    """A quantity in SI `unit` with its interval; a confidence below 95 % is said."""
    text = units.format_quantity(value, unit, low, high)
    number, bracket, interval = text.partition(" [")
    short = confidence is not None and confidence < CLOSE_TO_95 and bool(bracket)
    note = f"at {100 * (confidence or 0):.0f} %" if short else ""
    return Told(number, f"[{interval}" if bracket else "", note, flag or "")


def next_launch(row: Mapping[str, Any]) -> Told:
    """Where the next launch's median lies: "[0.26, 0.31] µs"; a dash where it is not known."""
    low, high = row.get("next_low"), row.get("next_high")
    if low is None or high is None:
        return Told(units.MISSING)
    told = tell(row["value"], row["unit"], low, high, confidence=row.get("next_confidence"))
    unit = told.value.partition(" ")[2]
    return Told(f"{told.interval} {unit}".rstrip(), note=told.note)


def plural(count: int, noun: str) -> str:
    """A count with its noun: "1 point", "3 points"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def coordinates(row: Mapping[str, Any], names: Iterable[str]) -> str:
    """A point by name: "pingpong, mpich-4.0.2, 8 B, buffers reused"; nulls and defaults are left out."""
    words = []
    for name in names:
        value = row.get(name)
        if value is None or value in ("", "default"):
            continue
        if name in SIZES:
            words.append(units.format_bytes(value))
        elif name in ("benchmark", "mpi"):
            words.append(str(value))
        else:
            words.append(f"{name} {value}")
    return ", ".join(words)
