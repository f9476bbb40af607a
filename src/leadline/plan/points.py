"""Points of a plan, and where they are run: what a plan's words mean on this machine or a described one."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from leadline.core.collectives import TUNED, called, members
from leadline.core.errors import UsageError
from leadline.core.record_files import PointKey, point_key
from leadline.core.units import format_bytes
from leadline.core.values import Value
from leadline.mpi.family import DEFAULT, EACH
from leadline.plan.settings import Launches, Settings
from leadline.programs.registry import Situation


class Site(Protocol):
    """Where the points of a plan are run."""

    @property
    def strict(self) -> bool:
        """Whether a point that two measurements ask for is a mistake."""

    def settings(self, asked: Settings) -> Settings:
        """What of a plan's settings holds here; UsageError for what cannot."""

    def mpis(self, word: str) -> Sequence[str]:
        """The identities that a plan's word for MPIs means."""

    def cores(self, partition: int | None) -> int:
        """How many ranks "cores" is."""

    def situation(self, ranks: int, partition: int | None) -> Situation:
        """What the default values of sweeps may depend on."""

    def collectives(self, words: Sequence[str], point: "Point") -> Sequence[str | None]:
        """Which algorithms of its library a point is asked with; None for the library's own choice."""


@dataclass(frozen=True)
class Here:
    """This machine.

    `resolve` turns a word for MPIs ("found", a family, an identity) into identities; `count` is how many
    ranks "cores" is, by default those that this process may use. `algorithms` gives the names of a library's
    algorithms, from its identity, an operation, ranks and bytes; `tuned` are the operations for which there
    are settings to be tried beside the library's own choice, by identity.
    """

    resolve: Callable[[str], Sequence[str]] = lambda mpi: [mpi]
    count: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    algorithms: Callable[[str, str, int, int], Sequence[str]] = lambda mpi, operation, ranks, size: ()
    tuned: Mapping[str, Collection[str]] = field(default_factory=dict)
    strict: ClassVar[bool] = True

    def settings(self, asked: Settings) -> Settings:
        """All of them, but those of described machines."""
        if key := next((key for key in ("mapping", "partition", "network") if getattr(asked, key)), None):
            raise UsageError(f"{key}: only a described machine has one; name it with --on")
        return asked

    def mpis(self, word: str) -> Sequence[str]:
        """The libraries found here."""
        return self.resolve(word)

    def cores(self, partition: int | None) -> int:
        """Those of this machine."""
        return self.count

    def situation(self, ranks: int, partition: int | None) -> Situation:
        """One node, as far as anybody knows before the ranks are started."""
        return Situation(ranks)

    def collectives(self, words: Sequence[str], point: "Point") -> Sequence[str | None]:
        """The words; "each" is every algorithm of the library that can do this operation.

        What no library lets one choose (other benchmarks, forms that do not block) is only asked by default.
        Settings that are tried stand in the place of forced algorithms.
        """
        found: list[str | None] = [None] if DEFAULT in words else []
        operation = called(point.benchmark, point.values)
        if operation is None:
            return found
        if self.tuned:
            return [*found, TUNED] if found and operation in self.tuned.get(point.mpi, ()) else found
        ranks = members(point.values.get("communicator"), point.ranks) or point.ranks
        for word in words:
            if word == EACH:
                found += self.algorithms(point.mpi, operation, ranks, int(point.values.get("bytes", 0)))
            elif word != DEFAULT:
                found.append(word)
        return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Point:
    """One benchmark at one value of each of its sweeps, in one kind of launch."""

    benchmark: str
    values: Mapping[str, Value]
    mpi: str
    stack: str
    protocol: str
    placement: str
    ranks: int
    oversubscribe: bool
    hosts: tuple[str, ...]
    agent: str | None
    launcher: str
    tolerance: float
    launches: Launches
    point_time: float
    point_limit: float
    time: float | None  # s, for all launches of all points of its measurement; None: no share of its own
    measure: int  # which measurement of the plan it belongs to
    headline: bool  # taken over many short launches
    mapping: str | None = None  # which rank sits where, on a described machine
    partition: int | None = None  # ranks of the part of a described machine that is used
    collectives: str | None = None  # the library's algorithm that is forced, or "tuned"
    progress: str | None = None  # "off" or "on": asynchronous progress

    @property
    def operation(self) -> str | None:
        """The operation whose algorithm is forced; None where none is."""
        return None if self.collectives in (None, TUNED) else called(self.benchmark, self.values)

    @property
    def shmem(self) -> bool:
        """Whether the point uses OpenSHMEM, which changes how the library must be set for a launch."""
        return any(str(value).endswith("-shmem") for value in self.values.values())

    @property
    def launch_key(self) -> tuple[object, ...]:
        """What must be the same in two points for them to share a launch."""
        return (
            *(self.mpi, self.stack, self.protocol, self.placement),
            *(self.ranks, self.oversubscribe, self.hosts, self.agent, self.launcher),
            *(self.shmem, self.mapping, self.partition),
            *(self.collectives, self.operation, self.progress),
        )

    @property
    def key(self) -> PointKey:
        """What tells this point's records from those of others (`leadline.core.record_files.point_key`)."""
        return point_key({**vars(self), **self.values}, self.values)

    def describe(self) -> str:
        """The point in a few words: "pingpong bytes=8 B buffers=reused, openmpi-4.1.4, 2 ranks"."""
        values = [
            f"{name}={format_bytes(value) if name == 'bytes' and isinstance(value, int) else value}"
            for name, value in self.values.items()
        ]
        axes = [each for each in (self.stack, self.protocol, self.placement) if each != "default"]
        axes += [f"collectives {self.collectives}"] if self.collectives else []
        axes += [f"progress {self.progress}"] if self.progress else []
        where = [f"{self.ranks} ranks"]
        if self.partition is not None:
            where = [f"{self.ranks} ranks of {self.partition}", f"mapping {self.mapping}"]
        return ", ".join([" ".join([self.benchmark, *values]), self.mpi, *axes, *where])
