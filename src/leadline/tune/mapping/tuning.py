"""Which rank should sit where: mappings are sought by cheap costs, and the best of them simulated.

Orders of axes, tilings of the ranks' grid and, up to a size, permutations are held against the machine's
usual mapping by bytes times hops and by the busiest link (`mapping_costs`). The most promising of each kind
are then simulated, as long as there is time, and the fastest is the answer.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from leadline.core.errors import LeadlineError, UsageError
from leadline.core.formatting import counted
from leadline.core.record import OK
from leadline.core.units import rounded_bytes
from leadline.machine import Machine
from leadline.machine.rank_mapping import usual
from leadline.plan.model import Plan
from leadline.targets.simulated.machine import SimulatedMachine
from leadline.tune.mapping.candidates import (
    ORDER,
    PERMUTATION,
    TILING,
    Candidate,
    order,
    orders,
    tilings,
)
from leadline.tune.mapping.costs import Cost, PartitionDistances, cost
from leadline.tune.mapping.grids import recognised
from leadline.tune.mapping.permutations import LARGEST, anneal, best_of, halves, searchable, ways
from leadline.tune.mapping.traffic import HALOS, Traffic, halo, left_out, load, volume, write

Say = Callable[[str], None]

TOLD = 6  # cases that are named
_TILINGS, _SWAPS = 0.2, 0.4  # parts of the time by whose end tilings, and then swaps, are over
_FIRST = 3  # of each kind that are simulated before any others
_AT_ONCE = 4  # mappings that one simulation takes on
_MOST = 64  # that are simulated, however much time there is


@dataclass(frozen=True)
class Case:
    """A benchmark at one point of its sweeps, over a network: what is to become faster."""

    benchmark: str
    values: Mapping[str, int | str]
    network: str

    def told(self) -> str:
        """In a few words: "halo edge=64 way=nonblocking"."""
        return " ".join([self.benchmark, *(f"{name}={value}" for name, value in self.values.items())])


@dataclass(frozen=True)
class Task:
    """So many ranks of a machine, what they do, and what they say to each other in it."""

    machine: Machine
    ranks: int
    cases: tuple[Case, ...]
    traffic: Traffic
    left_out: str = ""  # what else moves data in it

    @property
    def distances(self) -> PartitionDistances:
        """The nodes that the ranks have."""
        return PartitionDistances(self.machine.partition(self.ranks), self.machine.ranks_per_node)


@dataclass(frozen=True)
class Trial:
    """A mapping with its costs and, where it was simulated, its times; as parts of the usual mapping's."""

    candidate: Candidate
    cost: Cost
    hop_bytes: float
    busiest: float
    times: tuple[float, ...] = ()  # s, of each case
    ratio: float | None = None  # mean over the cases of the time over that of the usual mapping

    @property
    def promise(self) -> float:
        """What simulation is expected to say: the mean of the two costs."""
        return (self.hop_bytes + self.busiest) / 2


@dataclass
class Outcome:
    """The trials, the usual mapping first and the others by their times; how they were found."""

    task: Task
    trials: list[Trial]
    counted: dict[str, int] = field(default_factory=dict)  # mappings of each kind that were held against it
    cut: list[str] = field(default_factory=list)  # sentences: what was not done, and why
    searched: float = 0.0  # s
    simulated: float = 0.0  # s

    @property
    def usual(self) -> Trial:
        """The machine's usual mapping."""
        return self.trials[0]

    def best(self, kind: str | None = None) -> Trial:
        """The fastest mapping, of a kind."""
        known = [each for each in self.trials if each.ratio is not None]
        return min(
            (each for each in known if kind in (None, each.candidate.kind)),
            key=lambda each: each.ratio if each.ratio is not None else float("inf"),
        )


