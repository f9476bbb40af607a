"""A machine file from its tables."""

import math
from collections.abc import Mapping, Sequence

from leadline.calibrate._values import Value
from leadline.core import toml
from leadline.core.record import Row
from leadline.core.units import format_bytes

Entry = Value | str | bool
Table = Mapping[str, Entry]

# How each unit is written: what one is worth, and its name; five digits, more than any interval supports.
_UNITS = {"s": (1e-9, "ns"), "B/s": (1e9, "GB/s"), "flop/s": (1e9, "Gflop/s")}


def machine_text(
    about: Mapping[str, str], run: str, tables: Mapping[str, Table], rows: Mapping[str, Sequence[Table]]
) -> str:
    """The text of a machine file: what it says of itself, its tables, and those of several rows.

    The table without a name has what is in none.
    """
    return toml.dump(
        {
            **about,
            **_plain(tables.get("", {}), run),
            **{name: _plain(table, run) for name, table in tables.items() if name},
            **{name: [_plain(row, run) for row in several] for name, several in rows.items()},
        }
    )


def quantity(value: float, unit: str) -> str:
    """A quantity as a machine file has it."""
    if unit == "B":
        return format_bytes(round(value))
    worth, name = _UNITS[unit]
    return f"{value / worth:.5g} {name}"


def source(value: Value, run: str) -> str:
    """Where a number is from, in words."""
    if value.source:
        return value.source
    open_end = "; no upper bound" if value.high is not None and math.isinf(value.high) else ""
    return f"calibrated on {run}: {', '.join(value.benchmarks)}{open_end}"


def _plain(table: Table, run: str) -> Row:
    """The entries of a table, each number with its interval and source."""
    return {key: _number(entry, run) if isinstance(entry, Value) else entry for key, entry in table.items()}


def _number(value: Value, run: str) -> dict[str, object]:
    """A number as a machine file has it."""
    found: dict[str, object] = {}
    if value.unit in ("1", "shape"):
        found["value"] = [int(value.value)] if value.unit == "shape" else int(value.value)
    else:
        found["value"] = quantity(value.value, value.unit)
    if value.low is not None and value.high is not None and math.isfinite(value.high):
        found["interval"] = [quantity(end, value.unit) for end in (value.low, value.high)]
    found["source"] = source(value, run)
    return found if value.source else found | {"calibrated": run}
