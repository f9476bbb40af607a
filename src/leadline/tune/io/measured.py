"""Settings judged by running: any command, or a kernel that comes with Leadline."""

import json
import math
import re
import shlex
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from leadline.core.errors import LeadlineError
from leadline.core.processes import Ended, run
from leadline.mpi.family import failure
from leadline.tune.io import files as io_files
from leadline.tune.io import log as io_log
from leadline.tune.io import preload as io_preload
from leadline.tune.io.evaluator import LATE, Outcome
from leadline.tune.search import Settings

ANSWERS, JOB = "answers.jsonl", "job.json"
PREFIX = "run-"  # of the folder of one run
RATE = re.compile(
    r"\s*([KMGTPE]?i?[A-Za-z]+ ?(?:/ ?s(?:ec(?:ond)?)?|per s(?:ec(?:ond)?)?)\b)"
)  # after a number
CHECK_LIMIT = 300.0  # s, for the command that checks what was written


@dataclass
class Command:
    """A command that is run with a settings file and the preloaded library.

    `printed` is a regular expression whose first group is what the program prints of its speed: a time in s,
    or with `maximize` a rate in any unit, whose reciprocal is made small. Without it the whole command's time
    counts. `check` is a command that fails where the data are wrong.
    """

    command: list[str]
    directory: Path  # where it is run
    scratch: Path  # for its settings and logs
    layers: Mapping[str, str]  # of each setting
    library: Path | None = None  # the preloaded one
    ranks: int = 1
    printed: str | None = None
    maximize: bool = False
    check: list[str] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    owner: Path | None = None  # the tuning whose runs these are; None: `scratch` is its folder
    exact: bool = False
    arrays: tuple[io_files.Array, ...] = ()  # that it creates, as its first run told

    @property
    def title(self) -> str:
        return shlex.join(self.command)

    def facts(self) -> dict[str, object]:
        return {
            "command": self.command,
            "title": self.title,
            "time": None if self.maximize else self.printed,
            "maximize": self.printed if self.maximize else None,
            "check": self.check,
        }

    def proves(self) -> bool:
        """No: a record says how much was written of an array, not which of its elements."""
        return False

    def run(self, settings: Settings, limit: float) -> Outcome:
        """One run; what it leaves behind is its own affair."""
        try:
            with TemporaryDirectory(prefix=PREFIX, dir=self.scratch, ignore_cleanup_errors=True) as place:
                return self._run(settings, limit, Path(place))
        except OSError as problem:
            raise LeadlineError(
                f"cannot write a run's files in {self.scratch}: {problem.strerror or problem}; every run "
                "before is kept, put that right and go on with --resume"
            ) from problem

    def _run(self, settings: Settings, limit: float, place: Path) -> Outcome:
        log = place / "log.jsonl"
        env = {**self.env, **io_files.environment(settings, self.layers)}
        env |= self._preloaded(settings, place / "settings.toml", log)
        owner = str(self.owner or self.scratch)
        ended = run(self._command(place), env, limit, self.directory, owner)
        problem = problem_of(ended, limit)
        seen = io_log.read(log)
        facts = seen.facts(settings) if seen else {"met": False} if self.library else {}
        outcome = Outcome(None, problem, ended.seconds, seen.fingerprint if seen else None, facts)
        if problem:
            return outcome
        seconds, problem = self._judge(ended, place)
        problem = (seen.refused if seen else None) or problem
        if problem is None and self.check:
            checked = run(self.check, self.env, CHECK_LIMIT, self.directory, owner)
            wrong = problem_of(checked, CHECK_LIMIT)
            problem = f"the data are wrong by '{shlex.join(self.check)}': {wrong}" if wrong else None
        return replace(outcome, seconds=None if problem else seconds, reason=problem)

    def learn(self, facts: Mapping[str, Any]) -> None:
        """Take what the first run told: arrays and ranks."""
        self.arrays = io_files.arrays_of(facts)
        self.ranks = max(self.ranks, int(facts.get("ranks") or 1))

    def _command(self, place: Path) -> list[str]:
        return self.command

    def _preloaded(self, settings: Settings, path: Path, log: Path) -> dict[str, str]:
        """What makes the program take its settings; the file is written."""
        path.write_text(io_files.toml(settings, self.layers, self.arrays, self.ranks), encoding="utf-8")
        if self.library is None:
            return {}
        return io_preload.environment(self.library, path, log)

    def _judge(self, ended: Ended, place: Path) -> tuple[float, str | None]:
        """What is made small, and what is wrong with the run."""
        if self.printed is None:
            return ended.seconds, None
        what = "rate" if self.maximize else "time"
        last = next(reversed(list(re.finditer(self.printed, ended.output))), None)
        if last is None:
            return 0.0, f"it printed no {what} that fits '{self.printed}'"
        place_of = 1 if last.re.groups else 0
        text = last[place_of] or ""
        try:
            value = float(text)
        except ValueError:
            return 0.0, f"'{self.printed}' fits {text!r}, which is no number"
        if not (math.isfinite(value) and value > 0):
            return 0.0, f"it printed a {what} of {text}"
        unit = RATE.match(ended.output, last.end(place_of))
        if unit and not self.maximize:
            rate = f"{text} {unit[1]}"
            return 0.0, f"--minimize fits a rate, {rate}, which must not be made small: use --maximize"
        return (1 / value if self.maximize else value), None


@dataclass
class Kernel(Command):
    """A kernel of native/io: it times itself and checks every byte."""

    job: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The kernel, its point and its ranks."""
        point = self.job["points"][0]
        words = ", ".join(f"{name} {value}" for name, value in point["point"].items())
        return f"{point['benchmark']} on {self.ranks} ranks: {words}"

    def facts(self) -> dict[str, Any]:
        """The point instead of the command, in which paths change."""
        return {"command": [], "title": self.title, "job": self.job["points"]}

    def proves(self) -> bool:
        """A kernel writes its arrays whole, and reads each byte."""
        return True

    def _command(self, place: Path) -> list[str]:
        job = {**self.job, "directory": str(place)}
        (place / JOB).write_text(json.dumps(job), encoding="utf-8")
        return [*self.command, str(place / JOB), str(place / ANSWERS)]

    def _judge(self, ended: Ended, place: Path) -> tuple[float, str | None]:
        times: list[float] = []
        for line in _lines(place / ANSWERS):
            if line.get("event") in ("skip", "invalid"):
                return 0.0, str(line["reason"])
            if line.get("event") == "record" and line["metric"] == "time":
                times = line["samples"][line["warmup"] :]
        return (median(times), None) if times else (0.0, "it gave no time")


def problem_of(ended: Ended, limit: float) -> str | None:
    """One sentence about a run that failed, or that did not end within `limit` s; None for one that did."""
    if ended.status is None:
        return f"{LATE} {limit:.3g} s and was ended"
    if ended.status == 0:
        return None
    status = ended.status
    how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    return f"{how}: {failure(ended.output)}" if any(map(str.isalnum, ended.output)) else how


def _lines(path: Path) -> Sequence[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError):
        return []