def of_plan(path: Path, machine: Machine, ranks: int | None, network: str) -> Task:
    """The halos of a plan; on so many ranks, whatever the plan says, where a number is given.

    Raises UsageError for a plan without a halo, and for one with halos of several sizes where none is named.
    """
    plan = Plan.load(path)
    indices = [index for index, measure in enumerate(plan.measures) if measure.benchmark in HALOS]
    if not indices:
        raise UsageError(
            f"{path}: the plan has no [[measure]] of {' or '.join(HALOS)}; name one that has, or give the "
            "messages with --matrix"
        )
    target = SimulatedMachine.of(machine, path, ranks, network=network)
    points = [point for point in plan.points(target) if point.measure in indices]
    free = {index for index in indices if not plan.measures[index].settings.axes["ranks"]}
    sizes = {target.partition if point.measure in free else point.ranks for point in points}
    if ranks is None and len(sizes) > 1:
        told = ", ".join(str(each) for each in sorted(sizes))
        raise UsageError(f"{path}: its halos are of {told} ranks; choose one with --ranks")
    count = ranks or sizes.pop()
    cases = [Case(point.benchmark, dict(point.values), point.stack) for point in points]
    kinds = {HALOS[case.benchmark] for case in cases}
    if len(kinds) > 1:
        raise UsageError(f"{path}: it has both {' and '.join(HALOS)}; a mapping is sought for one of them")
    distinct = tuple(case for index, case in enumerate(cases) if case not in cases[:index])
    edges = [int(case.values.get("edge", 1)) for case in distinct]
    return Task(machine, count, distinct, halo(count, kinds.pop(), edges))


def of_matrix(path: Path, machine: Machine, ranks: int | None, network: str) -> Task:
    """The messages of a table; they are simulated as the table of the benchmark `traffic`."""
    traffic = load(path, ranks)
    machine.partition(traffic.ranks)  # refuses more ranks than there are
    return Task(machine, traffic.ranks, (Case("traffic", {}, network),), traffic, left_out(path))


def tune(task: Task, seconds: float, kinds: Sequence[str], say: Say = lambda _: None) -> Outcome:
    """Search for so long, in all; at least the usual mapping and one other are simulated.

    `kinds` are those that are sought.
    """
    began = time.monotonic()
    search = _Search(task, seconds, began)
    say("looking for mappings")
    found = list(search.run(kinds))
    outcome = Outcome(task, found[:1], search.counted, search.cut, time.monotonic() - began)
    trials = _queue(found)
    with TemporaryDirectory(prefix="leadline-mapping-") as place:
        _simulated(outcome, trials, Path(place), began + seconds, say)
    outcome.simulated = time.monotonic() - began - outcome.searched
    return outcome


class _Search:
    """The cheap part: many mappings, each with its costs over those of the usual one."""

    def __init__(self, task: Task, seconds: float, began: float) -> None:
        self.task, self.seconds, self.began = task, seconds, began
        self.distances = task.distances
        self.counted: dict[str, int] = {}
        self.cut: list[str] = []
        self.usual = order(usual(task.machine.partition(1)), self.distances, task.ranks)
        self.base = cost(self.distances, task.traffic, self.usual.nodes(self.distances))

    def run(self, kinds: Sequence[str]) -> Iterator[Trial]:
        """The usual mapping, then all others that were thought of."""
        yield self._trial(self.usual)
        rules: list[Trial] = []
        for each in self._by_rule(kinds):
            if each.name != self.usual.name:
                rules.append(self._trial(each))
            if len(rules) >= 4 * _MOST:  # of a million ranks each takes 8 MB
                rules = sorted(rules, key=lambda trial: trial.promise)[:_MOST]
        yield from rules
        if PERMUTATION in kinds:
            yield from self._permutations([self._trial(self.usual), *rules])

    def _trial(self, candidate: Candidate) -> Trial:
        """A mapping with its costs."""
        found = cost(self.distances, self.task.traffic, candidate.nodes(self.distances))
        self.counted[candidate.kind] = self.counted.get(candidate.kind, 0) + 1
        parts = [(found.hop_bytes, self.base.hop_bytes), (found.busiest, self.base.busiest)]
        hop_bytes, busiest = (mine / its if its else 1.0 for mine, its in parts)
        return Trial(candidate, found, hop_bytes, busiest)

    def _left(self, part: float) -> float:
        """Seconds until that part of the time is over."""
        return self.began + part * self.seconds - time.monotonic()

    def _by_rule(self, kinds: Sequence[str]) -> Iterator[Candidate]:
        """Orders of axes, and tilings of the grid that the ranks have, or that their messages draw."""
        ranks = self.task.ranks
        yield from orders(self.distances, ranks)
        if TILING not in kinds:
            return
        traffic, number = self.task.traffic, None
        if not traffic.grid and (grid := recognised(traffic)):
            number = grid[1]
            traffic = Traffic(ranks, traffic.source, traffic.target, traffic.bytes, grid[0])
            for each in orders(self.distances, ranks):
                name = f"{each.name} of the grid {' x '.join(map(str, grid[0]))}"
                yield Candidate(TILING, name, each.slots[number])
        for tried, each in enumerate(tilings(self.distances, traffic)):
            if self._left(_TILINGS) < 0:
                told = f"{tried:,} tiling{'' if tried == 1 else 's'} tried"
                self.cut.append(f"{told}, then a fifth of --within was over; more time tries more")
                break
            yield each if number is None else Candidate(TILING, each.name, each.slots[number])

    def _permutations(self, rules: list[Trial]) -> Iterator[Trial]:
        """By halves, and by swaps from there and from the best mapping that follows a rule."""
        if not searchable(self.distances, self.task.traffic):
            self.cut.append(f"no permutations tried: they need up to {LARGEST:,} ranks with few partners")
            return
        starts = [min(rules, key=lambda each: each.cost.hop_bytes).candidate]
        cut = halves(self.distances, self.task.traffic)
        yield self._trial(cut)
        starts.append(cut)
        if (few := ways(self.distances, self.task.ranks)) is not None:
            tried = f"all {len(few):,} ways" if len(few) > 1 else "the only way"
            self.cut.append(f"no swaps tried, as {tried} to put the ranks on nodes had been compared")
            yield self._trial(best_of(few, self.distances, self.task.traffic))
            return
        for left, start in zip((2, 1), starts, strict=True):
            seconds = max(0.1, self._left(_SWAPS) / left)
            yield self._trial(anneal(self.distances, self.task.traffic, start, seconds))


