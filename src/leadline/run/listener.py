"""The events of one launch as outcomes: for each point that it came to, its records and whether it failed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from leadline.core.record import FAILED, INVALID, OK, SKIPPED, Record
from leadline.native.launch import Event
from leadline.plan.model import Point
from leadline.targets import Executor
from leadline.targets.local.placement import binding

# Fields of a record that an event of that name has.
MEASURED = ("metric", "unit", "better", "difference", "samples", "warmup", "batch", "stopped_by", "duration")
WATCHED = ("run_delay", "switches", "steal", "others", "frequency", "clock_error", "late", "late_at")


@dataclass
class Outcome:
    """What a launch found of a point: its records; how often it failed; whether to launch it again at all."""

    index: int  # of the point in its launch
    records: list[Record] = field(default_factory=list)
    failures: int = 0
    closed: bool = False  # skipped, invalid, or not worth another launch


def record(point: Point, source: str, launch: int, **facts: Any) -> Record:
    """A record of a point: what does not depend on the launch, and `facts`."""
    return Record(
        source=source,
        benchmark=point.benchmark,
        axes=point.axes,
        launch=launch,
        coordinates=point.values,
        **{"metric": "", "started": datetime.now(UTC), **facts},
    )


class Listener:
    """Turns the events of one launch into outcomes of its points."""

    def __init__(self, points: Sequence[Point], executor: Executor, launch: int) -> None:
        """`launch` is the launch's ordinal in the run."""
        self.points = points
        self.executor = executor
        self.launch = launch
        self.remarks: list[str] = []  # what somebody should know of a launch that answered all the same
        self.answered: set[int] = set()
        self._facts: dict[str, object] = {}
        self._wrong: str | None = None  # why nothing of this launch may be believed
        self._begun = datetime.now(UTC)
        self._pending: dict[int, Outcome] = {}  # of points that are not at their end

    def hear(self, event: Event) -> Outcome | None:
        """Take one event; the outcome of the point that ends with it."""
        kind, index = event["event"], event.get("id")
        if kind == "launch":
            self._started(event)
        elif kind == "hung_at_exit":
            self.remarks.append(f"{self.points[0].mpi}: {event['reason']}")
        elif kind == "begin":
            self._begun = datetime.now(UTC)
            self._pending[event["id"]] = Outcome(event["id"])
        elif kind == "end":
            return self._ended(event["id"])
        elif index is not None:
            self._told(self._pending.setdefault(index, Outcome(index)), event)
        return None

    def failed(self, index: int, reason: str, closed: bool = False) -> Outcome:
        """The outcome of a point with which the launch was lost; whatever it had measured does not count."""
        outcome = self._pending.pop(index, Outcome(index))
        outcome.records = [self._record(index, status=FAILED, reason=reason)]
        outcome.failures += 1
        outcome.closed = outcome.closed or closed
        self.answered.add(index)
        return outcome

    def _told(self, outcome: Outcome, event: Event) -> None:
        """Add what an event within a point says of it."""
        kind, index = event["event"], outcome.index
        if kind == "record":
            outcome.records.append(self._measured(event))
        elif kind in ("skip", "invalid"):
            outcome.closed = True  # right another time, it would not be believed
            status = SKIPPED if kind == "skip" else INVALID
            outcome.records.append(self._record(index, status=status, reason=event["reason"]))
        elif kind in ("malformed", "fail"):
            outcome.failures += 1
            outcome.closed = outcome.closed or kind == "fail"
            outcome.records.append(self._record(index, status=FAILED, reason=event["reason"]))

    def _started(self, event: Event) -> None:
        """Where the ranks really are, and whether that is what the plan asked for."""
        point = self.points[event.get("id", 0)]
        places = event.get("places", [])
        self._facts |= {
            "oversubscribed": self.executor.oversubscribed(point),
            "transport": self.executor.transport(point),
            "binding": binding(places) or None,
        }
        if event["ranks"] != point.ranks:
            self._wrong = (
                f"{point.ranks} ranks were asked for but the library started {event['ranks']}: "
                "its launcher and its library do not fit together"
            )
        else:
            self._wrong = self.executor.misplaced(point, places)

    def _measured(self, event: Event) -> Record:
        """The record of one metric."""
        taken = {name: event.get(name) for name in (*MEASURED, *WATCHED)}
        if "network" in event:  # where simulated: the tier that answered this point
            taken["transport"] = event["network"] or None  # none where nothing was sent
        return self._record(event["id"], **taken, status=OK)

    def _record(self, index: int, **facts: Any) -> Record:
        """A record of a point with what is known of the launch."""
        known = self._facts | {"started": self._begun} | facts
        return record(self.points[index], self.executor.source, self.launch, **known)

    def _ended(self, index: int) -> Outcome:
        """The outcome of a point at its end."""
        outcome = self._pending.pop(index, Outcome(index))
        if self._wrong:
            outcome.records = [self._record(index, status=FAILED, reason=self._wrong)]
            outcome.failures += 1
            outcome.closed = True
        self.answered.add(index)
        return outcome
