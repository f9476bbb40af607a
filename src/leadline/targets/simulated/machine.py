"""A described machine as the target of a plan: what a plan's words mean there."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, ClassVar

from leadline.core.axes import DEFAULT, FOUND
from leadline.core.errors import UsageError, suggest
from leadline.machine import Machine, Number, load
from leadline.machine.rank_mapping import Place, lengths, letters, read, usual
from leadline.machine.topologies import kind_of
from leadline.mpi.family import families
from leadline.mpi.launcher import AUTO
from leadline.native.build import SENSITIVITY, build_sim
from leadline.native.registry import SweepContext, algorithms
from leadline.plan.points import Point
from leadline.plan.settings import NETWORKS, Launches, Settings
from leadline.targets import Executor
from leadline.targets.simulated import accepted
from leadline.targets.simulated.executor import SimExecutor
from leadline.targets.simulated.limits import LIMIT, check_memory

_ORDER = re.compile(r"[A-Z]+")
_RANDOM = re.compile(r"random:\d+")
_TILED = re.compile(r"tiled:(\d+(?:x\d+)*)")
BLOCKED = "blocked"  # a mapping: the cores of a node, then the next node
SOCKETS = "sockets"  # a mapping: the sockets of a node in turns, node after node


@dataclass(frozen=True)
class SimulatedMachine:
    """A described machine (`leadline.targets.Target`).

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
    # Ends of the keys of constants of a kind (native Part), where the program `program` is to say of how much
    # of each its time is made; none: nobody asks.
    kinds: Mapping[str, tuple[str, ...]] | None = None
    point_limit: float = LIMIT  # s, after which a point is skipped
    strict: ClassVar[bool] = False  # several MPIs and stacks become one machine

    @classmethod
    def of(
        cls,
        machine: Machine,
        plan: Path | None = None,
        ranks: int | None = None,
        mapping: str | None = None,
        network: str = NETWORKS[0],
        *,
        noise: bool = False,
        seed: int = 1,
        point_limit: float = LIMIT,
    ) -> "SimulatedMachine":
        """The machine for a plan's file: by default all its ranks, in its usual mapping.

        Files of mappings are sought beside the plan, and here. A point that is not simulated within
        `point_limit`, in s, is skipped. Raises UsageError for more ranks than the machine has, and for an
        algorithm of a collective that there is not.
        """
        if noise and "noise" not in machine.tables:
            raise UsageError(f"{machine.name} describes no noise: leave --noise out, or add a table [noise]")
        partition = whole(machine) if ranks is None else ranks
        machine.partition(partition)
        machine.check_algorithms(algorithms)
        chosen = usual(machine.partition(1)) if mapping is None else mapping
        beside = (plan.parent, Path()) if plan else (Path(),)
        return cls(machine, partition, chosen, network, noise, seed, beside, point_limit=point_limit)

    @classmethod
    def of_run(cls, facts: Mapping[str, Any]) -> "SimulatedMachine":
        """The target of a run whose provenance is given, as it was.

        Raises UsageError where the machine is gone, or is described otherwise by now.
        """
        said = facts["simulated"]
        machine = load(said["file"])
        if machine.native() != facts["described"]:
            raise UsageError(
                f"{said['file']} has changed since the run was begun, so the run cannot be gone on with; "
                "begin another one"
            )
        places = (said["partition"], said["mapping"], said["network"], said["noise"], said["seed"])
        files = tuple(Path(each) for each in said["files"])
        return cls(machine, *places, files, point_limit=said.get("point_limit", LIMIT))

    def settings(self, asked: Settings) -> Settings:
        """A plan's settings without those of real launches; UsageError for what can be an MPI nowhere."""
        for word in asked.words("mpi"):
            _check_mpi(word)
        axes = {
            "mpi": (self.machine.name,),
            "stack": asked.network if asked.network and self.network == NETWORKS[0] else (self.network,),
            "mapping": asked.axes["mapping"] or (self.mapping,),
            "partition": asked.axes["partition"] or (self.partition,),
            "collectives": (DEFAULT,),
            "progress": (DEFAULT,),
        }
        for ranks, mapping in product(axes["partition"], axes["mapping"]):
            places = int(ranks)
            counts = [places if isinstance(each, str) else each for each in asked.axes["ranks"]]
            fitting = [each for each in counts if each <= places]
            self._check(str(mapping), places, max(fitting, default=None))
        return asked.with_axes(
            axes,
            network=(),
            oversubscribe=False,
            hosts=(),
            agent=None,
            launcher=AUTO,
            launches=Launches(1, 1),
            point_limit=self.point_limit,
        )

    def mpis(self, word: str) -> Sequence[str]:
        """The machine itself."""
        return [self.machine.name]

    def cores(self, hosts: Sequence[str], agent: str | None, partition: int | None) -> int:
        """A rank on every core of the partition that runs one."""
        return partition or self.partition

    def nodes(self, hosts: Sequence[str], partition: int | None) -> int:
        """Nodes of the partition."""
        return -(-(partition or self.partition) // self.machine.ranks_per_node)

    def sweep_context(self, ranks: int, partition: int | None) -> SweepContext:
        """The ranks, how many share a node, and the longest way through the partition."""
        topology = self.machine.partition(partition or self.partition)
        return SweepContext(ranks, self.machine.ranks_per_node, kind_of(topology).diameter(topology))

    def collectives(self, words: Sequence[str], point: Point) -> Sequence[str | None]:
        """There is no library whose algorithms could be forced."""
        return (None,)

    def check(self, points: Sequence[Point]) -> None:
        """LeadlineError where a point needs more memory than there is."""
        check_memory(points, self.machine)

    def facts(self, points: Sequence[Point]) -> Mapping[str, object]:
        """The machine as read, each number with where it is from. This host does not matter: it computes."""
        machine = self.machine
        return {
            "simulated": {
                "machine": machine.name,
                "title": machine.title,
                "file": str(machine.path),
                "network": self.network,
                "mapping": self.mapping,
                "partition": self.partition,
                "noise": self.noise,
                "seed": self.seed,
                "point_limit": self.point_limit,
                "files": [str(directory.resolve()) for directory in self.beside],
            },
            "described": machine.native(),
            "sources": dict(machine.sources),
            "numbers": {each.key: f"{each.text} ({each.source})" for each in machine.numbers()},
        }

    def executor(self, directory: Path, files: Path, say: Callable[[str], None]) -> Executor:
        """What simulates points; the simulator is built first.

        Raises UsageError for a machine whose numbers it refuses.
        """
        say("building the simulator")
        simulator = build_sim() if self.kinds is None else build_sim(SENSITIVITY)
        accepted.check(self.machine, simulator)
        return SimExecutor(self, directory, [str(simulator)], files)

    def native(self) -> dict[str, Any]:
        """The machine's description as the simulator reads it."""
        described = self.machine.native()
        return described if self.kinds is None else described | {"kinds": dict(self.kinds)}

    def native_mapping(self, mapping: str) -> str:
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
        if mapping.startswith("random:"):
            raise UsageError(f"mapping: random takes a whole number, as random:1, but got {mapping!r}")
        raise UsageError(
            f"mapping: there is no file {mapping!r}; a mapping without a file is an order of axes such as "
            f"'{usual(self.machine.partition(1))}', "
            f"'{BLOCKED}', 'tiled:LENGTHS', 'random:SEED' or '{SOCKETS}'"
        )

    def check_mapping(self, ranks: int) -> None:
        """UsageError for a mapping that the machine's partition or so many ranks do not allow."""
        self._check(self.mapping, self.partition, ranks)

    def _check(self, mapping: str, partition: int, ranks: int | None) -> None:
        """UsageError for a mapping that the partition does not allow, by its axes or the places in a file."""
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
                    f"{'x'.join(map(str, sides))} nodes of {partition:,} ranks of {self.machine.name}, "
                    f"but got {mapping!r}"
                )
        if self.native_mapping(mapping).startswith("file:"):
            place = Place.of(
                topology,
                self.machine.ranks_per_node,
                f"a partition of {partition:,} ranks of {self.machine.name}",
            )
            read(self._file(mapping), place, ranks)


def _check_mpi(word: str) -> None:
    """UsageError for a word of a plan that is no library's on any machine, as when it is misspelt."""
    named = [FOUND, DEFAULT, *(name for each in families().values() for name in (each.name, *each.aliases))]
    if "/" not in word and not any(word.startswith(name) or name.startswith(word) for name in named):
        raise UsageError(f"mpi: unknown MPI {word!r}{suggest(word, named)}")


def whole(machine: Machine) -> int:
    """Ranks of the machine as it is described; it may tell how far it can be extrapolated beyond that."""
    shape = machine.topology.get("shape")
    if not isinstance(shape, Number):
        return machine.max_ranks
    return int(prod(shape.value)) * machine.ranks_per_node
