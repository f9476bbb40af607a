"""Broken guidelines as people are told them: a table for each MPI, and what to make of it."""

from collections.abc import Iterable, Sequence

from leadline.analysis.guidelines.judge import BROKEN, STATES, SUSPECTED, UNDECIDED, Finding, Verdict
from leadline.analysis.guidelines.rules import GUIDELINES
from leadline.analysis.guidelines.terms import PLAIN, USUAL
from leadline.core.axes import AXES
from leadline.core.formatting import ratio_text
from leadline.core.units import format_bytes, format_quantity

COLUMNS = {
    "guideline": "guideline",
    "point": "operation",
    "size": "size",
    "against": "slower than",
    "ratio": "ratio, 95 %",
    "time": "time",
    "other": "time of the other",
}
# What names a table, beside the MPI, where it is not the usual.
_NAMING = tuple(name for name in AXES if name not in ("mpi", "ranks"))


def tables(findings: Iterable[Finding]) -> dict[str, list[dict[str, str]]]:
    """Rows with quantities in words, by the kind of launch that they were measured in."""
    found: dict[str, list[dict[str, str]]] = {}
    findings = list(findings)
    several = len({each.context.get("run") for each in findings}) > 1
    for each in findings:
        found.setdefault(_place(each, several), []).append(_row(each))
    return dict(sorted(found.items()))


def sentences(verdict: Verdict) -> list[str]:
    """How many comparisons there were, what stands among so many, and what was not asked."""
    if not verdict.findings:
        return [
            "No guideline can be checked: each compares two operations, and this run measured no such "
            "pair; 'leadline run guidelines' measures all of them."
        ]
    count = len(verdict.findings)
    tested = sum(each.low is not None for each in verdict.findings)
    said = [f"{count} comparison{'s' if count > 1 else ''}: {_counts(verdict)}."]
    if tested:
        said.append(
            "Broken: the whole interval of the ratio lies beyond the guideline's floor, and at most one in "
            f"twenty runs has a false call. Were all {tested} just at their floors, chance alone would "
            f"put about {_about(verdict.by_chance)} beyond."
        )
    if verdict.count(SUSPECTED):
        said.append(
            f"{verdict.count(SUSPECTED)} more are beyond it by themselves, but among {tested} comparisons "
            "they may be chance: more launches would tell."
        )
    if verdict.count(UNDECIDED):
        said.append(f"{verdict.count(UNDECIDED)} have too few launches: 4 against 4 are the fewest.")
    return [*said, *_unasked(verdict)]


def meanings(findings: Sequence[Finding]) -> list[dict[str, str]]:
    """What the guidelines of some findings say, and where they are from."""
    named = {each.guideline.id for each in findings}
    return [
        {"guideline": each.id, "says": each.says, "source": each.source}
        for each in GUIDELINES
        if each.id in named
    ]


def _counts(verdict: Verdict) -> str:
    """Each outcome that there was with its number."""
    counts = {state: verdict.count(state) for state in STATES}
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count or state == BROKEN)


def _about(number: float) -> str:
    """A number of comparisons without digits that mean nothing."""
    return "none" if number < 0.5 else f"{number:.0f}"


def _unasked(verdict: Verdict) -> list[str]:
    """The guidelines that nothing was measured for."""
    if not verdict.unasked:
        return []
    return [f"Not asked by this run: {', '.join(each.id for each in verdict.unasked)}."]


def _place(each: Finding, several: bool) -> str:
    """The kind of launch in words: "mpich-4.0.2, 2 ranks"."""
    context = each.context
    words = [str(context["mpi"])]
    words += [
        f"{name} {context[name]}" for name in _NAMING if context.get(name) not in (None, "default", "auto")
    ]
    words.append(f"{context['ranks']} rank{'' if context['ranks'] == 1 else 's'}")
    return ", ".join([str(context["run"])] * several + words)


def _row(each: Finding) -> dict[str, str]:
    """A finding in words."""
    values = {
        name: value
        for name, value in each.values.items()
        if name != "bytes" and name not in PLAIN and value != USUAL.get(name)
    }
    shown = [str(value) if isinstance(value, str) else f"{name} {value}" for name, value in values.items()]
    size = each.values.get("bytes")
    return {
        "guideline": each.guideline.id,
        "point": " ".join([each.operation, *shown]),
        "size": "" if size is None else format_bytes(size),
        "against": each.against,
        "ratio": ratio_text(each.ratio, each.low, each.high),
        "time": format_quantity(each.time, "s", *(each.time_interval or (None, None))),
        "other": format_quantity(each.other, "s", *(each.other_interval or (None, None))),
    }
