"""The history of a watched machine: a directory of runs of one plan, and where its baseline begins.

Runs are numbered as they are taken (`run-0001`, ...): their order is that of the numbers, whatever the clock
said. A run that cannot be used is set aside with its reason and nothing is guessed about it.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from leadline.analysis import watch
from leadline.analysis.watch import Finding
from leadline.core import journal
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.record import OK
from leadline.core.record_files import replace
from leadline.run import store
from leadline.run.watched_points import error_of, exactly, is_exact, log_of, points_of

BASELINE, LOCK = "baseline.json", ".lock"
FAILS = "failed"  # a point of the baseline that failed, or was wrong, in the newest run
_NAME = re.compile(r"run-(\d{4,})")
# Facts whose change may explain a change of the numbers, by where the provenance has them.
_CIRCUMSTANCES = {
    "kernel": ("machine", "kernel"),
    "governor": ("machine", "governor"),
    "huge pages": ("machine", "huge_pages"),
    "distribution": ("machine", "distribution"),
    "host": ("machine", "host"),
    "cores": ("machine", "cores"),
    "memory": ("machine", "memory"),
    "compiler": ("compiler", "version"),
    "Leadline": ("leadline",),
    "commit": ("commit",),
}
FIRST = "simulated: exact from the second run on"


@dataclass(frozen=True)
class Baseline:
    """The run that the baseline begins with (None: the next one), of how many runs it is, when it was set."""

    first: str | None
    runs: int = watch.BASELINE
    accepted: str = ""


@dataclass(frozen=True)
class WatchedRun:
    """A run of a history; `date` is None where its provenance has none."""

    name: str
    path: Path
    facts: Mapping[str, Any]
    plan: str
    records: pl.DataFrame

    @property
    def date(self) -> datetime | None:
        """When it was begun."""
        said = self.facts.get("date")
        try:
            return datetime.fromisoformat(said) if isinstance(said, str) else None
        except ValueError:
            return None

    @property
    def told(self) -> str:
        """Its name with its date."""
        return f"{self.name} ({self.date:%Y-%m-%d})" if self.date else self.name


@dataclass(frozen=True)
class History:
    """The runs from the baseline's first on that can be compared with it, and those that were set aside."""

    directory: Path
    baseline: Baseline
    runs: Sequence[WatchedRun]
    aside: Mapping[str, str]  # the reason by the name of the run
    notes: Sequence[str]
    newest: str | None  # the run that was taken last, used or not

    @property
    def days(self) -> list[float]:
        """The day of each run from the first one's; it never falls."""
        days: list[float] = []
        first = next((run.date for run in self.runs if run.date), None)
        for run in self.runs:
            known = (run.date - first) / timedelta(days=1) if run.date and first else 0.0
            days.append(max([known, *days[-1:]]))
        return days


@dataclass(frozen=True)
class Point:
    """A point of the newest run, its value in each run (SI; None: not measured), and what is found of it."""

    names: Mapping[str, Any]  # keys and coordinates
    unit: str
    better: str
    values: Sequence[float | None]
    finding: Finding
    reason: str | None = None

    @property
    def change(self) -> tuple[float, float, float] | None:
        """Relative change of the value with its 95 % interval; None where it is not known."""
        found = self.finding
        if found.change is None or found.low is None or found.high is None:
            return None
        if self.better != "higher":
            return found.change, found.low, found.high
        return tuple(1 / (1 + each) - 1 for each in (found.change, found.high, found.low))  # type: ignore[return-value]


