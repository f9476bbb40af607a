"""What came of a claim: reached, missed, or why that cannot be said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leadline.papers.checks import Check, Shape, checks, how
from leadline.papers.paper import CONSTANT, PROPERTY, UNITS, Claim, Paper
from leadline.papers.results import AbsentError, Constant, Results

REACHED = "reached"
MISSED = "missed"
CALIBRATED = "calibrated"  # within the band, but a constant was set by it: no reproduction
UNCOVERED = "not covered yet"
STATES = (REACHED, MISSED, CALIBRATED, UNCOVERED)

_DIGITS = 1e-9  # two numbers that are meant to be the same may differ by arithmetic, no more


@dataclass(frozen=True)
class Outcome:
    """A claim with its value, in the claim's unit, and its state; `why` is a sentence for all but reached."""

    claim: Claim
    state: str
    value: float | None = None
    says: str = ""  # a property's value in words
    why: str = ""
    how: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether it counts as reproduced; None where that is not for the simulation to say."""
        return {REACHED: True, MISSED: False}.get(self.state)


def judge(paper: Paper, results: Results) -> list[Outcome]:
    """The outcome of every claim of a paper, in the paper's order."""
    known = checks(paper.name)
    return [_judge(each, known, results) for each in paper.claims]


def counts(outcomes: Sequence[Outcome]) -> Mapping[str, int]:
    """How many claims are in each state."""
    return {state: sum(each.state == state for each in outcomes) for state in STATES}


def _judge(claim: Claim, known: Mapping[str, Check], results: Results) -> Outcome:
    if claim.kind == CONSTANT and claim.id not in known:
        return _constant(claim, results.machines.constants.get(claim.id))
    if claim.id not in known:
        return Outcome(claim, UNCOVERED, why=f"needs {claim.needs}")
    check = known[claim.id]
    try:
        answer = check(results)
    except AbsentError as problem:
        return Outcome(claim, MISSED, why=f"no value: {problem}", how=how(check))
    if isinstance(answer, Shape):
        worth, holds, says = answer.value, answer.holds, answer.says
    else:
        worth, says = answer / UNITS[claim.unit], ""
        holds = accepted(claim, worth)
    state = MISSED if not holds else REACHED
    why = claim.missed if state == MISSED else ""
    if state == REACHED and claim.id in results.machines.calibrated:
        state, why = CALIBRATED, "a constant of the machine was set by it"
    return Outcome(claim, state, worth, says, why, how(check))


def _constant(claim: Claim, found: Constant | None) -> Outcome:
    """A constant of the machine beside the one that the paper states."""
    if found is None:
        return Outcome(claim, MISSED, why=claim.missed or "no number of the machine names this claim")
    worth = found.value / UNITS[claim.unit]
    told = f"The number {found.key} of the machine {found.machine}, an input of the simulation."
    state = REACHED if accepted(claim, worth) else MISSED
    return Outcome(claim, state, worth, why=claim.missed if state == MISSED else "", how=told)


def accepted(claim: Claim, value: float) -> bool:
    """Whether a value, in the claim's unit, lies in the band, ends included; without one, is the expected."""
    if claim.kind == PROPERTY:
        raise ValueError(f"{claim.id} is a property: its function says whether it holds")
    if claim.band is not None:
        low, high = claim.band
        return low * (1 - _DIGITS) <= value <= high * (1 + _DIGITS)
    if not isinstance(claim.expect, int | float):
        raise ValueError(f"{claim.id} has no one number: its function says whether it is met")
    return abs(value - claim.expect) <= _DIGITS * abs(claim.expect)