def _queue(found: Sequence[Trial]) -> list[Trial]:
    """In which order mappings are simulated: the most promising of each kind, then all others likewise."""
    ranked = sorted(found[1:], key=lambda each: each.promise)
    first = [
        each
        for kind in (ORDER, TILING, PERMUTATION)
        for each in [one for one in ranked if one.candidate.kind == kind][:_FIRST]
    ]
    first.sort(key=lambda each: each.promise)
    return [*first, *(each for each in ranked if each not in first)][:_MOST]


def _simulated(outcome: Outcome, trials: list[Trial], place: Path, end: float, say: Say) -> None:
    """Simulate the usual mapping, then others as long as there is time."""
    simulator = _Simulator(outcome.task, place)
    say("simulating the usual mapping")
    start = time.monotonic()
    times = simulator.times([outcome.usual.candidate])[0]
    each_takes = time.monotonic() - start
    if times is None:
        raise LeadlineError(f"the usual mapping could not be simulated: {simulator.reason}")
    outcome.trials = [_with_times(outcome.usual, times, times)]
    done = 0
    while done < len(trials):
        count = min(_AT_ONCE, int((end - time.monotonic()) / each_takes), len(trials) - done)
        if count < 1 and done:
            break
        part = trials[done : done + max(1, count)]
        say(f"simulating mapping {done + 1} of {len(trials)}")
        start = time.monotonic()
        for trial, found in zip(part, simulator.times([one.candidate for one in part]), strict=True):
            if found is not None:
                outcome.trials.append(_with_times(trial, found, times))
        each_takes = (time.monotonic() - start) / len(part)
        done += len(part)
    if done < len(trials):
        left = len(trials) - done
        outcome.cut.append(f"time ran out: {left} promising mapping{'' if left == 1 else 's'} not simulated")
    outcome.trials[1:] = sorted(outcome.trials[1:], key=lambda each: each.ratio or 0.0)


def _with_times(trial: Trial, times: tuple[float, ...], usual: tuple[float, ...]) -> Trial:
    ratio = sum(mine / its for mine, its in zip(times, usual, strict=True)) / len(times)
    return Trial(trial.candidate, trial.cost, trial.hop_bytes, trial.busiest, times, ratio)


