"""A plan's points taken over many launches until the answers are tight or the time is spent.

Launches are the sample: the same binary gives values in one launch that lie closer together than those of
two launches, whatever is repeated within (10-17 % between launches for an 8 B latency against a few within).
So every point is launched anew again and again. Each round launches every kind of launch once, the kinds of
all MPIs in turn, so that drift affects all alike; the points of a launch come in an order that changes with
each round. A headline point also gets short launches of its own in between.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf
from typing import Any, Protocol

import polars as pl

from leadline.analysis.estimates import estimate, launch_estimates
from leadline.core.record import FAILED, INVALID, MEASURED, OK, SKIPPED, Record, point_columns
from leadline.core.record_files import PointKey, point_key
from leadline.core.statistics import tight
from leadline.native.launch import Event
from leadline.plan.model import Plan, Point
from leadline.run.listener import Listener, Outcome, record
from leadline.targets import Executor

UNREACHED = "the plan's time was spent before this point's turn"
BETWEEN = 5.0  # s; a longer gap between two launches is one between two sessions of the same run
LONGEST = 5.0  # s of points in one launch: what a killed launch can cost, and how finely time is kept
TRIES = 2  # failures of a point, or of a kind of launch, after which it is left alone


class Records(Protocol):
    """Where records go."""

    def append(self, records: Iterable[Record]) -> None:
        """Add records; those of one point and launch come together."""

    def records(self) -> pl.DataFrame:
        """The records so far."""


@dataclass
class Progress:
    """How far a campaign is; handed to whoever shows it."""

    elapsed: float  # s
    time: float  # s, of the plan
    launches: int
    open: int  # points that still want launches
    points: int  # of the whole plan
    doing: str

    def told(self) -> str:
        """What is being done, and how far it is, for a line."""
        return f"{self.doing} ({self.points - self.open} of {self.points} points done)"


@dataclass
class _State:
    """A point and what its launches have said so far."""

    point: Point
    medians: list[float] = field(default_factory=list)  # of its first metric, one a launch
    launches: int = 0
    failures: int = 0
    failed_before: bool = False  # in the run that this one continues, which has a record of it
    closed: bool = False

    def wants(self) -> bool:
        """Whether another launch may still tell something."""
        p = self.point
        if self.closed or self.failures >= TRIES or self.launches >= p.launches.at_most:
            return False
        return self.launches < p.launches.at_least or not tight(self.medians, p.tolerance)


class Campaign:
    """The points of a plan, an executor, and the store that every finished point goes to at once."""

    def __init__(
        self,
        plan: Plan,
        points: Iterable[Point],
        executor: Executor,
        store: Records,
        *,
        clock: Callable[[], float] = time.monotonic,
        show: Callable[[Progress], None] = lambda _: None,
        seed: int = 1,
    ) -> None:
        """`clock` gives s; `seed` decides the order of points within launches.

        Where points are simulated the plan's time is no limit and no point a headline: one launch answers.
        """
        self.executor = executor
        self.measuring = executor.source == MEASURED
        self.plan = plan if self.measuring else replace(plan, time=inf, headline=None)
        self.store = store
        self.clock = clock
        self.show = show
        self.random = random.Random(seed)
        self.states = {point.key: _State(point) for point in points}
        self.kinds: dict[tuple[object, ...], list[_State]] = {}
        for state in self.states.values():
            self.kinds.setdefault(state.point.launch_key, []).append(state)
        self.next_launch = 0
        self.headline_time = 0.0
        self.spent_before = 0.0  # s, by the run that this one goes on with
        self.costs: dict[tuple[object, ...], float] = {}  # s, of the last launch of each kind
        self.failed_starts: dict[tuple[object, ...], int] = {}  # of each kind
        self.measure_time: dict[int, float] = {}  # s, spent on each measurement of the plan
        self.remarks: set[str] = set()  # what somebody should know of launches that answered all the same
        self.doing = ""

    def resume(self) -> None:
        """Take what the store holds already as done; points that failed are tried anew.

        What made them fail, such as a node that went down or a limit, need not be so any more.
        """
        records = self.store.records()
        coordinates = point_columns(records)

        def key_of(row: Mapping[str, Any]) -> PointKey:
            return point_key(row["benchmark"], row, {name: row[name] for name in coordinates})

        first: dict[PointKey, str] = {}
        for each in launch_estimates(records).to_dicts():
            key = key_of(each)
            if key in self.states and first.setdefault(key, each["metric"]) == each["metric"]:
                self.states[key].medians.append(each["median"])
        ran: dict[PointKey, set[int]] = {}
        for each in records.filter(records["status"] == OK).drop("samples").to_dicts():
            ran.setdefault(key_of(each), set()).add(each["launch"])
        for key, launches in ran.items():
            if key in self.states:
                self.states[key].launches = len(launches)
        if records.height:
            if self.measuring:
                self.next_launch = int(records["launch"].max()) + 1  # type: ignore[arg-type]
            self.spent_before = _spent(records)
        for each in records.filter(records["status"] != OK).to_dicts():
            if (state := self.states.get(key_of(each))) is not None:
                state.failed_before = state.failed_before or each["status"] == FAILED
                state.closed = state.closed or (each["status"] == SKIPPED and each["reason"] != UNREACHED)
                state.closed = state.closed or each["status"] == INVALID

    def wanted(self) -> list[Point]:
        """The points that are not done yet."""
        return [state.point for state in self.states.values() if not state.closed]

    def prepare(self) -> None:
        """Have every kind of launch prepared; points that cannot be launched are records with their reason.

        This builds and asks the libraries, which is not the plan's time.
        """
        for state in self.states.values():
            if state.closed or not (refusal := self.executor.refuse(state.point)):
                continue
            status, reason = refusal
            if not state.failed_before:
                self.store.append([self._record(state.point, status, reason)])
            state.closed = True

    def run(self) -> None:
        """Launch until every answer is tight or the plan's time is spent; `prepare` comes before."""
        self.began = self.clock() - self.spent_before
        full_rounds = 0
        while any(self._open(state) for state in self.states.values()):
            if full_rounds and self._over():
                break
            if full_rounds and self._headline_is_due():
                self._round(headline=True)
            else:
                self._round(headline=False)
                full_rounds += 1
        self._close_unreached()
        self._tell_loose()

    @property
    def elapsed(self) -> float:
        """Time that the plan has taken so far, s."""
        return self.clock() - self.began

    def _over(self) -> bool:
        """Whether the time is spent, or would be by the cheapest launch that is still wanted."""
        wanted = [key for key, states in self.kinds.items() if any(self._open(state) for state in states)]
        cheapest = min((self.costs.get(key, 0.0) for key in wanted), default=0.0)
        return self.elapsed + cheapest > self.plan.time

    def _headline_is_due(self) -> bool:
        """Whether the headline's short launches are behind their share of the time."""
        if self.plan.headline is None:
            return False
        wanted = any(state.point.headline and self._open(state) for state in self.states.values())
        others = any(not state.point.headline and self._open(state) for state in self.states.values())
        return wanted and (not others or self.headline_time < self.plan.headline.share * self.elapsed)

    def _round(self, headline: bool) -> None:
        """One launch of every kind that still has points to ask; simulated ones are handed over together."""
        if not self.measuring:
            self._launch([state for states in self.kinds.values() for state in states if self._open(state)])
            return
        for key, states in self.kinds.items():
            wanted = [s for s in states if self._open(s) and (s.point.headline or not headline)]
            self.random.shuffle(wanted)
            for part in _parts(wanted):
                if self.elapsed > self.plan.time:
                    return
                begin = self.clock()
                self._launch(part)
                self.costs[key] = self.clock() - begin
                if headline:
                    self.headline_time += self.costs[key]

    def _open(self, state: _State) -> bool:
        """Whether a point wants another launch and its measurement has time left, if it was given some."""
        given = state.point.time
        return state.wants() and (given is None or self.measure_time.get(state.point.measure, 0.0) < given)

    def _launch(self, states: list[_State]) -> None:
        """Launch the points; those that a lost launch left unasked are launched again."""
        while states:
            states = self._once(states)

    def _once(self, states: list[_State]) -> list[_State]:
        """One launch. Returns the states that a lost launch left unasked."""
        launch, self.next_launch = self.next_launch, self.next_launch + self.measuring
        points = [state.point for state in states]
        listener = Listener(points, self.executor, launch)
        self.doing = points[0].describe()
        first = 0  # of the points that are not answered
        began = self.clock()
        try:
            with closing(self.executor.launch(points, self._tick)) as events:
                for event in events:
                    if event["event"] == "died":
                        return self._lost(states, listener, event)
                    if outcome := listener.hear(event):
                        self._take(states[outcome.index], outcome)
                        if not self.measuring:  # one launch has all points, of which some take minutes
                            while first < len(points) and first in listener.answered:
                                first += 1
                            self.doing = points[min(first, len(points) - 1)].describe()
        finally:
            self.remarks.update(listener.remarks)
            each = (self.clock() - began) / max(1, len(points))  # shared by their measurements
            for point in points:
                self.measure_time[point.measure] = self.measure_time.get(point.measure, 0.0) + each
        return []

    def _lost(self, states: list[_State], listener: Listener, event: Event) -> list[_State]:
        """Take what a lost launch was asking as failed; the states that it never came to."""
        if event["id"] is not None:
            self._take(states[event["id"]], listener.failed(event["id"], event["reason"]))
        elif not listener.answered:
            key = states[0].point.launch_key
            self.failed_starts[key] = self.failed_starts.get(key, 0) + 1
            if self.failed_starts[key] < TRIES:
                return states
            for index, state in enumerate(states):
                self._take(state, listener.failed(index, event["reason"], closed=True))
        return [state for index, state in enumerate(states) if index not in listener.answered]

    def _take(self, state: _State, outcome: Outcome) -> None:
        """Count what a launch found of a point, and put its records on the disk."""
        state.failures += outcome.failures
        state.closed = state.closed or outcome.closed
        measured = [each for each in outcome.records if each.status == OK]
        if measured:
            state.launches += 1
            typical = estimate(measured[0].samples or (), measured[0].warmup)
            state.medians += [] if typical is None else [typical]
        if outcome.records:
            self.store.append(outcome.records)

    def _tick(self) -> None:
        """Show how far it is."""
        wanting = sum(self._open(state) for state in self.states.values())
        points, time = len(self.states), self.plan.time
        self.show(Progress(self.elapsed, time, self.next_launch, wanting, points, self.doing))

    def _close_unreached(self) -> None:
        """A point that the time never came to is a record with that reason."""
        unreached = [
            self._record(state.point, SKIPPED, UNREACHED)
            for state in self.states.values()
            if not (state.closed or state.launches or state.failures or state.failed_before)
        ]
        if unreached:
            self.store.append(unreached)

    def _tell_loose(self) -> None:
        """Say how many values are known less well than the plan asks."""
        if not self.measuring:
            return
        answered = [state for state in self.states.values() if state.medians]
        loose = [state for state in answered if not tight(state.medians, state.point.tolerance)]
        if loose:
            asked = [f"{100 * share:g} %" for share in sorted({state.point.tolerance for state in loose})]
            self.remarks.add(
                f"{len(loose)} of {len(answered)} points have intervals wider than the plan's tolerance "
                f"({', '.join(asked)}); more time or launches make them narrower"
            )

    def _record(self, point: Point, status: str, reason: str) -> Record:
        """A record of a point that was not launched."""
        return record(point, self.executor.source, self.next_launch, status=status, reason=reason)


def _spent(records: pl.DataFrame) -> float:
    """Time that a run has taken by its records, s: its launches and the short gaps between them."""
    spans = (
        records.with_columns(ended=pl.col("started") + pl.duration(seconds=pl.col("duration").fill_null(0.0)))
        .group_by("launch")
        .agg(pl.col("started").min(), pl.col("ended").max())
        .sort("started")
        .rows()
    )
    took = sum((ended - started).total_seconds() for _, started, ended in spans)
    gaps = [(after[1] - before[2]).total_seconds() for before, after in pairwise(spans)]
    return float(took + sum(gap for gap in gaps if 0 < gap < BETWEEN))


def _parts(states: list[_State]) -> Iterator[list[_State]]:
    """The points of one kind of launch in parts, none much longer than `LONGEST`."""
    part: list[_State] = []
    for state in states:
        part.append(state)
        if sum(each.point.point_time for each in part) >= LONGEST:
            yield part
            part = []
    if part:
        yield part
