"""Where the records come from: the host, the libraries and the plan, from the runs' provenance.

A provenance is a table of facts, possibly of tables; whatever it holds is shown. A few facts that people look
for first are also told under the page's title, under whichever of the usual names they stand.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from leadline.core import units
from leadline.core.json_types import JsonObject
from leadline.report.words import coordinates

# Told elsewhere on the page, or too long for a line.
APART = ("plan_text", "benchmarks", "described")
# A described machine's, of which there are many: folded, each as a group.
_LONG = {"numbers": "machine: every number, and where it is from", "sources": "machine: sources in full"}
_UNITS = {"clock › ": "s"}  # of the fractions in a table
_HEADINGS = {"mpis": "MPI", "kinds": "launched"}
_NAMING = 5  # a launch is told by its MPI, stack, protocol, placement and ranks
_MOST = 16  # words of a list
# Under which key, in whichever nested table, the facts stand that people look for first.
_KEYS = {
    "host": ("hostname", "host", "node"),
    "cpu": ("cpu", "cpu_model", "processor"),
    "kernel": ("kernel",),
}


@dataclass(frozen=True)
class Fact:
    """A fact of the provenance, its place in nested tables told by " › "."""

    name: str
    value: str


@dataclass(frozen=True)
class FactGroup:
    """Facts that belong together; `title` is empty for those of the run itself."""

    title: str
    facts: list[Fact]


@dataclass(frozen=True)
class Origin:
    """A run's facts, those of the machine and the run in view and those of each launch folded; and its
    plan.
    """

    name: str
    groups: list[FactGroup]
    folded: list[FactGroup]
    plan: str


def origins(provenances: Sequence[JsonObject]) -> list[Origin]:
    """The origin of every run, named by the run."""
    return [
        Origin(
            str(provenance.get("run") or f"run {place}"),
            list(_groups(provenance)),
            [
                group
                for key, value in provenance.items()
                if key not in APART and _is_tables(value)
                for group in _each(_HEADINGS.get(key, _words(key)), value)
            ]
            + [
                FactGroup(title, list(_facts(table)))
                for key, title in _LONG.items()
                if isinstance(table := provenance.get(key), Mapping)
            ],
            str(provenance.get("plan_text") or ""),
        )
        for place, provenance in enumerate(provenances, start=1)
    ]


def _groups(provenance: JsonObject) -> Iterator[FactGroup]:
    """The run's own facts, then those of each table in it."""
    told = {key: value for key, value in provenance.items() if key not in (*APART, *_LONG)}
    own = {
        key: value for key, value in told.items() if not isinstance(value, Mapping) and not _is_tables(value)
    }
    if facts := list(_facts(own)):
        yield FactGroup("", facts)
    for key, value in told.items():
        if isinstance(value, Mapping) and (facts := list(_facts(value))):
            yield FactGroup(_words(key), facts)


def _each(heading: str, tables: Sequence[JsonObject]) -> Iterator[FactGroup]:
    """A group for each of several tables, named by its "id" or by the words that it begins with."""
    for table in tables:
        scalars = [key for key, value in table.items() if isinstance(value, (str, int))][:_NAMING]
        name = str(table["id"]) if "id" in table else coordinates(table, scalars)
        yield FactGroup(f"{heading}: {name}", list(_facts(table)))


def _facts(table: JsonObject, within: str = "") -> Iterator[Fact]:
    """The facts of a table and of those nested in it; what is empty is left out."""
    for key, value in table.items():
        # Inside a table the keys are names of somebody else's variables.
        name = f"{within}{key}" if within else _words(key)
        if isinstance(value, Mapping):
            yield from _facts(value, f"{name} › ")
        elif _is_tables(value):
            yield from (Fact(f"{name} › {place}", _line(each)) for place, each in enumerate(value))
        elif isinstance(value, list) and value:
            # Of a program's ranks, B that each had at most.
            told = [units.format_bytes(each) if key == "memory" else str(each) for each in value]
            yield Fact(name, " ".join(told) if key == "command" else ", ".join(_few(told)))
        elif value not in (None, "", []):
            unit = _UNITS.get(within, "1")
            yield Fact(name, units.format_quantity(value, unit) if isinstance(value, float) else str(value))


def _few(words: list[str]) -> list[str]:
    """As they are, or of more than sixteen the different ones, and no more of these than that."""
    if len(words) <= _MOST:
        return words
    different = list(dict.fromkeys(words))
    rest = len(different) - _MOST
    return [*different[:_MOST], f"and {rest:,} more"] if rest > 0 else different


def _line(table: JsonObject) -> str:
    """A small table in one line: "host a, core 3"."""
    return ", ".join(f"{_words(key)} {value}" for key, value in table.items() if value not in (None, ""))


def _words(key: str) -> str:
    return key.replace("_", " ")


def _is_tables(value: object) -> TypeGuard[Sequence[JsonObject]]:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def look_up(provenance: JsonObject, what: str) -> str:
    """A fact that people look for first ("host", "cpu", "kernel"); empty where it is not told."""
    tables: list[JsonObject] = [provenance]
    for table in tables:  # grows as nested tables are found: the outermost fact wins
        for key in _KEYS[what]:
            found = table.get(key)
            if isinstance(found, Mapping):
                found = found.get("model") or found.get("name")
            if isinstance(found, str) and found:
                return found
        tables += [each for each in table.values() if isinstance(each, Mapping)]
    return ""
