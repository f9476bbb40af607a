"""A plan's points taken over many launches until the answers are tight or the time is spent.

Launches are the sample: the same binary gives values in one launch that lie closer together than those of
two launches, whatever is repeated within (10-17 % between launches for an 8 B latency against a few within).
So every point is launched anew again and again. Each round launches every kind of launch once, the kinds of
all MPIs in turn, so that drift affects all alike; the points of a launch come in an order that changes with
each round. A headline point also gets short launches of its own in between.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from math import inf
from statistics import median
from typing import Any, Protocol

import polars as pl

from leadline.analysis.estimates import launch_estimates
from leadline.core.record import FAILED, INVALID, KEYS, MEASURED, OK, SKIPPED, point_columns
from leadline.core.record_files import PointKey, point_key
from leadline.core.statistics import tight
from leadline.plan.model import Plan, Point
from leadline.programs.launch import Event
from leadline.targets import Executor
from leadline.targets.local.placement import binding, misplaced

Row = dict[str, Any]
UNREACHED = "the plan's time was spent before this point's turn"
BETWEEN = 5.0  # s; a longer gap between two launches is one between two sessions of the same run
LONGEST = 5.0  # s of points in one launch: what a killed launch can cost, and how finely time is kept
TRIES = 2  # failures of a point, or of a kind of launch, after which it is left alone


class Records(Protocol):
    """Where records go."""

    def append(self, rows: Iterable[Row]) -> None:
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


@dataclass
class _State:
    """A point and what its launches have said so far."""

    point: Point
    medians: list[float] = field(default_factory=list)  # of its first metric, one a launch
    launches: int = 0
    failures: int = 0
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
        """Take what the store holds already as done."""
        records = self.store.records()
        first: dict[PointKey, str] = {}
        for row in launch_estimates(records).to_dicts():
            key = point_key(row, point_columns(records))
            if key in self.states and first.setdefault(key, row["metric"]) == row["metric"]:
                self.states[key].medians.append(row["median"])
                self.states[key].launches += 1
        if records.height:
            if self.measuring:
                self.next_launch = int(records["launch"].max()) + 1  # type: ignore[arg-type]
            self.spent_before = _spent(records)
        for row in records.filter(records["status"] != OK).to_dicts():
            if (state := self.states.get(point_key(row))) is not None:
                state.failures += row["status"] == FAILED
                state.closed = state.closed or (row["status"] == SKIPPED and row["reason"] != UNREACHED)
                state.closed = state.closed or row["status"] == INVALID

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
            if not state.failures:  # else it was said by the run that this one goes on with
                self.store.append([self._row(state.point, status=status, reason=reason)])
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
        listener = _Listener(self, states, launch)
        self.doing = states[0].point.describe()
        try:
            for event in self.executor.launch([state.point for state in states], self._tick):
                if event["event"] == "lost":
                    return listener.lost(event)
                listener.hear(event)
        finally:
            listener.account()
        return []

    def _tick(self) -> None:
        """Show how far it is."""
        wanting = sum(self._open(state) for state in self.states.values())
        points, time = len(self.states), self.plan.time
        self.show(Progress(self.elapsed, time, self.next_launch, wanting, points, self.doing))

    def _close_unreached(self) -> None:
        """A point that the time never came to is a record with that reason."""
        rows = [
            self._row(state.point, status=SKIPPED, reason=UNREACHED)
            for state in self.states.values()
            if not state.closed and state.launches == 0 and state.failures == 0
        ]
        if rows:
            self.store.append(rows)

    def _row(self, point: Point, **facts: Any) -> Row:
        """The fields of a point's record that do not depend on a launch, and `facts`."""
        return {
            "source": self.executor.source,
            "metric": "",
            **{name: getattr(point, name) for name in KEYS if hasattr(point, name)},
            "launch": self.next_launch,
            "started": datetime.now(UTC),
            **point.values,
            **facts,
        }


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


