"""What is known of a submitted command, in a file that its job, its followers and `leadline jobs` share."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from leadline.core.errors import LeadlineError, UsageError, suggest
from leadline.core.paths import state_dir

FILE, LOG, EXIT = "job.json", "log.txt", "exit"


@dataclass(frozen=True)
class Resources:
    """What a job asks the batch system for: whole nodes; time in s; None: the system's default."""

    nodes: int = 1
    time: float | None = None
    queue: str | None = None
    account: str | None = None


@dataclass
class BatchJob:
    """A command that was submitted, under a name that stays when it is resumed in another job.

    `command` starts it and `again` continues it once `begun` is there; empty where
    it could only start anew. `begun` is None where `command` continues by itself.
    `native` is the system's identity of the last job, `attempts` how many jobs there were, `stopped` whether
    nobody wants it to be resumed.
    """

    name: str
    system: str
    command: list[str]
    again: list[str]
    begun: str | None
    directory: str  # in which it was submitted
    resources: Resources = field(default_factory=Resources)
    native: str | None = None
    attempts: int = 0
    submitted: str = ""  # ISO 8601
    stopped: bool = False

    @property
    def home(self) -> Path:
        """The directory of its files."""
        return home() / self.name

    @property
    def log(self) -> Path:
        """Everything that its jobs printed."""
        return self.home / LOG

    @property
    def code(self) -> int | None:
        """The exit code of the last job's command; None where it has not ended, or was killed."""
        try:
            native, code = (self.home / EXIT).read_text().split()
        except (OSError, ValueError):
            return None
        return int(code) if native == str(self.attempts) else None

    def save(self) -> None:
        """Write it; whole or not at all."""
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            draft = self.home / f".{FILE}"
            draft.write_text(json.dumps(asdict(self), indent=1))
            draft.replace(self.home / FILE)
        except OSError as problem:
            raise LeadlineError(f"cannot write {self.home / FILE}: {problem.strerror}") from problem


def forget(job: BatchJob) -> None:
    """Remove a job that no batch system has taken."""
    shutil.rmtree(job.home, ignore_errors=True)


def home() -> Path:
    """Where the files of all jobs are."""
    return state_dir() / "jobs"


def create(
    system: str,
    command: Sequence[str],
    again: Sequence[str],
    begun: Path | None,
    resources: Resources,
) -> BatchJob:
    """A job with a name of its own, such as `run-20261123-174501`."""
    verb = "-".join(word for word in command[:2] if word.isalpha() and word.islower()) or "job"
    begin = f"{verb.split('-')[0]}-{datetime.now():%Y%m%d-%H%M%S}"
    name, number = begin, 1
    while (home() / name).exists():
        number += 1
        name = f"{begin}-{number}"
    path = str(begun.absolute()) if begun else None
    return BatchJob(name, system, list(command), list(again), path, str(Path.cwd()), resources)


def load(name: str) -> BatchJob:
    """The job of that name, or with that identity in its batch system; UsageError where there is none."""
    known = jobs()
    for each in reversed(known):  # a system that was set up anew counts from 1 again
        if name in (each.name, each.native):
            return each
    hint = suggest(name, [each.name for each in known]) if known else "; nothing was submitted yet"
    raise UsageError(f"there is no job {name!r}{hint}")


def read(path: Path) -> BatchJob:
    """The job in a file; LeadlineError where that is none."""
    try:
        facts: dict[str, Any] = json.loads(path.read_text())
        return BatchJob(**{**facts, "resources": Resources(**facts["resources"])})
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as problem:
        raise LeadlineError(f"{path} is no job that can be read: {problem}") from problem


def jobs() -> list[BatchJob]:
    """Every job that was submitted with this state directory, the newest last."""
    found = [read(path) for path in home().glob(f"*/{FILE}")]
    return sorted(found, key=lambda job: (job.submitted, job.name))
