"""Points on real ranks: each kind of launch is prepared once (built, set, probed), then launched repeatedly.

A kind is what points must have in common to share a launch: MPI, stack, protocol, placement, ranks. Its
preparation finds out what cannot be done here before time is spent on it, and asks the library what it uses.
"""

import os
import platform
import shutil
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from psutil import pid_exists

from leadline.core.collectives import TUNED, members
from leadline.core.errors import Interrupted, LeadlineError, suggest
from leadline.core.record import FAILED, MEASURED, SKIPPED
from leadline.core.units import format_bytes
from leadline.mpi import Mpi
from leadline.mpi.family import Start, Unsupported, family
from leadline.mpi.launcher import allocation, choose, starter
from leadline.native.build import build
from leadline.native.launch import START_LIMIT, Event, Launch
from leadline.plan.points import Point
from leadline.targets.local import node
from leadline.targets.local.placement import by_memory, misplaced
from leadline.targets.local.topology import possible, topology

PROBED = (8, 1 << 20)  # B, of the messages that show which transports a library uses
OUTAGE = 600.0  # s that a batch system may take to answer again
PROBES = 2  # tries: on a busy machine the ranks of one launch may start too late
SHARED_START = 2.0  # s that a rank may take of its core to start, where others start on it, too
ANY_SIZE = 1 << 40  # B, that every algorithm can do
# Words in the names of settings by which libraries switch protocols; their values go into the provenance.
SETTINGS = ["eager_limit", "EAGER", "RNDV", "rndv", "rendezvous"]


@contextmanager
def scratch(directory: Path | None = None, by: str = "the variable TMPDIR") -> Iterator[Path]:
    """A directory of its own in `directory` (None: where temporary files go), deleted at the block's end.

    Those that killed processes of this host left there are deleted as well. Raises LeadlineError where it
    cannot be made, which says that another place is named `by` this.
    """
    try:
        _delete_left(directory or Path(gettempdir()))
        # What a launch that was killed still writes must not make a failure of its results.
        made = TemporaryDirectory(
            prefix=f"{_here()}{os.getpid()}-", dir=directory, ignore_cleanup_errors=True
        )
    except OSError as problem:
        where = f" in {directory}" if directory else ""
        advice = f"; {by} names the place to use"
        raise LeadlineError(
            f"cannot make a directory for the files of launches{where}: {problem.strerror}{advice}"
        ) from problem
    with made as path:
        yield Path(path)


def _here() -> str:
    """How names of scratch directories begin whose process can be looked up: those of this host."""
    try:
        space = Path("/proc/self/ns/pid").stat().st_ino  # containers may share a directory and a name
    except OSError:
        space = 0
    return f"leadline-{zlib.crc32(f'{platform.node()} {space}'.encode()):08x}-"


def _delete_left(directory: Path) -> None:
    """Delete the scratch directories of processes that are no more."""
    begin = _here()
    for path in directory.glob(f"{begin}*"):
        process = path.name.removeprefix(begin).partition("-")[0]
        with suppress(OSError):
            if process.isdecimal() and path.stat().st_uid == os.getuid() and not pid_exists(int(process)):
                shutil.rmtree(path, ignore_errors=True)


@dataclass
class LaunchConfig:
    """What points must have in common to share a launch, ready to be launched, or why it cannot be."""

    command: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    program: Path = Path()
    oversubscribed: bool = False  # more ranks than cores
    transport: str | None = None
    refusal: tuple[str, str] | None = None
    contradiction: str | None = None  # what the probe found that makes every number of it wrong
    node_cores: int | None = None  # of a whole node
    site: str | None = None  # what keeps the launcher from binding ranks to cores
    facts: dict[str, object] = field(default_factory=dict)  # for the provenance


