"""What the first screen says in sentences: who is fast, by how much, and whether that can be believed."""

from collections.abc import Sequence
from itertools import groupby

from leadline import units
from leadline.report.costs import Cost
from leadline.report.subject import Row


def verdicts(costs: Sequence[Cost]) -> list[str]:
    """Sentences on latency, bandwidth and protocol switches; comparisons only where intervals are apart."""
    said = [_latency(costs), _bandwidth(costs), _switches(costs)]
    return [sentence for sentence in said if sentence]


def _latency(costs: Sequence[Cost]) -> str:
    """The least latency, and how the others compare with it."""
    rows = [(cost.name, cost.latency) for cost in costs if cost.latency is not None]
    # Only equal sizes can be compared; the first series says which size that is.
    rows = [(name, row) for name, row in rows if row["bytes"] == rows[0][1]["bytes"]]
    if not rows:
        return ""
    rows.sort(key=lambda each: each[1]["value"])
    name, least = rows[0]
    size = units.format_bytes(least["bytes"])
    told = units.format_quantity(least["value"], least["unit"], least.get("low"), least.get("high"))
    sentence = f"A message of {size} takes {told} with {name}"
    return f"{sentence}{_compared(rows, 'as long')}."


def _compared(rows: Sequence[tuple[str, Row]], words: str) -> str:
    """How rows 1, 2, ... compare with row 0: a factor where the intervals are apart, else that they are
    not.
    """
    if len(rows) == 1:
        return ""
    first = rows[0][1]
    kinds = [(name, factor(first, row)) for name, row in rows[1:]]
    apart = [f"{ratio:.2g} times {words} with {name}" for name, ratio in kinds if ratio is not None]
    alike = [name for name, ratio in kinds if ratio is None]
    told = "".join(f"; {each}" for each in apart)
    if alike:
        told += f"; {_listed(alike)} cannot be told from it"
    return told


def factor(first: Row, other: Row) -> float | None:
    """How many times the larger of two values is the smaller, or null where their intervals overlap.

    Without intervals (one launch each) nothing can be told apart.
    """
    small, large = sorted((first, other), key=lambda row: float(row["value"]))
    if small.get("high") is None or large.get("low") is None or large["low"] <= small["high"]:
        return None
    return float(large["value"] / small["value"]) if small["value"] > 0 else None


def _bandwidth(costs: Sequence[Cost]) -> str:
    """The highest streamed bandwidth, and how the others compare; else the highest fitted one."""
    rows = [(cost.name, cost.streamed) for cost in costs if cost.streamed is not None]
    if rows:
        rows.sort(key=lambda each: -each[1]["value"])
        name, most = rows[0]
        told = units.format_quantity(most["value"], most["unit"], most.get("low"), most.get("high"))
        rest = _compared_down(rows)
        return f"Streams of messages move at up to {told} with {name}{rest}."
    fitted = [(cost.name, cost.fit.parameter("bandwidth")) for cost in costs if cost.fit is not None]
    found = [(name, each) for name, each in fitted if each is not None and each.flag is None]
    if not found:
        return ""
    name, parameter = max(found, key=lambda each: each[1].value)
    told = units.format_quantity(parameter.value, parameter.unit, parameter.low, parameter.high)
    return f"Large messages approach {told} with {name}."


def _compared_down(rows: Sequence[tuple[str, Row]]) -> str:
    """How slower rows compare with row 0: "; 0.72 of that with openmpi"."""
    said = []
    alike = []
    for name, row in rows[1:]:
        ratio = factor(rows[0][1], row)
        if ratio is None:
            alike.append(name)
        else:
            said.append(f"; {100 / ratio:.0f} % of that with {name}")
    if alike:
        said.append(f"; {_listed(alike)} cannot be told from it")
    return "".join(said)


def _switches(costs: Sequence[Cost]) -> str:
    """At which sizes each library changes its way of sending."""
    said = []
    for cost in costs:
        if cost.switches:
            said.append(f"with {cost.name} at {_listed([each.told() for each in cost.switches])}")
    return f"The protocol switches {'; '.join(said)}." if said else ""


def _listed(words: Sequence[str]) -> str:
    """Words in a row: "a, b and c", each said once."""
    unique = [word for word, _ in groupby(words)]
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}"
