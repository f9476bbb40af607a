"""Points on a described machine: the program that simulates its ranks, launched once for each kind of launch.

A kind of launch is what points must have in common to share a simulation: machine, network, mapping, ranks,
partition, protocol, placement. Points are dealt to as many processes as there are cores and memory for, in an
allocation of several nodes as steps of the batch system, which finds each a processor that is free;
nothing that is simulated knows of the others, so the answers do not depend on how they are dealt.
"""

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from queue import Empty, Queue, SimpleQueue
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, Any

import psutil

from leadline.core.errors import Interrupted
from leadline.core.record import SIMULATED, SKIPPED
from leadline.mpi.launcher import allocation
from leadline.native.build import memory_of_sim
from leadline.native.launch import TICK, Event, Launch
from leadline.plan.points import Point
from leadline.targets.local.executor import asked, scratch
from leadline.targets.simulated.limits import LIMIT, estimate, impossible

if TYPE_CHECKING:
    from leadline.targets.simulated.machine import SimulatedMachine


TRIES = 3  # launches of a share whose node may have gone down
PIECES = 8  # shares a process on this host: some points take a thousand times as long as others


class _StoppedError(Exception):
    """Nobody listens any more."""


class SimExecutor:
    """Simulates points of a plan on a described machine (`leadline.targets.Executor`)."""

    source = SIMULATED

    def __init__(
        self, machine: "SimulatedMachine", directory: Path, program: Sequence[str], shared: Path | None = None
    ) -> None:
        """`directory` takes the files of launches; `program` is the command that simulates.

        `shared` takes them where several nodes of an allocation simulate (None: `directory` does as well).
        """
        self.target = machine
        self.directory = directory
        self.program = list(program)
        self.kinds: dict[tuple[object, ...], dict[str, object]] = {}
        self.batch = allocation()
        self.nodes = self.batch.nodes(os.environ) if self.batch else []
        if self.spread and self.batch:
            self.directory = shared or directory
            self.program = [*self.batch.single(), *self.program]

    @property
    def spread(self) -> bool:
        """Whether points are dealt to several nodes of an allocation, each launch a step of it."""
        return len(self.nodes) > 1

    def refuse(self, point: Point) -> tuple[str, str] | None:
        """Status and reason where the point cannot be simulated; None where it can."""
        if reason := impossible(point, self.target.machine):
            return SKIPPED, reason
        self.kinds.setdefault(point.launch_key, self._about(point))
        return None

    def oversubscribed(self, point: Point) -> bool:
        """Never: a partition has a core for every rank."""
        return False

    def misplaced(self, point: Point, places: Sequence[Mapping[str, Any]]) -> str | None:
        """Never: the simulator places the ranks as it is asked to."""
        return None

    def transport(self, point: Point) -> str | None:
        """Each record says itself which network answered."""
        return None

    def facts(self) -> list[dict[str, object]]:
        """What was simulated of each kind, for the provenance."""
        return list(self.kinds.values())

    def launch(self, points: Sequence[Point], tick: Callable[[], None]) -> Generator[Event, None, None]:
        """Simulate points, dealt to several processes; the events of a point come together."""
        heard: Queue[list[Event] | Exception | Interrupted | None] = Queue()
        stop = Flag()
        count = self._processes(points)
        shares: SimpleQueue[dict[int, Point]] = SimpleQueue()
        for share in _deal(points, count if self.spread else PIECES * count):
            shares.put(share)
        threads = [Thread(target=self._take, args=(shares, heard, stop), daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            running = len(threads)
            while running:
                tick()
                try:
                    told = heard.get(timeout=TICK)
                except Empty:
                    continue
                if told is None:
                    running -= 1
                elif isinstance(told, (Exception, Interrupted)):
                    raise told
                else:
                    yield from told
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def _about(self, point: Point) -> dict[str, object]:
        """A kind of launch for the provenance."""
        return {
            **point.axes,
            "topology": self.target.machine.partition(point.partition or point.ranks),
        }

    def _processes(self, points: Sequence[Point]) -> int:
        """How many at once: as many as there are cores, and memory for."""
        needed = max(estimate(point, self.target.machine) for point in points)
        room = max(1, psutil.virtual_memory().available // max(1, needed))
        if self.spread:  # nodes are taken to have this one's memory
            return min(sum(min(each, room) for each in self.nodes), len(points))
        return min(len(os.sched_getaffinity(0)), len(points), room)

    def _take(
        self,
        shares: "SimpleQueue[dict[int, Point]]",
        heard: "Queue[list[Event] | Exception | Interrupted | None]",
        stop: Flag,
    ) -> None:
        """A thread: simulate shares until there are none, launching again what a lost launch left."""
        try:
            while True:
                share = shares.get_nowait()
                tries = (
                    TRIES if self.spread else 1
                )  # a node may go down; a simulation that fails does so again
                while share:
                    answered = self._once(share, heard.put, stop, last=tries <= 1)
                    tries = TRIES if answered and self.spread else tries - 1
                    share = {index: point for index, point in share.items() if index not in answered}
        except (Empty, _StoppedError):
            pass
        except (Exception, Interrupted) as problem:  # raised again by the thread that listens
            heard.put(problem)
        heard.put(None)

    def _once(
        self, share: dict[int, Point], tell: Callable[[list[Event]], None], stop: Flag, last: bool
    ) -> set[int]:
        """One launch of the simulator. Returns the places of the points that are answered.

        In the `last` try that is one at least; before, what a lost launch left is for the next.
        """
        answered: set[int] = set()
        told: list[Event] = []

        def watch() -> None:
            if stop.is_set():
                raise _StoppedError

        job = {"points": asked(share.items()), "simulate": self._job(next(iter(share.values())))}
        with scratch(self.directory) as place:
            launch = Launch(
                self.program,
                memory_of_sim(),
                job,
                place,
                point_limit=self.target.point_limit,
                start_limit=LIMIT,
            )
            with closing(launch.events(watch)) as events:
                for event in events:
                    told.append(event)
                    if event["event"] in ("launch", "done", "hung_at_exit"):
                        tell([{"id": next(iter(share)), **event}] if event["event"] == "launch" else [event])
                        told = []
                    elif event["event"] == "end":
                        answered.add(event["id"])
                        tell(told)
                        told = []
                    elif event["event"] == "died" and event["late"] and self.target.point_limit != LIMIT:
                        tell(_unanswered(event["id"], "skip", self._late))
                        answered.add(event["id"])
                    elif event["event"] == "died":
                        if self.batch and (over := self.batch.ended(os.environ, launch.output.text)):
                            raise Interrupted(over)
                        if not last:
                            continue
                        lost = self._lost(event, share, answered)
                        reason = event["reason"].removeprefix("rank 0: ")  # one process plays all ranks
                        tell([each for index in lost for each in _unanswered(index, "fail", reason)])
                        answered |= set(lost)
        return answered

    @property
    def _late(self) -> str:
        """Why a point was given up."""
        return (
            f"not simulated within {self.target.point_limit:g} s of this host's time; "
            "--point-limit gives a point longer"
        )

    def _lost(self, event: Event, share: dict[int, Point], answered: set[int]) -> list[int]:
        """The points that failed with a lost launch: the one that was asked, or all where none was answered.

        A simulation that failed once would fail again, so it is not tried a second time.
        """
        if event["id"] is not None:
            return [event["id"]]
        return [] if answered else list(share)

    def _job(self, point: Point) -> dict[str, Any]:
        """What the simulator must know of a kind of launch (`native/comm/sim`)."""
        partition = point.partition or point.ranks
        return {
            "machine": self.target.native(),
            "topology": self.target.machine.partition(partition),
            "ranks": point.ranks,
            "partition": partition,
            "mapping": self.target.native_mapping(point.mapping or self.target.mapping),
            "network": point.stack,
            "seed": self.target.seed,
            "noise": self.target.noise,
            "protocol": point.protocol,
            "placement": point.placement,
        }


def _deal(points: Sequence[Point], most: int) -> list[dict[int, Point]]:
    """The points by their places in shares, each of one kind of launch: a kind in at most so many."""
    kinds: dict[tuple[object, ...], list[int]] = {}
    for index, point in enumerate(points):
        kinds.setdefault(point.launch_key, []).append(index)
    return [
        {index: points[index] for index in kind[first::most]}
        for kind in kinds.values()
        for first in range(min(most, len(kind)))
    ]


def _unanswered(index: int, how: str, reason: str) -> list[Event]:
    """The events of a point that failed, or was skipped."""
    return [
        {"event": "begin", "id": index},
        {"event": how, "id": index, "reason": reason},
        {"event": "end", "id": index},
    ]
