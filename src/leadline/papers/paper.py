"""A paper's claims as its file in `papers/` states them: what was found, and which values are accepted."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.core import paths
from leadline.core.errors import UsageError, suggest

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

_KEYS = {"id", "kind", "quantity", "check", "expect", "band", "unit", "basis", "needs", "missed"}
_KEYS |= {"tolerance_rel"}  # of an exact claim: the largest relative deviation of any of its numbers


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
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise UsageError(f"cannot read the claims {path}: {problem}") from None
        claims = tuple(_claim(each, path) for each in data.get("claim", []))
        names = [each.id for each in claims]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"{path}: the claim {twice} stands in it twice")
        runs = data.get("run", [])
        if not claims or not runs:
            raise UsageError(f"{path}: a paper has at least one [[claim]] and one [[run]]")
        return cls(
            name=path.stem,
            title=str(data.get("title", path.stem)),
            authors=str(data.get("authors", "")),
            experiments=tuple(_experiment(each, path) for each in runs),
            claims=claims,
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


def _experiment(table: Mapping[str, Any], path: Path) -> Experiment:
    """One `[[run]]`."""
    kernels, ranks = tuple(table.get("kernels", ())), tuple(table.get("ranks", ()))
    if "machine" not in table or ("plan" in table) == bool(kernels and ranks):
        raise UsageError(f"{path}: a [[run]] has a machine, and a plan or kernels with ranks")
    return Experiment(table.get("plan", ""), table["machine"], kernels, ranks)


def _claim(table: Mapping[str, Any], path: Path) -> Claim:
    """One `[[claim]]`."""
    where = f"{path}: {table.get('id', 'a claim without an id')}"
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"{where}: unknown key {key!r}{suggest(key, _KEYS)}")
    kind, unit, band = table.get("kind"), table.get("unit", ""), table.get("band")
    expect = table.get("expect")
    if "tolerance_rel" in table:
        band = [0.0, table["tolerance_rel"]]
    if "id" not in table or kind not in KINDS:
        raise UsageError(f"{where}: a claim has an id and a kind out of {', '.join(KINDS)}, got {kind!r}")
    if unit not in UNITS:
        raise UsageError(f"{where}: unknown unit {unit!r}{suggest(unit, UNITS)}")
    if band is not None and not (len(band) == 2 and band[0] <= band[1]):
        raise UsageError(f"{where}: a band is the least and the largest accepted value, got {band!r}")
    if kind not in (PROPERTY, EXACT, CONSTANT) and band is None and expect is None:
        raise UsageError(f"{where}: a claim of kind {kind} has a value to expect, or a band")
    return Claim(
        id=table["id"],
        kind=kind,
        what=table.get("quantity") or table.get("check", ""),
        expect=tuple(expect) if isinstance(expect, list) else expect,
        band=(band[0], band[1]) if band is not None else None,
        unit=unit,
        basis=table.get("basis", ""),
        needs=table.get("needs", ""),
        missed=table.get("missed", ""),
    )
