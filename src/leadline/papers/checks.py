"""How each claim is computed: the functions of a paper's file, found by the claim that they name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc
from math import log
from pathlib import Path
from pkgutil import iter_modules

from leadline.core.errors import LeadlineError
from leadline.papers.results import Results


@dataclass(frozen=True)
class Shape:
    """What a property came to: whether it holds, the number that decides it, and that number in words."""

    holds: bool
    value: float
    says: str


Check = Callable[[Results], float | Shape]

_CHECKS: dict[str, Check] = {}


def claim(identity: str) -> Callable[[Check], Check]:
    """Enter a function under its claim.

    It gives the value in SI units, or a Shape for a property; its docstring says how it is computed and is
    printed beside the value.
    """

    def enter(check: Check) -> Check:
        if _CHECKS.setdefault(identity, check) is not check:
            raise LeadlineError(f"the claim {identity} has two functions")
        return check

    return enter


def checks(paper: str) -> Mapping[str, Check]:
    """The functions of a paper's claims: those of the files here whose names begin with its own."""
    for found in iter_modules([str(Path(__file__).parent / "claims")]):
        if found.name.partition("_")[0] == paper:
            import_module(f"{__package__}.claims.{found.name}")
    return {name: check for name, check in _CHECKS.items() if name.startswith(f"{paper}.")}


def how(check: Check) -> str:
    """How a claim is computed, in a sentence or two."""
    return " ".join(cleandoc(check.__doc__ or "").split())


def farthest(values: Iterable[float], expected: float) -> float:
    """Of several values that a claim is about, the one that is off by the largest factor."""
    return max(values, key=lambda value: abs(log(value / expected)) if value > 0 else float("inf"))
