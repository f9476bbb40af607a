"""Where the records come from: the host, the libraries and the plan, from the runs' provenance.

A provenance is a table of facts, possibly of tables; whatever it holds is shown. A few facts that people look
for first are also told under the page's title, under whichever of the usual names they stand.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Told elsewhere on the page, or too long for a line.
APART = ("plan_text", "benchmarks")
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
class Origin:
    """A run's facts and its plan, as text."""

    name: str
    facts: list[Fact]
    plan: str


def origins(provenances: Sequence[Mapping[str, Any]]) -> list[Origin]:
    """The origin of every run, named by the run."""
    return [
        Origin(
            str(provenance.get("run") or f"run {place}"),
            [
                Fact(name, value)
                for key, fact in provenance.items()
                if key not in APART
                for name, value in _facts(key.replace("_", " "), fact)
            ],
            str(provenance.get("plan_text") or ""),
        )
        for place, provenance in enumerate(provenances, start=1)
    ]


def _facts(name: str, fact: Any) -> Iterator[tuple[str, str]]:
    """A fact, or those of a nested table; what is empty is left out."""
    if isinstance(fact, Mapping):
        for key, inner in fact.items():
            yield from _facts(f"{name} › {str(key).replace('_', ' ')}", inner)
    elif isinstance(fact, list):
        if any(isinstance(each, (Mapping, list)) for each in fact):
            for place, inner in enumerate(fact):
                yield from _facts(f"{name} › {place}", inner)
        elif fact:
            yield name, ", ".join(str(each) for each in fact)
    elif fact not in (None, ""):
        yield name, str(fact)


def look_up(provenance: Mapping[str, Any], what: str) -> str:
    """A fact that people look for first ("host", "cpu", "kernel"); empty where it is not told."""
    tables: list[Mapping[str, Any]] = [provenance]
    for table in tables:  # grows as nested tables are found: the outermost fact wins
        for key in _KEYS[what]:
            found = table.get(key)
            if isinstance(found, Mapping):
                found = found.get("model") or found.get("name")
            if isinstance(found, str) and found:
                return found
        tables += [each for each in table.values() if isinstance(each, Mapping)]
    return ""
