"""What a claim is computed from: the points of the experiments' runs, and the machines they were run on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

import polars as pl

from leadline.analysis.summary import summarise
from leadline.core.record import OK, Row


class AbsentError(Exception):
    """A point that a claim needs and no run has, with the reason where a record gives one."""


@dataclass(frozen=True)
class Constant:
    """A number of a machine that a claim states, in SI units."""

    value: float
    machine: str
    key: str


@dataclass(frozen=True)
class Machines:
    """What the claims must know of the machines.

    `constants` by the claim that states them; `calibrated` are the claims by which some constant was set;
    `descriptions` are the machines as the simulator reads them (native/machine/description.cpp), by name.
    """

    constants: Mapping[str, Constant] = field(default_factory=dict)
    calibrated: frozenset[str] = frozenset()
    descriptions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """Records and machines, and how a claim asks them for values in SI units."""

    records: pl.DataFrame
    machines: Machines = field(default_factory=Machines)

    @cached_property
    def rows(self) -> list[Row]:
        """One row a point, as `leadline.analysis.summary` makes them; mappings from files by the files'
        names.
        """
        return [
            {**row, "mapping": _mapping(row.get("mapping"))}
            for row in summarise(self.records).rows(named=True)
        ]

    def value(self, benchmark: str, metric: str, **where: object) -> float:
        """The value at the one point that `where` describes."""
        found = self._points(benchmark, metric, where)
        if len(found) > 1:
            said = ", ".join(f"{key}={value}" for key, value in where.items())
            raise ValueError(f"{len(found)} points of {benchmark} are {said}: a claim must name one")
        return float(found[0]["value"])

    def curve(self, benchmark: str, metric: str, along: str, **where: object) -> dict[int, float]:
        """The values along one coordinate, by its value, in its order."""
        found = self._points(benchmark, metric, where)
        curve = {row[along]: float(row["value"]) for row in found if row[along] is not None}
        if len(curve) != len(found):
            raise ValueError(f"{len(found)} points of {benchmark} lie on {len(curve)} values of {along}")
        return dict(sorted(curve.items()))

    def all(self, benchmark: str, metric: str, **where: object) -> list[float]:
        """The values at all points that `where` describes."""
        return [float(row["value"]) for row in self._points(benchmark, metric, where)]

    def values(self, benchmark: str, coordinate: str, **where: object) -> list[int]:
        """The values that a coordinate of a benchmark takes at the points of `where`, in order."""
        asked = [row for row in self.rows if row["benchmark"] == benchmark and _fits(row, where)]
        if not asked:
            raise AbsentError(_why(asked, benchmark, where))
        return sorted({row[coordinate] for row in asked})

    def peak(self, benchmark: str, metric: str, **where: object) -> float:
        """The largest value at all points that `where` describes."""
        return max(self.all(benchmark, metric, **where))

    def constant(self, claim: str) -> float:
        """The number of the machine that a claim of kind constant states."""
        if claim not in self.machines.constants:
            raise AbsentError(f"no number of the machine names the claim {claim}")
        return self.machines.constants[claim].value

    def _points(self, benchmark: str, metric: str, where: Mapping[str, object]) -> list[Row]:
        """The points that ran; AbsentError where there is none."""
        asked = [row for row in self.rows if row["benchmark"] == benchmark and _fits(row, where)]
        found = [row for row in asked if row["status"] == OK and row["metric"] == metric]
        if not found:
            raise AbsentError(_why(asked, benchmark, where))
        return found


def _mapping(word: str | None) -> str | None:
    """A mapping without the place of its file: "bgp-hops" for "mappings/bgp-hops.txt"."""
    return PurePath(word).stem if word and "/" in word else word


def _fits(row: Row, where: Mapping[str, object]) -> bool:
    """Whether a row has the values that are asked for; a list or a range means any of them."""
    return all(
        row.get(key) in wanted if isinstance(wanted, list | tuple | range | set) else row.get(key) == wanted
        for key, wanted in where.items()
    )


def _why(asked: Sequence[Row], benchmark: str, where: Mapping[str, object]) -> str:
    """Why a point has no value: what its record says, or that there is none."""
    reasons = [row["reason"] for row in asked if row["status"] != OK and row["reason"]]
    if reasons:
        return str(reasons[0])
    said = ", ".join(f"{key}={value}" for key, value in where.items())
    return f"the run has no point of {benchmark}" + (f" with {said}" if said else "")