class _Listener:
    """Turns the events of one launch into rows, and each finished point into a line of the store."""

    def __init__(self, campaign: Campaign, states: list[_State], launch: int) -> None:
        self.campaign = campaign
        self.states = states
        self.launch = launch
        self.facts: Row = {"launch": launch}
        self.wrong: str | None = None  # why nothing of this launch may be believed
        self.rows: list[Row] = []
        self.answered: set[int] = set()
        self.begun = datetime.now(UTC)
        self.began = campaign.clock()

    def hear(self, event: Event) -> None:
        """Take one event."""
        kind = event["event"]
        if kind == "launch":
            self._started(event)
        elif kind == "begin":
            self.begun, self.rows = datetime.now(UTC), []
        elif kind == "record":
            self.rows.append(self._record(event))
        elif kind == "skip":
            self.states[event["id"]].closed = True
            self._add(event["id"], status=SKIPPED, reason=event["reason"])
        elif kind == "invalid":
            self.states[event["id"]].closed = True  # right another time, it would not be believed
            self._add(event["id"], status=INVALID, reason=event["reason"])
        elif kind in ("rubbish", "fail") and event["id"] is not None:
            self._fail(event["id"], event["reason"], fatal=kind == "fail")
        elif kind == "late":
            self.campaign.remarks.add(f"{self.states[0].point.mpi}: {event['reason']}")
        elif kind == "end":
            self._finished(event["id"])

    def lost(self, event: Event) -> list[_State]:
        """Record what a lost launch was asking; the states that it never came to."""
        if event["id"] is None and not self.answered:
            key = self.states[0].point.launch_key
            failed = self.campaign.failed_starts
            failed[key] = failed.get(key, 0) + 1
            if failed[key] < TRIES:
                return self.states
            for index in range(len(self.states)):
                self._fail(index, event["reason"], fatal=True)
                self._flush(index)
            return []
        if event["id"] is not None:
            self.rows = []
            self._fail(event["id"], event["reason"])
            self._flush(event["id"])
        return [state for i, state in enumerate(self.states) if i not in self.answered]

    def account(self) -> None:
        """Charge the launch's time to the measurements that shared it."""
        each = (self.campaign.clock() - self.began) / max(1, len(self.states))
        for state in self.states:
            spent = self.campaign.measure_time
            spent[state.point.measure] = spent.get(state.point.measure, 0.0) + each

    def _started(self, event: Event) -> None:
        """Where the ranks really are, and whether that is what the plan asked for."""
        point = self.states[event.get("id", 0)].point
        places = event.get("places", [])
        crowded = self.campaign.executor.oversubscribed(point)
        self.facts |= {
            "oversubscribed": crowded,
            "transport": self.campaign.executor.transport(point),
            "binding": binding(places) or None,
        }
        if event["ranks"] != point.ranks:
            self.wrong = (
                f"{point.ranks} ranks were asked for but the library started {event['ranks']}: "
                "its launcher and its library do not fit together"
            )
        elif not crowded:
            self.wrong = misplaced(point.placement, places)

    def _record(self, event: Event) -> Row:
        """The row of one metric."""
        fields = ("metric", "unit", "better", "samples", "warmup", "batch", "stopped_by", "duration")
        watched = ("run_delay", "switches", "steal", "others", "frequency", "clock_error", "late", "late_at")
        point = self.states[event["id"]].point
        taken = {name: event.get(name) for name in (*fields, *watched)}
        if "network" in event:  # where simulated: the tier that answered this point
            taken["transport"] = event["network"] or None  # none where nothing was sent
        return self.campaign._row(point, **(self.facts | taken), status=OK) | {"started": self.begun}

    def _add(self, index: int, **facts: Any) -> None:
        point = self.states[index].point
        self.rows.append(self.campaign._row(point, **self.facts, **facts) | {"started": self.begun})

    def _fail(self, index: int, reason: str, fatal: bool = False) -> None:
        state = self.states[index]
        state.failures = TRIES if fatal else state.failures + 1
        self._add(index, status=FAILED, reason=reason)

    def _finished(self, index: int) -> None:
        """A point is done in this launch: count it and put its rows on the disk."""
        state = self.states[index]
        if self.wrong:
            self.rows = []
            state.closed = True
            self._add(index, status=SKIPPED, reason=self.wrong)
        measured = [row for row in self.rows if row["status"] == OK]
        if measured:
            kept = measured[0]["samples"][measured[0]["warmup"] :]
            state.launches += 1
            state.medians.append(median(kept or measured[0]["samples"]))
        self._flush(index)

    def _flush(self, index: int) -> None:
        self.answered.add(index)
        if self.rows:
            self.campaign.store.append(self.rows)
            self.rows = []
