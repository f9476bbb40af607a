"""Measures every pair of hosts and asks each for its settings: what `leadline doctor --hosts` judges."""

import json
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from leadline.analysis.host_pairs import (
    LIMITS,
    Group,
    Judgement,
    Pair,
    judge,
    judge_alone,
    launches_needed,
    odd_ones,
    suspects,
)
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.processes import run as run_command
from leadline.mpi.family import Start, family
from leadline.mpi.launcher import starter
from leadline.mpi.library import Mpi
from leadline.native.build import build
from leadline.plan.model import Plan
from leadline.plan.points import Point
from leadline.targets.local.executor import RealExecutor, scratch
from leadline.targets.local.machine import LocalMachine

SIZES = {"latency": 8, "bandwidth": 1 << 20}  # B
POINT_TIME = "20 ms"  # of a pair at one size in one launch
SETTINGS_LIMIT = 60.0  # s, for a program on every host that asks for its settings
PATIENCE = 10.0  # s, until files that other hosts wrote are seen here
RETRIES = 2  # launches that may fail


@dataclass(frozen=True)
class HostsRequest:
    """Hosts to be compared, by one MPI: named ones, or with no name those of the allocation."""

    hosts: tuple[str, ...]
    mpi: str = "found"  # the first of those that the word means
    agent: str | None = None
    launcher: str = "auto"


@dataclass(frozen=True)
class Compared:
    """What comparing hosts found."""

    names: tuple[str, ...]
    mpi: str
    links: Mapping[str, Judgement]  # by metric
    alone: Mapping[str, Judgement]
    odd: Sequence[tuple[str, str, object, object]]  # host, setting, its value, that of most
    clocks: Mapping[str, float]  # s by which a host's time of day is wrong at least, beside this host's
    pairs: int
    launches: int


@dataclass
class _Rounds:
    """Launches with one rank on each host, in which pairs are measured."""

    asked: HostsRequest
    executor: RealExecutor
    target: LocalMachine
    ranks: int
    say: Callable[[str], None]
    names: tuple[str, ...] = ()  # of hosts, by rank, as the ranks report them
    launches: int = 0
    point: Point | None = None  # one of those that were launched
    order: random.Random = field(default_factory=lambda: random.Random(1))

    def measure(
        self, groups: Sequence[Group], metrics: Sequence[str], what: Callable[[Sequence[float]], float]
    ) -> dict[str, dict[Group, float]]:
        """The speed (1/s, B/s) of each group's slowest pair, in each metric; `what` chooses of its samples.

        Raises LeadlineError where nothing can be measured.
        """
        self.launches += 1
        for left in reversed(range(RETRIES + 1)):
            try:
                return self._launch(groups, metrics, what)
            except LeadlineError:
                if not left or self.point is None or self.executor.refuse(self.point):
                    raise
        raise AssertionError

    def _launch(
        self, groups: Sequence[Group], metrics: Sequence[str], what: Callable[[Sequence[float]], float]
    ) -> dict[str, dict[Group, float]]:
        words = {"+".join(f"{a}-{b}" for a, b in group): group for group in groups}
        points = [point for metric in metrics for point in self._points(list(words), SIZES[metric])]
        self.point = points[0]
        if refused := self.executor.refuse(self.point):
            raise LeadlineError(refused[1])
        self.order.shuffle(points)  # so that what drifts in a launch drifts for all pairs alike
        found: dict[str, dict[Group, float]] = {metric: {} for metric in metrics}
        with closing(self.executor.launch(points, lambda: None)) as events:
            for event in events:
                kind = event["event"]
                if kind == "launch":
                    self._placed(event["places"])
                elif kind in ("died", "skip", "fail"):
                    raise LeadlineError(str(event["reason"]))
                elif kind == "record":
                    point = points[event["id"]]
                    samples = event["samples"][event["warmup"] :] or event["samples"]
                    if point.values["bytes"] == SIZES.get(event["metric"]):
                        speeds = [1 / each for each in samples] if event["better"] == "lower" else samples
                        found[event["metric"]][words[str(point.values["pair"])]] = what(speeds)
        if any(len(each) < len(words) for each in found.values()):
            raise LeadlineError("a launch ended before every pair was measured")
        return found

    def _points(self, words: Sequence[str], size: int) -> list[Point]:
        """One point for each group of pairs."""
        plan = Plan.of(
            {"benchmark": "rankpairs", "ranks": self.ranks, "pair": list(words), "bytes": size},
            mpi=self.asked.mpi,
            placement="nodes",
            launcher=self.asked.launcher,
            point_time=POINT_TIME,
        )
        return plan.points(self.target)

    def _placed(self, places: Sequence[Mapping[str, object]]) -> None:
        """Raises LeadlineError where not every rank has a host of its own."""
        assert self.point is not None
        if wrong := self.executor.misplaced(self.point, places):
            raise LeadlineError(wrong)
        self.names = tuple(str(place["host"]) for place in places)
        if len(set(self.names)) < len(self.names):
            raise LeadlineError(f"two ranks were on one host: {' '.join(self.names)}")


