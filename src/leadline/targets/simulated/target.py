"""A described machine as the place where a plan is run: what a plan's words mean there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import psutil

from leadline.core.errors import LeadlineError, UsageError
from leadline.machine import Machine, Number
from leadline.machine.rank_mapping import Place, lengths, letters, read
from leadline.mpi.family import DEFAULT
from leadline.mpi.launcher import AUTO
from leadline.plan.points import Point
from leadline.plan.settings import NETWORKS, Launches, Settings
from leadline.programs.registry import Situation

# s that a simulated point may take: nothing is ever late here, but a program that hangs must end some day.
LIMIT = 3600.0
# B of memory that a simulation takes, for each rank and for each node of the partition with its links.
# Measured: a halo, whose every rank has four messages out and four coming, peaked at 2.5 GB for 1,048,576
# ranks on 262,144 nodes; a hot spot of two levels at 1.4 GB.
RANK_BYTES, NODE_BYTES = 2200, 600

_ORDER = re.compile(r"[A-Z]+")
_RANDOM = re.compile(r"random:\d+")
_TILED = re.compile(r"tiled:(\d+(?:x\d+)*)")
BLOCKED = "blocked"  # a mapping: the cores of a node, then the next node
SOCKETS = "sockets"  # a mapping: the sockets of a node in turns, node after node


@dataclass(frozen=True)
class Described:
    """A described machine as the site of a plan (`leadline.plan.points.Site`).

    `mapping` and `partition` stand for what the plan does not say, and so does `network` where it is "auto":
    one that was asked for is that of all points. `beside` are the directories in which a mapping's file is
    sought.
    """

    machine: Machine
    partition: int
    mapping: str
    network: str = "auto"
    noise: bool = False
    seed: int = 1
    beside: tuple[Path, ...] = (Path(),)
    strict: ClassVar[bool] = False  # several MPIs and stacks become one machine

    @classmethod
    def of(
        cls,
        machine: Machine,
        plan: Path,
        ranks: int | None = None,
        mapping: str | None = None,
        network: str = NETWORKS[0],
        *,
        noise: bool = False,
        seed: int = 1,
    ) -> "Described":
        """The site for a plan's file: by default all ranks of the machine, in its usual mapping.

        Raises UsageError for more ranks than the machine has.
        """
        partition = whole(machine) if ranks is None else ranks
        machine.partition(partition)
        chosen = mapping or default_mapping(machine)
        return cls(machine, partition, chosen, network, noise, seed, (plan.parent, Path()))

    def settings(self, asked: Settings) -> Settings:
        """A plan's settings without those of real launches."""
        partitions = asked.partition or (self.partition,)
        mappings = asked.mapping or (self.mapping,)
        for ranks in partitions:
            for mapping in mappings:
                self._check(mapping, ranks, asked)
        return replace(
            asked,
            mpi=(self.machine.name,),
            stack=asked.network if asked.network and self.network == NETWORKS[0] else (self.network,),
            network=(),
            collectives=(DEFAULT,),
            progress=(DEFAULT,),
            oversubscribe=False,
            hosts=(),
            agent=None,
            launcher=AUTO,
            launches=Launches(1, 1),
            point_limit=LIMIT,
            mapping=mappings,
            partition=partitions,
        )

    def mpis(self, word: str) -> Sequence[str]:
        """The machine itself."""
        return [self.machine.name]

    def cores(self, partition: int | None) -> int:
        """A rank on every core of the partition that runs one."""
        return partition or self.partition

    def situation(self, ranks: int, partition: int | None) -> Situation:
        """The ranks, how many share a node, and the longest way through the partition."""
        topology = self.machine.partition(partition or self.partition)
        return Situation(ranks, self.machine.ranks_per_node, diameter(topology))

    def collectives(self, words: Sequence[str], point: Point) -> Sequence[str | None]:
        """There is no library whose algorithms could be forced."""
        return (None,)

    def seating(self, mapping: str) -> str:
        """A mapping in the words of the native program: a file by its path."""
        if mapping in (SOCKETS, BLOCKED) or any(
            each.fullmatch(mapping) for each in (_ORDER, _RANDOM, _TILED)
        ):
            return mapping
        return f"file:{self._file(mapping).resolve()}"

    def _file(self, mapping: str) -> Path:
        """The file of a mapping; UsageError where there is none."""
        for directory in self.beside:
            if (directory / mapping).is_file():
                return directory / mapping
        raise UsageError(
            f"mapping: this is an order of axes such as '{default_mapping(self.machine)}', '{BLOCKED}', "
            f"'tiled:LENGTHS', 'random:SEED', '{SOCKETS}' or a file, but got {mapping!r}, and there is no "
            "such file"
        )

    def _check(self, mapping: str, partition: int, asked: Settings) -> None:
        """UsageError for a mapping that the partition does not allow, by its axes or its seats."""
        topology = self.machine.partition(partition)
        axes = letters(topology)
        if _ORDER.fullmatch(mapping) and sorted(mapping) != sorted(axes):
            raise UsageError(
                f"mapping: an order of axes on {self.machine.name} has each of {', '.join(axes)} once "
                f"(T: the cores of a node), but got {mapping!r}"
            )
        if tiled := _TILED.fullmatch(mapping):
            sides = lengths(topology)
            tile = [int(each) for each in tiled[1].split("x")]
            if len(tile) != len(sides) or any(t < 1 or s % t for t, s in zip(tile, sides, strict=True)):
                raise UsageError(
                    f"mapping: a tile has a length for each axis, which divides the "
                    f"{'x'.join(map(str, sides))} nodes of {partition} ranks of {self.machine.name}, "
                    f"but got {mapping!r}"
                )
        if self.seating(mapping).startswith("file:"):
            counts = [partition if isinstance(each, str) else each for each in asked.ranks]
            fitting = [each for each in counts if each <= partition]
            place = Place.of(
                topology,
                self.machine.ranks_per_node,
                f"a partition of {partition} ranks of {self.machine.name}",
            )
            read(self._file(mapping), place, max(fitting, default=None))


