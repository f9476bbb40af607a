"""What the first screen says in sentences: who is fast, by how much, and whether that can be believed."""

from collections import Counter
from collections.abc import Callable, Sequence

from leadline.core import units
from leadline.core.record import OK, Row
from leadline.report.costs import Cost

_SINGLY = 3  # comparisons that a sentence can hold
FAR = 1.1  # a ratio that two digits can tell from 1


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
    others = _compared(rows, lambda ratio: f"{ratio:.{2 if ratio >= FAR else 3}g}", "times as long")
    if least.get("meaningless"):
        return (
            f"How long a message of {size} takes cannot be told: launches differ too much, by other work or "
            "by states of the machine."
        )
    return f"A message of {size} takes {told} with {name}{others}."


def _compared(rows: Sequence[tuple[str, Row]], tell: Callable[[float], str], words: str) -> str:
    """How rows 1, 2, ... compare with row 0: by a factor where the intervals are apart.

    `tell` says a factor, `words` what follows it. Many rows are told by their range.
    """
    found = [(name, factor(rows[0][1], row)) for name, row in rows[1:]]
    apart = [(name, ratio) for name, ratio in found if ratio is not None]
    alike = [name for name, ratio in found if ratio is None]
    if len(apart) > _SINGLY:
        ratios = [ratio for _, ratio in apart]
        told = f"; {len(apart)} others {tell(min(ratios))} to {tell(max(ratios))} {words}"
    else:
        told = "".join(f"; {tell(ratio)} {words} with {name}" for name, ratio in apart)
    if alike:
        those = _listed(alike) if len(alike) <= _SINGLY else f"{len(alike)} others"
        told += f"; {those} cannot be distinguished from it"
    return told


def factor(first: Row, other: Row) -> float | None:
    """How many times the larger of two values is the smaller, or null where their intervals overlap.

    Without intervals (one launch each) nothing can be told apart, unless a value is exact.
    """
    small, large = sorted((first, other), key=lambda row: float(row["value"]))
    high = small["value"] if small.get("exact") else small.get("high")
    low = large["value"] if large.get("exact") else large.get("low")
    if high is None or low is None or low <= high:
        return None
    return float(large["value"] / small["value"]) if small["value"] > 0 else None


def _bandwidth(costs: Sequence[Cost]) -> str:
    """The highest streamed bandwidth, and how the others compare; else the highest fitted one."""
    rows = [(cost.name, cost.streamed) for cost in costs if cost.streamed is not None]
    if rows:
        rows.sort(key=lambda each: -each[1]["value"])
        name, most = rows[0]
        told = units.format_quantity(most["value"], most["unit"], most.get("low"), most.get("high"))
        others = _compared(rows, lambda ratio: f"{100 / ratio:.0f} %", "of that")
        return f"Streams of messages move at up to {told} with {name}{others}."
    fitted = [(cost.name, cost.fit.parameter("bandwidth")) for cost in costs if cost.fit is not None]
    found = [(name, each) for name, each in fitted if each is not None and each.flag is None]
    if not found:
        return ""
    name, parameter = max(found, key=lambda each: each[1].value)
    told = units.format_quantity(parameter.value, parameter.unit, parameter.low, parameter.high)
    return f"Large messages approach {told} with {name}."


def _switches(costs: Sequence[Cost]) -> str:
    """At which sizes each library changes its way of sending; those that agree are told together."""
    series: dict[str, list[str]] = {}
    for cost in costs:
        if cost.switches:
            series.setdefault(_listed([each.told() for each in cost.switches]), []).append(cost.name)
    if not series:
        return ""
    if len(series) > _SINGLY:
        return "The protocol switches at sizes that differ; they stand with each series."
    said = [f"at {sizes} with {_listed(names)}" for sizes, names in series.items()]
    return f"The protocol switches {'; '.join(said)}."


def unmeasured(rows: Sequence[Row]) -> list[str]:
    """A sentence for each library with which nothing at all could be measured, with the commonest reason."""
    measured = {row["mpi"] for row in rows if row["status"] == OK}
    reasons: dict[str, Counter[str]] = {}
    for row in rows:
        if row.get("mpi") and row["mpi"] not in measured:
            reasons.setdefault(row["mpi"], Counter())[row["reason"] or "no reason was recorded"] += 1
    return [
        f"Nothing could be measured with {mpi}: {counted.most_common(1)[0][0].rstrip('.')}."
        for mpi, counted in reasons.items()
    ]


def _listed(words: Sequence[str]) -> str:
    """Words in a row: "a, b and c", each said once."""
    unique = list(dict.fromkeys(words))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}"
