"""Numbers of a machine file: each a value with its unit and where it is from.

A number is written `{ value = "425 MB/s", source = "..." }`; where all numbers of a table are from one place,
the table may have the key `source` and its numbers stand alone. What is wrong is told with file and line.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isclose
from typing import Any

from leadline.core.errors import UsageError
from leadline.core.toml import Table
from leadline.core.values import text
from leadline.machine.schema import Kind, TableSchema

_NUMBER_KEYS = ("value", "source", "interval", "calibrated", "claim", "stated")


@dataclass(frozen=True)
class Number:
    """One number of a machine: what it is, where it stands, and why it should be believed."""

    key: str  # table and key, "links.rate"; rows by their names, "protocol.eager.send_overhead"
    value: Any  # in SI units; a tuple for the shape of a grid
    unit: str
    text: str  # value and interval as they are written
    source: str
    interval: tuple[float, float] | None = None  # in SI units
    calibrated: str | None = None  # the claim or the run that it was fitted to
    claim: str | None = None  # the claim of the ledger that states it
    stated: Any = None  # what the source states, where the value follows from it; in SI units

    def row(self) -> dict[str, Any]:
        """The number as an object, for `--json`."""
        return asdict(self)


# What a key's value was read as: a number with its source, or a plain word or switch.
Read = Number | str | bool


def number(table: Table, key: str, kind: Kind, path: str) -> Number:
    """The number at `key` of a table; UsageError where it is none, or nobody says where it is from."""
    given = table.data[key]
    if not isinstance(given, dict):
        given = {"value": given}
    for word in given:
        if word not in _NUMBER_KEYS:
            raise table.error(f"{path} has an unknown key {word!r}; known are {', '.join(_NUMBER_KEYS)}", key)
    if "value" not in given:
        raise table.error(f'{path} is written {{ value = "...", source = "..." }}, but has no value', key)

    def read(what: str, value: object) -> object:
        """A value of this kind; `what` is where in the number it stands."""
        try:
            return kind.read(value)
        except UsageError as problem:
            raise table.error(f"{path}{what}: {problem}", key) from None

    found = read("", given["value"])
    interval = _interval([read(".interval", end) for end in _ends(table, given, key, path)])
    if interval and not _holds(interval, found):
        held = _shown(given["value"], _ends(table, given, key, path))
        raise table.error(f"{path}: the interval does not contain the value, {held}", key)
    words = {word: _word(table, given, key, word, path) for word in ("source", "calibrated", "claim")}
    source = words["source"] or _word(table, table.data, key, "source", path)
    if source is None and words["calibrated"] is None:
        raise table.error(f'{path} has no source; add source = "..." that says where it was read', key)
    return Number(
        key=path,
        value=found,
        unit=kind.unit,
        text=_shown(given["value"], _ends(table, given, key, path)),
        source=source or f"calibrated on {words['calibrated']}",
        interval=interval,
        calibrated=words["calibrated"],
        claim=words["claim"],
        stated=read(".stated", given["stated"]) if "stated" in given else None,
    )


def part(
    table: Table, schema: TableSchema, name: str, path: str, extra: Iterable[str] = ()
) -> dict[str, Read]:
    """Every value of a table by its key; UsageError for an unknown key and for a wrong value."""
    table.check_keys([*schema.keys, "source", *extra], f"[{name}]" if not schema.rows else f"a [[{name}]]")
    found: dict[str, Read] = {}
    for key, kind in schema.keys.items():
        if key not in table.data:
            continue
        if kind.number:
            found[key] = number(table, key, kind, f"{path}.{key}")
        else:
            found[key] = table.need(key, kind.read, name)
    return found


def _word(table: Table, given: dict[str, object], key: str, word: str, path: str) -> str | None:
    """A text beside a value, or None."""
    if word not in given:
        return None
    try:
        return text(given[word])
    except UsageError as problem:
        raise table.error(f"{path}.{word}: {problem}", key) from None


def _ends(table: Table, given: dict[str, object], key: str, path: str) -> list[object]:
    """The two ends of the interval, or none."""
    ends = given.get("interval", [])
    if not isinstance(ends, list) or ("interval" in given and len(ends) != 2):
        raise table.error(f'{path}.interval is a pair like ["1.2 us", "1.4 us"], but got {ends!r}', key)
    return ends


def _interval(ends: list[Any]) -> tuple[float, float] | None:
    """A pair, the smaller one first."""
    return (min(ends), max(ends)) if ends else None


def _holds(interval: tuple[Any, Any], value: Any) -> bool:
    """Whether a number lies within its interval, or so near an end that only its form differs."""
    if isinstance(value, tuple):
        return True
    low, high = interval
    return low <= value <= high or any(isclose(value, end) for end in interval)


def _shown(value: object, ends: list[object]) -> str:
    """A value as it is written, a grid with crosses, and its interval."""
    plain = " x ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{plain} [{ends[0]}, {ends[1]}]" if ends else plain
