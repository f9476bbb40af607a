"""A paper's claims as its file in `papers/` states them: what was found, and which values are accepted."""

from dataclasses import dataclass
from pathlib import Path

from leadline.core import paths, toml
from leadline.core.errors import UsageError, suggest
from leadline.core.toml import Key, Table, check_unique
from leadline.core.values import counts, text, word, words

CONSTANT, EXACT, VALUE, RATIO, PROPERTY = "constant", "exact", "value", "ratio", "property"
KINDS = (CONSTANT, EXACT, VALUE, RATIO, PROPERTY)

# What one unit of a claim is in SI units; bits are how the papers count bandwidth.
UNITS: dict[str, float] = {
    "us": 1e-6,
    "ms": 1e-3,
    "B": 1.0,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "Gb/s": 1e9 / 8,
    "": 1.0,
}


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"this is a number, but got {value!r}")
    return value


def _numbers(value: object) -> float | tuple[float, ...]:
    return tuple(map(_number, value)) if isinstance(value, list) else _number(value)


def _band(value: object) -> tuple[float, float]:
    """The least and the largest accepted value."""
    ends = [_number(each) for each in value] if isinstance(value, list) else []
    if len(ends) != 2 or ends[0] > ends[1]:
        raise UsageError(f"a band is the least and the largest accepted value, but got {value!r}")
    return ends[0], ends[1]


_CLAIM = {
    "id": Key(text),
    "kind": Key(word(KINDS)),
    "quantity": Key(text, ""),
    "check": Key(text, ""),
    "expect": Key(_numbers, None),
    "band": Key(_band, None),
    "tolerance_rel": Key(_number, None),  # of an exact claim: the largest relative deviation of its numbers
    "unit": Key(word(UNITS), ""),
    "basis": Key(text, ""),
    "needs": Key(text, ""),
    "missed": Key(text, ""),
}
_RUN = {
    "plan": Key(text, ""),
    "machine": Key(text),
    "kernels": Key(words(), ()),
    "ranks": Key(counts, ()),
}


@dataclass(frozen=True)
class Claim:
    """One finding of a paper; `expect` and `band` are in `unit`."""

    id: str
    kind: str
    what: str  # the quantity, or for a property the check in words
    expect: float | tuple[float, ...] | None  # several: its function says whether they are met
    band: tuple[float, float] | None
    unit: str
    basis: str  # where in the paper it stands
    needs: str  # what is missing to compute it; empty where nothing is
    missed: str  # why it is missed, once that is known


@dataclass(frozen=True)
class Experiment:
    """A plan and the machine on which it is run, or kernels whose output goes to the machine's storage."""

    plan: str  # empty where kernels are named
    machine: str
    kernels: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper: its claims and the experiments by which they are checked."""

    name: str
    title: str
    authors: str
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim, ...]

    @classmethod
    def load(cls, path: Path) -> "Paper":
        """Read a file of claims; UsageError, naming file and claim, for what a person can get wrong."""
        document = toml.read(path, "paper")
        document.top.check_keys(["title", "authors", "run", "claim"], "a paper")
        claims, runs = document.rows("claim"), document.rows("run")
        if not claims or not runs:
            raise document.top.error("a paper has at least one [[claim]] and one [[run]]")
        check_unique(claims, "id", "the claim")
        return cls(
            name=path.stem,
            title=document.top.get("title", text, path.stem),
            authors=document.top.get("authors", text, ""),
            experiments=tuple(map(_experiment, runs)),
            claims=tuple(map(_claim, claims)),
        )


def shipped() -> dict[str, Path]:
    """The papers that come with Leadline, by name: those of the package, or of its checkout."""
    return paths.shipped("papers")


def find(name: str) -> Paper:
    """The shipped paper of that name; UsageError where there is none."""
    known = shipped()
    if name not in known:
        raise UsageError(f"no paper {name!r}{suggest(name, known)}")
    return Paper.load(known[name])


def _experiment(table: Table) -> Experiment:
    """One `[[run]]`."""
    found = Experiment(**table.read(_RUN, "a [[run]]"))
    if bool(found.plan) == bool(found.kernels and found.ranks):
        raise table.error("a [[run]] has a machine, and a plan or kernels with ranks")
    return found


def _claim(table: Table) -> Claim:
    """One `[[claim]]`."""
    found = table.read(_CLAIM, "a [[claim]]")
    quantity, check, tolerance = (found.pop(key) for key in ("quantity", "check", "tolerance_rel"))
    if tolerance is not None:
        found["band"] = (0.0, tolerance)
    claim = Claim(**found, what=quantity or check)
    if claim.kind not in (PROPERTY, EXACT, CONSTANT) and claim.band is None and claim.expect is None:
        raise table.error(f"the claim {claim.id} of kind {claim.kind} has a value to expect, or a band")
    return claim