class _Simulator:
    """Runs the cases under mappings, as `leadline run --on` does."""

    def __init__(self, task: Task, place: Path) -> None:
        self.task, self.place = task, place
        self.runs = 0
        self.reason = ""
        if not task.traffic.grid:
            write(task.traffic, place / "table.csv")

    def times(self, candidates: Sequence[Candidate]) -> list[tuple[float, ...] | None]:
        """The time of each case under each mapping, s; None where it could not be simulated."""
        from leadline.run.session import simulate  # noqa: PLC0415  (polars takes a while to load)

        self.runs += 1
        names = [self._mapping(each, index) for index, each in enumerate(candidates)]
        plan = self._plan(names)
        records = simulate(plan, SimulatedMachine.of(self.task.machine, plan.path, self.task.ranks))
        found: dict[str, dict[object, float]] = {}
        for row in records.iter_rows(named=True):
            if row["status"] != OK:
                self.reason = row["reason"]
            elif row["metric"] == "time":
                case = (row["benchmark"], row["stack"], *(row.get(name) for name in self._names()))
                found.setdefault(row["mapping"], {})[case] = row["samples"][-1]
        wanted = [
            (case.benchmark, case.network, *(self._values(case).get(name) for name in self._names()))
            for case in self.task.cases
        ]
        return [
            tuple(found[name][case] for case in wanted)
            if name in found and all(case in found[name] for case in wanted)
            else None
            for name in names
        ]

    def _names(self) -> list[str]:
        """The coordinates of all cases."""
        return sorted({name for case in self.task.cases for name in self._values(case)})

    def _values(self, case: Case) -> Mapping[str, int | str]:
        """The coordinates of a case; a table of messages is one of this directory."""
        return case.values or {"table": str(self.place / "table.csv")}

    def _mapping(self, candidate: Candidate, index: int) -> str:
        """The mapping as a plan names it: an order as it is, anything else as a file."""
        if candidate.kind == ORDER:
            return candidate.name
        path = self.place / f"seats-{self.runs}-{index}.txt"
        path.write_text(seat_lines(candidate, self.task.distances), encoding="ascii")
        return path.name

    def _plan(self, mappings: Sequence[str]) -> Plan:
        return Plan.of(
            *(
                {"benchmark": case.benchmark, "network": case.network, **self._values(case)}
                for case in self.task.cases
            ),
            name="mappings",
            beside=self.place,
            ranks=self.task.ranks,
            partition=self.task.ranks,
            mapping=list(mappings),
        )


def seat_lines(candidate: Candidate, distances: PartitionDistances) -> str:
    """A mapping's file: a line a rank, the coordinates of its node and its core."""
    rows = candidate.places(distances).tolist()
    return "\n".join(" ".join(map(str, row)) for row in rows) + "\n"


def told_in_short(cases: Sequence[Case]) -> str:
    """The cases by network: the first few, and how many more."""
    said = []
    for network in dict.fromkeys(case.network for case in cases):
        told = [case.told() for case in cases if case.network == network]
        more = f"; and {len(told) - TOLD} more" if len(told) > TOLD else ""
        said.append(f"{'; '.join(told[:TOLD])}{more}; network model {network}")
    return "; ".join(said)


def method(outcome: Outcome) -> list[str]:
    """How the answer was found, in sentences."""
    task = outcome.task
    kinds = ", ".join(counted(count, kind) for kind, count in outcome.counted.items())
    there = len(task.traffic.source)
    pairs = f"{counted(there, 'pair')} that exchange{'s' if there == 1 else ''}"
    usual = outcome.usual.candidate.name
    done = sum(each.ratio is not None for each in outcome.trials)
    lines = [
        f"{task.ranks:,} ranks of {task.machine.name}, {pairs} "
        f"{rounded_bytes(int(volume(task.traffic)))}: {kinds} compared with {usual} "
        f"by bytes times hops and by the busiest link, in {outcome.searched:.1f} s.",
        f"{done} of them simulated in {outcome.simulated:.1f} s: "
        + told_in_short(task.cases)
        + f". Times are relative to that of {usual}"
        + ("." if len(task.cases) == 1 else "; the table has their mean over the cases."),
    ]
    if task.left_out:
        lines.append(f"What the program's {task.left_out} move is left out: a mapping may be worse for them.")
    return [*lines, *(f"{each[0].upper()}{each[1:]}." for each in outcome.cut)]