@dataclass(frozen=True)
class Verdict:
    """What a history says of its newest run."""

    history: History
    points: Sequence[Point]
    shared: Finding | None
    baseline: int  # runs in it; 0 where it is not complete
    together: Sequence[float]  # what all points share, for each run; logarithms of times
    threshold: float

    @property
    def learning(self) -> bool:
        """Whether too few runs are known to judge any."""
        return not self.baseline and not any(point.reason == "simulated: exact" for point in self.points)

    @property
    def bad(self) -> bool:
        """Whether something is worse than the baseline."""
        return any(point.finding.bad or point.finding.verdict == FAILS for point in self.points) or bool(
            self.shared and self.shared.bad
        )


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """No other watch uses the history meanwhile. Raises LeadlineError while one does."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = journal.open_locked(directory / LOCK, os.O_CREAT)
    except OSError as problem:
        raise LeadlineError(f"cannot write the history {directory}: {problem.strerror}") from problem
    with lock:
        yield


def next_run(directory: Path) -> Path:
    """Where the next run of a history goes."""
    return directory / f"run-{max(map(_number, names(directory)), default=0) + 1:04d}"


def names(directory: Path) -> list[str]:
    """The names of all runs, in their order."""
    return sorted((path.name for path in directory.glob("run-*") if _NAME.fullmatch(path.name)), key=_number)


def _number(name: str) -> int:
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else 0


def accept(directory: Path, first: str | None, runs: int) -> Baseline:
    """Let the baseline begin with a run, or with the next one (None).

    Raises UsageError for a run that is not there, cannot be used, or a baseline of too few runs.
    """
    if runs < watch.LEAST:
        raise UsageError(f"a baseline has {watch.LEAST} runs or more, but got {runs}")
    if first is not None:
        _open(directory / first)
    accepted = Baseline(first, runs, datetime.now().astimezone().isoformat(timespec="seconds"))
    replace(directory / BASELINE, journal.to_json(vars(accepted)))
    return accepted


def baseline_of(directory: Path) -> Baseline | None:
    """The accepted baseline; None where none was. Raises LeadlineError where its file is damaged."""
    path = directory / BASELINE
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        baseline = Baseline(found["first"], int(found["runs"]), str(found["accepted"]))
        if not (baseline.first is None or isinstance(baseline.first, str)) or baseline.runs < watch.LEAST:
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise LeadlineError(
            f"{path} is damaged; 'leadline watch accept RUN --history {directory}' writes it anew"
        ) from problem
    return baseline


def runs_of_baseline(directory: Path) -> int | None:
    """Of how many runs the accepted baseline is; None where none was accepted or its file is damaged."""
    try:
        baseline = baseline_of(directory)
    except LeadlineError:
        return None
    return baseline.runs if baseline else None


def _open(path: Path) -> WatchedRun:
    """A run that can be used; LeadlineError, with the reason, where it cannot."""
    if not path.is_dir():
        raise UsageError(f"there is no run {path.name} in {path.parent}")
    if (path / store.JOURNAL).exists():
        raise LeadlineError(f"it is not finished; 'leadline run --resume {path}' finishes it")
    records = store.load(path)
    if not (records["status"] == OK).any():
        raise LeadlineError("nothing was measured in it")
    return WatchedRun(path.name, path, store.provenance(path), store.plan_text(path), records)


def open_history(directory: Path, any_host: bool = False) -> History:
    """The history in a directory, empty where nothing was taken yet.

    `any_host`: runs on other hosts with the same processor belong to it. Raises UsageError where the baseline
    begins with a run that is gone, LeadlineError where it cannot be read.
    """
    if not directory.is_dir():
        raise UsageError(
            f"there is no history {directory}; 'leadline watch PLAN --history {directory}' begins one"
        )
    known_names = names(directory)
    baseline = baseline_of(directory)
    if baseline and baseline.first and baseline.first not in known_names:
        raise UsageError(
            f"the baseline of {directory} begins with {baseline.first}, which is gone; accept another run "
            f"with 'leadline watch accept RUN --history {directory}'"
        )
    if baseline and baseline.first is None:
        return History(directory, baseline, [], {}, [], None)
    first = baseline.first if baseline else None
    runs: list[WatchedRun] = []
    aside: dict[str, str] = {}
    for name in known_names:
        if first is not None and _number(name) < _number(first):
            continue
        try:
            opened = _open(directory / name)
        except (LeadlineError, OSError) as problem:
            if name == first:
                raise LeadlineError(
                    f"{name}, with which the baseline begins, cannot be used: {problem}"
                ) from problem
            aside[name] = str(problem)
            continue
        reason = differs(runs[0], opened.plan, opened.facts, any_host) if runs else None
        if reason:
            aside[name] = reason
        else:
            runs.append(opened)
    known = baseline or Baseline(runs[0].name if runs else None)
    return History(directory, known, runs, aside, _notes(runs), known_names[-1] if known_names else None)


def differs(first: WatchedRun, plan: str, facts: Mapping[str, Any], any_host: bool) -> str | None:
    """Why a run with that plan and provenance cannot be compared with the baseline's first, or None."""
    if plan != first.plan:
        return f"its plan differs from that of {first.name}"
    for what, key in (("simulated machine", "simulated"), ("machine", "machine")):
        before, after = (each.get(key) or {} for each in (first.facts, facts))
        if bool(before) != bool(after):
            was, now = ("simulated" if each else "measured" for each in (before, after))
            return f"{first.name} is {was}, and this one {now}"
        names = (
            ("machine", "partition", "network", "mapping", "noise") if key == "simulated" else ("cpu", "host")
        )
        for name in names:
            if name == "host" and any_host:
                continue
            if before.get(name) != after.get(name):
                return f"{what}: {name} was {before.get(name)} in {first.name} and is {after.get(name)}"
    return None


