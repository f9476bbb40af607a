"""A machine file from its tables.

The schema is flat: tables of scalars and of numbers with their source, so a few lines write it; a library for
it would be one more to install for these.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence

from leadline.calibrate._values import Value
from leadline.core.units import format_bytes

Entry = Value | str | bool
Table = Mapping[str, Entry]

# How each unit is written: what one is worth, and its name; five digits, more than any interval supports.
_UNITS = {"s": (1e-9, "ns"), "B/s": (1e9, "GB/s"), "flop/s": (1e9, "Gflop/s")}


def machine_text(
    about: Mapping[str, str], run: str, tables: Mapping[str, Table], rows: Mapping[str, Sequence[Table]]
) -> str:
    """The text of a machine file: what it says of itself, its tables, and those of several rows."""
    lines = [f"{key} = {text(value)}" for key, value in about.items()]
    for name, table in tables.items():
        lines += ["", f"[{name}]", *_entries(table, run)]
    for name, several in rows.items():
        for row in several:
            lines += ["", f"[[{name}]]", *_entries(row, run)]
    return "\n".join(lines) + "\n"


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


def text(value: str) -> str:
    """A string of TOML: JSON's are, where every character that needs no escape has none."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _entries(table: Table, run: str) -> Iterator[str]:
    """The lines of a table."""
    for key, entry in table.items():
        if isinstance(entry, bool):
            yield f"{key} = {str(entry).lower()}"
        elif isinstance(entry, str):
            yield f"{key} = {text(entry)}"
        else:
            yield f"{key} = {{ {', '.join(_parts(entry, run))} }}"


def _parts(value: Value, run: str) -> Iterator[str]:
    """What stands within the braces of a number."""
    if value.unit in ("1", "shape"):
        yield f"value = {[int(value.value)] if value.unit == 'shape' else int(value.value)}"
    else:
        yield f"value = {text(quantity(value.value, value.unit))}"
    if value.low is not None and value.high is not None and math.isfinite(value.high):
        ends = ", ".join(text(quantity(end, value.unit)) for end in (value.low, value.high))
        yield f"interval = [{ends}]"
    yield f"source = {text(source(value, run))}"
    if not value.source:
        yield f"calibrated = {text(run)}"