def whole(machine: Machine) -> int:
    """Ranks of the machine as it is described; it may tell how far it can be extrapolated beyond that."""
    shape = machine.topology.get("shape")
    if not isinstance(shape, Number):
        return machine.max_ranks
    return int(prod(shape.value)) * machine.ranks_per_node


def default_mapping(machine: Machine) -> str:
    """Nodes first along the axes of a grid, as Blue Gene's XYZT; elsewhere a node's cores first."""
    axes = letters(machine.partition(1))
    return axes if len(axes) > 2 else "TX"


def diameter(topology: dict[str, Any]) -> int:
    """The most hops between two nodes, for the defaults of sweeps; 0 where nothing is told in hops."""
    kind = topology["kind"]
    if kind == "fat-tree":
        return 2 * len(topology["arity"])  # up to the top and down again
    if kind == "dragonfly":
        return 5  # node, router, group, router, router, node
    shape = topology.get("shape", [])
    return sum(length // 2 if kind == "torus" else length - 1 for length in shape)


def estimate(point: Point, machine: Machine) -> int:
    """Memory that simulating a point takes, B."""
    partition = point.partition or point.ranks
    return RANK_BYTES * point.ranks + NODE_BYTES * -(-partition // machine.ranks_per_node)


def check_memory(points: Sequence[Point], machine: Machine, available: int | None = None) -> None:
    """Raise LeadlineError where a point needs more memory than this host has left, B."""
    available = psutil.virtual_memory().available if available is None else available
    largest = max(points, key=lambda point: estimate(point, machine), default=None)
    if largest is not None and (needed := estimate(largest, machine)) > available:
        raise LeadlineError(
            f"simulating {largest.describe()} takes about {needed / 1e9:.1f} GB of memory, but "
            f"{available / 1e9:.1f} GB are free; ask for fewer ranks with --ranks"
        )


def impossible(point: Point, machine: Machine) -> str | None:
    """Why a point cannot be had on the machine; None where it can."""
    partition = point.partition or point.ranks
    node = machine.native()["node"]
    reasons = {
        f"{point.ranks} ranks need a larger partition than {partition}": point.ranks > partition,
        f"on a described machine placement {point.placement!r} is for two ranks, not {point.ranks}": (
            point.placement != "default" and point.ranks != 2
        ),
        f"a partition of {partition} ranks of {machine.name} is one node": (
            point.placement == "nodes" and partition <= machine.ranks_per_node
        ),
        f"a node of {machine.name} has one socket": (
            point.placement == "sockets" and node.get("sockets", 1) < 2
        ),
        f"a node of {machine.name} runs one rank": (
            point.placement in ("core-group", "sockets") and machine.ranks_per_node < 2
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)