def _notes(runs: Sequence[WatchedRun]) -> list[str]:
    """What is odd in a history, in sentences."""
    notes = []
    for before, after in pairwise(runs):
        if before.date and after.date and after.date < before.date:
            notes.append(
                f"{after.told} is dated before {before.told}: the clock went backwards; runs are taken in "
                "the order of their numbers"
            )
    undated = [run.name for run in runs if run.date is None]
    if undated:
        notes.append(f"without a date, taken as of the day of the run before: {', '.join(undated)}")
    return notes


def circumstances(runs: Sequence[WatchedRun]) -> list[tuple[WatchedRun, str, str, str]]:
    """What changed around the runs: the first run with a new kernel, MPI, ...; what, before and after."""
    found = []
    for before, after in pairwise(runs):
        for name, path in _CIRCUMSTANCES.items():
            old, new = _fact(before.facts, path), _fact(after.facts, path)
            if old != new:
                found.append((after, name, old, new))
        old, new = (
            ", ".join(sorted(run.records["mpi"].drop_nulls().unique().to_list())) for run in (before, after)
        )
        if old != new:
            found.append((after, "MPI", old, new))
    return found


def _fact(facts: Mapping[str, Any], path: Sequence[str]) -> str:
    value: Any = facts
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return "" if value is None else str(value)


def judge(  # noqa: PLR0912  (one branch for each kind of point)
    history: History, threshold: float = watch.THRESHOLD
) -> Verdict:
    """What the history says of its newest run.

    Raises UsageError where that run was set aside, or has no point in common with the baseline: a check that
    compares nothing must not pass.
    """
    if not names(history.directory):
        raise UsageError(f"{history.directory} is no history: it has no run of 'leadline watch run'")
    if not history.runs or history.newest is None:
        raise UsageError(f"{history.directory} has no run to judge since the baseline was set")
    if history.newest in history.aside:
        raise UsageError(
            f"{history.newest} cannot be judged: {history.aside[history.newest]}; "
            f"'leadline watch accept RUN --history {history.directory}' begins a new baseline"
        )
    tables = [points_of(run.records) for run in history.runs]
    count = history.baseline.runs
    complete = len(history.runs) > count
    before = {key for table in tables[: count if complete else max(1, len(tables) - 1)] for key in table.rows}
    keys = sorted(before | set(tables[-1].rows), key=lambda key: tuple(map(str, key)))
    if len(tables) > 1 and not before & (
        set(tables[-1].rows) | {key for key in before if tables[-1].lost(key)}
    ):
        raise UsageError(f"{history.newest} has no point in common with the baseline")
    logs, errors = (np.full((len(tables), len(keys)), np.nan) for _ in range(2))
    for row, table in enumerate(tables):
        for column, key in enumerate(keys):
            if found := table.rows.get(key):
                logs[row, column], errors[row, column] = log_of(found), error_of(found)
    exact = np.array([is_exact(key, tables) for key in keys])
    findings: list[Finding] = [Finding(watch.ABSENT, None, None, None, None, None, 0)] * len(keys)
    shared, together = None, np.zeros(len(tables))
    if complete and not exact.all():
        assessed = watch.assess(logs[:, ~exact], history.days, count, threshold, errors[:, ~exact])
        for place, finding in zip(np.flatnonzero(~exact), assessed.points, strict=True):
            findings[place] = finding
        shared, together = assessed.shared, assessed.together
    points = []
    for column, key in enumerate(keys):
        finding, reason = findings[column], None
        if lost := tables[-1].lost(key):
            finding, reason = (
                Finding(FAILS, None, None, None, None, None, 1, len(tables) - 1, worse=True),
                lost,
            )
        elif exact[column] and len(tables) > 1:
            finding, reason = exactly(logs[:, column], threshold), "simulated: exact"
        elif key not in before:
            reason = "not in the baseline"
        elif not complete and key in tables[-1].rows:
            finding = Finding(watch.UNJUDGED, None, None, None, None, None, 0)
            reason = FIRST if exact[column] else f"run {len(tables)} of a baseline of {count}"
        elif finding.verdict == watch.ABSENT and complete:
            reason = "missing in the newest run or in the baseline"
        described = next(table.rows[key] for table in reversed(tables) if key in table.rows)
        values = [table.rows[key]["value"] if key in table.rows else None for table in tables]
        known = {name: described[name] for name in tables[-1].names if described.get(name) is not None}
        points.append(Point(known, described["unit"] or "1", described["better"], values, finding, reason))
    return Verdict(history, points, shared, count if complete else 0, together.tolist(), threshold)
