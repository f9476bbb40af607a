"""What a program takes: processor time and peak memory of a process with its children.

Processor time is what the program is, whatever else the machine does; wall time would tell of the others.
"""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from leadline.core.errors import LeadlineError
from leadline.native.build import memory_of_sim

KIB = 1024  # the unit of ru_maxrss


@dataclass(frozen=True)
class Taken:
    """What one run took, and the lines that it answered."""

    seconds: float  # of processors, user and system
    memory: int  # B, at the peak
    answers: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, event: str) -> dict[str, Any]:
        """The first line of an event. Raises LeadlineError where there is none."""
        for line in self.answers:
            if line["event"] == event:
                return line
        raise LeadlineError(f"the program answered no {event!r}")


def taken(command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Taken:
    """Runs a command to its end, without its output; LeadlineError where it fails.

    `env` is set beside the caller's environment.
    """
    whole = {**os.environ, **(env or {})}
    process = subprocess.Popen(command, env=whole, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None  # it was asked for
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        why = said.decode(errors="replace").strip()
        raise LeadlineError(
            f"{' '.join(map(str, command))} ended with exit status {process.returncode}: {why}"
        )
    return Taken(used.ru_utime + used.ru_stime, used.ru_maxrss * KIB)


def asked(program: Path, job: Mapping[str, Any]) -> Taken:
    """Runs `program JOB ANSWERS` with a job, as a run does; what it took and answered."""
    with TemporaryDirectory(prefix="leadline-bench-") as directory:
        given, answers = Path(directory) / "job.json", Path(directory) / "answers"
        given.write_text(json.dumps(job))
        took = taken([program, given, answers], memory_of_sim())
        return Taken(took.seconds, took.memory, [json.loads(line) for line in answers.open()])
