"""This machine as the target of a plan: its MPIs and its cores."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from leadline.core.axes import DEFAULT, FOUND
from leadline.core.collectives import TUNED, called, members
from leadline.core.errors import LeadlineError, UsageError
from leadline.mpi import Mpi
from leadline.mpi.discover import find, resolve, row
from leadline.mpi.family import EACH, family
from leadline.native.registry import SweepContext
from leadline.plan.points import Point
from leadline.plan.settings import Settings
from leadline.targets.local import node
from leadline.targets.local.executor import RealExecutor
from leadline.targets.local.topology import nodes, usable_cores


@dataclass(frozen=True)
class LocalMachine:
    """This machine (`leadline.targets.Target`).

    `known` are its MPIs, `count` is how many ranks "cores" is, by default those that this process may use.
    `tuned` are settings to be tried beside a library's own choice, by identity, each with the keys
    `operations` and `environment`. `files` is where benchmarks write theirs; None: in the run. `hosts` and
    `agent` stand for those of a plan that names none.
    """

    known: Sequence[Mpi] = ()
    count: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    tuned: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    files: Path | None = None
    hosts: tuple[str, ...] = ()
    agent: str | None = None
    strict: ClassVar[bool] = True

    @classmethod
    def here(
        cls,
        tuned: Mapping[str, Mapping[str, Any]] | None = None,
        files: Path | None = None,
        hosts: Sequence[str] = (),
        agent: str | None = None,
    ) -> "LocalMachine":
        """This machine with every MPI that is found on it."""
        return cls(find(), usable_cores(), tuned or {}, files, tuple(hosts), agent)

    def settings(self, asked: Settings) -> Settings:
        """All of them, but those of described machines."""
        described = {**{key: asked.axes[key] for key in ("mapping", "partition")}, "network": asked.network}
        if key := next((key for key, words in described.items() if words), None):
            raise UsageError(f"{key}: only a described machine has one; name it with --on")
        return replace(asked, hosts=asked.hosts or self.hosts, agent=asked.agent or self.agent)

    def alone(self) -> "LocalMachine":
        """This machine in place of the hosts that plans name, for what needs none of them."""
        return _Alone(self.known, self.count, self.tuned, self.files)

    def mpis(self, word: str) -> Sequence[str]:
        """The identities of the libraries that a plan's word means: "found" is all of them.

        Raises UsageError for a word that means none, LeadlineError where the machine has no MPI at all.
        """
        known = list(self.known)
        if not known:
            raise LeadlineError("there is no MPI on this machine; 'leadline doctor --install mpich' adds one")
        return [mpi.id for mpi in known] if word == FOUND else [resolve(word, known).id]

    def cores(self, hosts: Sequence[str], agent: str | None, partition: int | None) -> int:
        """Those of a node."""
        there = node.other(hosts, agent)
        return there.cores if there else self.count

    def nodes(self, hosts: Sequence[str], partition: int | None) -> int:
        """The hosts named, else the nodes of the allocation."""
        return nodes(hosts)

    def sweep_context(self, ranks: int, partition: int | None) -> SweepContext:
        """One node, as far as anybody knows before the ranks are started."""
        return SweepContext(ranks)

    def collectives(self, words: Sequence[str], point: Point) -> Sequence[str | None]:
        """The words; "each" is every algorithm of the library that can do this operation.

        What no library lets one choose (other benchmarks, forms that do not block) is only asked by default.
        Settings that are tried stand in the place of forced algorithms.
        """
        found: list[str | None] = [None] if DEFAULT in words else []
        operation = called(point.benchmark, point.values)
        if operation is None:
            return found
        if self.tuned:
            wanted = operation in self.tuned.get(point.mpi, {}).get("operations", ())
            return [*found, TUNED] if found and wanted else found
        ranks = members(point.values.get("communicator"), point.ranks) or point.ranks
        for word in words:
            if word == EACH:
                size = int(point.values.get("bytes", 0))
                for mpi in self._named([point]):
                    found += family(mpi).algorithms(mpi, operation, ranks, size)
            elif word != DEFAULT:
                found.append(word)
        return list(dict.fromkeys(found))

    def check(self, points: Sequence[Point]) -> None:
        """UsageError where tuned settings are given that none of the points can show the gain of, or files
        are to go where there is no directory.
        """
        if self.files and not self.files.is_dir():
            raise UsageError(
                f"--directory: there is no {self.files} on this machine; make the directory first"
            )
        if self.tuned and not any(point.collectives == TUNED for point in points):
            about = "; ".join(f"{', '.join(each['operations'])} of {id_}" for id_, each in self.tuned.items())
            raise UsageError(f"the tuned settings are for {about}, which this plan does not ask for")

    def facts(self, points: Sequence[Point]) -> Mapping[str, object]:
        """The node, how busy it is, the MPIs that the points use, and the batch system's job."""
        hosts, agent = (points[0].hosts, points[0].agent) if points else (self.hosts, self.agent)
        where = node.other(hosts, agent) or node.here()
        return {
            "machine": where.facts,
            "before": where.before,
            "mpis": [row(mpi) for mpi in self._named(points)],
            "batch": {name: os.environ[name] for name in ("SLURM_JOB_ID", "FLUX_URI") if name in os.environ},
            **({"tuned": dict(self.tuned)} if self.tuned else {}),
            **({"hosts": list(self.hosts)} if self.hosts else {}),
            **({"agent": self.agent} if self.agent else {}),
        }

    def executor(self, directory: Path, files: Path, say: Callable[[str], None]) -> RealExecutor:
        """What launches points on the MPIs."""
        forced = {id_: each["environment"] for id_, each in self.tuned.items()}
        return RealExecutor({mpi.id: mpi for mpi in self.known}, directory, say, forced, self.files or files)

    def _named(self, points: Sequence[Point]) -> list[Mpi]:
        """The MPIs that points use."""
        named = {point.mpi for point in points}
        return [mpi for mpi in self.known if mpi.id in named]


class _Alone(LocalMachine):
    """Asks nobody."""

    def settings(self, asked: Settings) -> Settings:
        """All of them, but hosts and agent."""
        return replace(super().settings(asked), hosts=(), agent=None)