class RealExecutor:
    """Launches points of a plan on the MPIs of this machine (`leadline.targets.Executor`)."""

    source = MEASURED

    def __init__(
        self,
        mpis: Mapping[str, Mpi],
        directory: Path,
        say: Callable[[str], None],
        tuned: Mapping[str, Mapping[str, str]] | None = None,
        files: Path | None = None,
    ) -> None:
        """`mpis` by identity; `directory` takes the files of launches; `say` hears what is being prepared.

        `tuned` are the settings of launches that are tuned, by identity; `files` is where benchmarks write
        theirs, each launch in a directory of its own there.
        """
        self.mpis = mpis
        self.tuned = tuned or {}
        self.directory = directory
        self.files = files or directory
        self.say = say
        self.kinds: dict[tuple[object, ...], LaunchConfig] = {}
        self.programs: dict[str, Path | LeadlineError] = {}

    def refuse(self, point: Point) -> tuple[str, str] | None:
        """Status and reason where the point cannot be launched here; None where it can."""
        return self._kind(point).refusal or self._unfit(point)

    def _unfit(self, point: Point) -> tuple[str, str] | None:
        """Status and reason where a forced algorithm cannot do just this point."""
        if not point.operation:
            return None
        mpi = self.mpis[point.mpi]
        ranks = members(point.values.get("communicator"), point.ranks) or point.ranks
        size = int(point.values.get("bytes", 0))
        if point.collectives in family(mpi).algorithms(mpi, point.operation, ranks, size):
            return None
        what = f"{point.collectives} of {mpi.id} cannot do {point.operation} of {format_bytes(size)}"
        return SKIPPED, f"{what} on {ranks} ranks"

    def transport(self, point: Point) -> str | None:
        """What the library said that it uses in this kind of launch; None where it did not say."""
        return self._kind(point).transport

    def oversubscribed(self, point: Point) -> bool:
        """Whether its ranks are more than there are cores; such ranks are not bound."""
        return self._kind(point).oversubscribed

    def misplaced(self, point: Point, places: Sequence[Mapping[str, Any]]) -> str | None:
        """Why the ranks are not where the point wants them, in the site's terms; None where they are."""
        kind = self._kind(point)
        return kind.contradiction or misplaced(
            point.placement,
            places,
            bound=not kind.oversubscribed,
            node_cores=kind.node_cores,
            hosts=len(set(point.hosts)),
            site=kind.site,
        )

    def launch(self, points: Sequence[Point], tick: Callable[[], None]) -> Generator[Event, None, None]:
        """Launch points of one kind; events carry the points' places in `points` as ids."""
        kind = self._kind(points[0])
        limit = max(point.point_limit for point in points)
        with scratch(self.directory) as place, scratch(self.files.absolute(), "--directory") as files:
            job = {"points": asked(enumerate(points)), "directory": str(files)}
            starts = _start_limit(kind, points[0])
            launch = Launch(kind.command, kind.env, job, place, point_limit=limit, start_limit=starts)
            with closing(launch.events(tick)) as events:
                for event in events:
                    if event["event"] == "died":
                        _survive(launch)
                    yield event

    def facts(self) -> list[dict[str, object]]:
        """What was found out about each kind that was prepared, for the provenance."""
        return [kind.facts for kind in self.kinds.values() if kind.facts]

    def _kind(self, point: Point) -> LaunchConfig:
        """The point's kind of launch, prepared at its first use."""
        kind = self.kinds.get(point.launch_key)
        if kind is None:
            kind = self.kinds[point.launch_key] = LaunchConfig()
            try:
                self._prepare(kind, point)
            except Unsupported as refusal:
                kind.refusal = (SKIPPED, str(refusal))
            except LeadlineError as problem:
                kind.refusal = (FAILED, str(problem))
        return kind

    def _prepare(self, kind: LaunchConfig, point: Point) -> None:
        """Build, set and probe; Unsupported for what this machine lacks, LeadlineError for failures."""
        there = node.other(point.hosts, point.agent)
        cores = there.topology if there else topology()
        if reason := possible(point.placement, point.ranks, point.hosts, point.oversubscribe, cores):
            raise Unsupported(reason)
        kind.oversubscribed = possible(point.placement, point.ranks, point.hosts, here=cores) is not None
        mpi = self.mpis[point.mpi]
        batch, chosen = allocation(), choose(mpi, point.launcher)
        kind.node_cores = (batch and batch.node_cores(os.environ)) or len(cores.cores)
        kind.site = chosen.binds_nothing(os.environ) if chosen else None
        kind.program = self._program(mpi)
        kind.env = self._environment(mpi, point)
        kind.command = _command(kind, mpi, point, kind.env)
        self.say(f"asking {mpi.id} what it uses")
        launched, kind.transport = self._probe(kind, mpi, point)
        if point.placement == "nodes" and point.ranks > 1 and "sent" in launched:
            kind.contradiction = by_memory(launched["places"], PROBED[-1], launched["sent"])
        kind.facts = {
            **point.axes,
            "operation": point.operation,
            "launcher": point.launcher,
            "command": kind.command,
            "environment": kind.env,
            "transport": kind.transport,
            "library": launched.get("library"),
            "standard": launched.get("standard"),
            "places": launched.get("places"),
            "clock": launched.get("clock"),
            "rotation": launched.get("rotation"),
            "settings": launched.get("settings", {}),
            "notes": family(mpi).notes(mpi, point.stack, point.protocol),
        }

    def _environment(self, mpi: Mpi, point: Point) -> dict[str, str]:
        """All that must be set: for the transports, asynchronous progress, and the library's algorithms."""
        kin = family(mpi)
        env = kin.environment(mpi, point.stack, point.protocol, point.shmem)
        if point.progress:
            env |= kin.progressing(mpi, point.progress)
        if point.collectives == TUNED:
            return {**env, **self.tuned.get(mpi.id, {})}
        if point.operation:
            known = kin.algorithms(mpi, point.operation, point.ranks, ANY_SIZE)
            if point.collectives not in known:
                raise Unsupported(
                    f"{mpi.id} has no algorithm '{point.collectives}' for {point.operation} of "
                    f"{point.ranks} ranks{suggest(str(point.collectives), known) if known else ''}"
                )
            env |= known[str(point.collectives)]
        return env

    def _program(self, mpi: Mpi) -> Path:
        """The benchmark program for an MPI; its failure is remembered, not repeated."""
        if mpi.id not in self.programs:
            self.say(f"building for {mpi.id}")
            try:
                self.programs[mpi.id] = build(mpi)
            except LeadlineError as problem:
                self.programs[mpi.id] = problem
        program = self.programs[mpi.id]
        if isinstance(program, LeadlineError):
            raise program
        return program

    def _probe(self, kind: LaunchConfig, mpi: Mpi, point: Point) -> tuple[Event, str | None]:
        """What the probe says; one that fails is tried again."""
        for _ in range(PROBES - 1):
            with suppress(LeadlineError):
                return self._probe_once(kind, mpi, point)
        return self._probe_once(kind, mpi, point)

    def _probe_once(self, kind: LaunchConfig, mpi: Mpi, point: Point) -> tuple[Event, str | None]:
        """A launch in which the library says what it uses; saying so would disturb a measurement."""
        kin = family(mpi)
        forced = (
            [name.removeprefix("OMPI_MCA_") for name in self._environment(mpi, point)]
            if point.collectives
            else []
        )
        job = {"points": _probing(point.ranks), "settings": [*SETTINGS, *forced]}
        env = {**kind.env, **kin.probe_environment(mpi)}
        command = _command(kind, mpi, point, env)
        launched: Event = {}
        with scratch(self.directory) as place:
            starts = _start_limit(kind, point)
            started = Launch(command, env, job, place, point_limit=point.point_limit, start_limit=starts)
            with closing(started.events()) as events:
                for event in events:
                    if event["event"] == "launch":
                        launched = event
                    elif event["event"] == "done" and "sent" in event:
                        launched = {**launched, "sent": event["sent"]}
                    elif event["event"] == "died" and not launched:
                        _survive(started)
                        raise LeadlineError(f"{mpi.id} cannot start: {event['reason']}")
        return launched, kin.read_probe(started.output.text) or None