def compare(asked: HostsRequest, number: int, directory: Path, say: Callable[[str], None]) -> Compared:
    """Compare `number` hosts; `directory` is on a file system that they share; `say` hears each step.

    Raises UsageError for fewer than three hosts, LeadlineError where ranks cannot be started on all of them.
    """
    if number < 3:
        raise UsageError(
            f"a comparison needs three hosts or more, to tell which of them is slow, but got {number}; "
            "'leadline run latency --hosts A,B' measures a pair"
        )
    target = LocalMachine.here(hosts=asked.hosts, agent=asked.agent)
    mpi = target.mpis(asked.mpi)[0]
    asked = HostsRequest(asked.hosts, mpi, asked.agent, asked.launcher)
    rounds = _Rounds(asked, target.executor(directory, directory, say), target, number, say)
    pairs: set[Pair] = set()
    for metric, limit in LIMITS.items():

        def fastest(groups: Sequence[Group], metric: str = metric) -> Mapping[Group, float]:
            say(f"{metric}: {len(groups)} groups of up to {max(map(len, groups))} pairs")
            return rounds.measure(groups, [metric], max)[metric]

        pairs |= set(suspects(number, fastest, limit))
    hosts: list[Pair] = [(host, host) for host in range(number)]
    groups: list[Group] = [*((pair,) for pair in sorted(pairs)), *((host,) for host in hosts)]
    wanted = launches_needed(number, len(pairs))
    taken = []
    for launch in range(wanted):
        say(f"{len(pairs)} pairs of {number} hosts, launch {launch + 1} of {wanted}")
        taken.append(rounds.measure(groups, list(SIZES), median))
    links, alone = {}, {}
    for metric in LIMITS:
        speeds = [{pair: each[metric][(pair,)] for pair in pairs} for each in taken]
        links[metric] = judge(speeds, number, metric)
        own = [{host: each[metric][((host, host),)] for host in range(number)} for each in taken]
        alone[metric] = judge_alone(own, metric)
    say("asking the hosts for their settings")
    known = next(each for each in target.known if each.id == mpi)
    settings, clocks = _settings(known, asked, number, rounds, directory)
    return Compared(rounds.names, mpi, links, alone, odd_ones(settings), clocks, len(pairs), rounds.launches)


def _settings(
    mpi: Mpi, asked: HostsRequest, number: int, rounds: _Rounds, directory: Path
) -> tuple[dict[str, dict[str, object]], dict[str, float]]:
    """Settings of each host, and by how much, in s, its time of day is wrong at least."""
    env = family(mpi).environment(mpi)
    start = Start(number, "nodes", asked.hosts, env, agent=asked.agent)
    program = build(mpi)
    with scratch(directory) as place:
        command = [*starter(mpi, asked.launcher)(mpi, start), sys.executable, "-m"]
        command += ["leadline.targets.local.host_facts", str(program), str(place)]
        begin = time.time()
        ended = run_command(command, env, SETTINGS_LIMIT)
        end = time.time()
        told: dict[str, dict[str, Any]] = {}
        for _ in range(int(PATIENCE * 10)):
            told = {each["host"]: each for each in map(_read, sorted(place.glob("*.json")))}
            if len(told) >= number or ended.status != 0:
                break
            time.sleep(0.1)
    missing = [name for name in rounds.names if name not in told]
    if missing:
        why = f": {ended.output.strip().splitlines()[-1]}" if ended.output.strip() else ""
        raise LeadlineError(f"{', '.join(missing)} did not report settings{why}")
    broken = [f"{host}: {each['error']}" for host, each in told.items() if "error" in each]
    if broken:
        raise LeadlineError("; ".join(broken))
    wrong = {host: max(begin - each["time"], each["time"] - end, 0.0) for host, each in told.items()}
    settings = {host: each["settings"] for host, each in told.items()}
    return settings, {host: by for host, by in wrong.items() if by > 0}


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found
