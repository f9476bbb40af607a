"""How a table names what its rows are about: only what differs between them, in the field's words."""

from collections.abc import Iterable, Mapping, Sequence

from leadline.core.units import format_bytes


def differing(rows: Sequence[Mapping[str, object]], names: Iterable[str]) -> list[str]:
    """Those of `names` that do not have the same value in all of `rows`."""
    return [name for name in names if len({row.get(name) for row in rows}) > 1]


def words(row: Mapping[str, object], names: Iterable[str]) -> str:
    """The values of `names` in `row`: "openmpi-4.1.4, sockets, 64 KiB, window 64".

    What is null or "default" goes without saying, and so does a word that was said, as of a metric that has
    its benchmark's name.
    """
    told = [_word(name, row[name]) for name in names if row.get(name) not in (None, "default")]
    return ", ".join(dict.fromkeys(told))


def _word(name: str, value: object) -> str:
    """One value: sizes with their unit, other numbers with their name, words as they are."""
    if isinstance(value, int):
        return format_bytes(value) if name == "bytes" else f"{name} {value}"
    return str(value) if value not in ("on", "off", "both") else f"{name} {value}"