def _survive(lost: Launch) -> None:
    """What a lost launch means for a run in an allocation: raises Interrupted where the allocation is over.

    Where the batch system did not answer, waits until it does, so that the next launch finds it.
    """
    batch = allocation()
    if batch is None:
        return
    patience = OUTAGE if batch.outage(lost.output.text) else 0.0
    if over := batch.ended(os.environ, lost.output.text, patience):
        raise Interrupted(over)


def _start_limit(kind: LaunchConfig, point: Point) -> float:
    """How long ranks may take to start, s: longer where many of them share a core."""
    if not kind.oversubscribed:
        return START_LIMIT
    cores = (kind.node_cores or 1) * max(1, len(set(point.hosts)))
    return START_LIMIT + SHARED_START * point.ranks / cores


def _command(kind: LaunchConfig, mpi: Mpi, point: Point, env: Mapping[str, str]) -> list[str]:
    """The whole command before the job's files; `env` must reach the ranks on other nodes as well."""
    start = Start(
        point.ranks, point.placement, point.hosts, env, kind.oversubscribed, point.agent, kind.node_cores
    )
    return [*starter(mpi, point.launcher)(mpi, start), str(kind.program)]


def asked(points: Iterable[tuple[int, Point]]) -> list[dict[str, object]]:
    """Points with their ids as the benchmark program reads them (`native/harness/job.cpp`)."""
    return [
        {
            "id": index,
            "benchmark": point.benchmark,
            "point": dict(point.values),
            "tolerance": point.tolerance,
            "time": point.point_time,
        }
        for index, point in points
    ]


def _probing(ranks: int) -> list[dict[str, object]]:
    """Streams of a short and a long message, so that lazily opened transports show themselves.

    Between nodes where the ranks are on several, which corepairs would not leave.
    """
    if ranks < 2:
        return []
    stream = {"pairs": 1, "window": 1}
    return [
        {"id": index, "benchmark": "multistream", "point": {**stream, "bytes": size}, "time": 0.001}
        for index, size in enumerate(PROBED)
    ]
