"""A command that is run once, with a time limit, and ended with everything that it started."""

import os
import select
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from leadline.core.errors import LeadlineError
from leadline.mpi.family import failure

MARK = "LEADLINE_TUNING_RUN"  # a variable that finds every process of a run, whatever group it has moved to
KEPT = 1 << 16  # B of what it printed, from its end
LATE = "it did not end within"  # begins the sentence about a run that took too long
GRACE = 1.0  # s, from being asked to end to being ended


@dataclass(frozen=True)
class Ended:
    """How a run ended: its seconds, and a sentence where it failed; None where its exit status is 0."""

    seconds: float
    problem: str | None
    said: str  # the end of what it printed, both streams


def run(
    command: Sequence[str], env: Mapping[str, str], directory: Path, limit: float, owner: str = ""
) -> Ended:
    """Run a command in `directory` for `limit` s at most; LeadlineError where it cannot be started at all.

    What it prints goes to a file: a pipe that nobody empties would stop it. `owner` is whose run it is, by
    which `end_left` finds what a killed owner left.
    """
    mark = f"{owner}:{uuid.uuid4().hex}"
    with tempfile.TemporaryFile() as output:
        begin = time.monotonic()
        try:
            process = subprocess.Popen(
                command,
                env={**os.environ, **env, MARK: mark},
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as problem:
            raise LeadlineError(f"cannot start {command[0]}: {problem.strerror}") from problem
        late = True
        try:
            late = not _ended(process, limit)
        finally:
            seconds = time.monotonic() - begin
            if process.poll() is None or process.returncode:
                _end(process, mark)
        output.seek(max(0, output.seek(0, os.SEEK_END) - KEPT))
        said = output.read().decode(errors="replace")
    if late:
        return Ended(seconds, f"{LATE} {limit:.3g} s and was ended", said)
    return Ended(seconds, _why(process.returncode, said), said)


def _why(status: int, said: str) -> str | None:
    """One sentence about a run that failed."""
    if status == 0:
        return None
    how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    return f"{how}: {failure(said)}" if any(map(str.isalnum, said)) else how


def end_left(owner: str) -> None:
    """End every process of the runs of an owner that was killed itself."""
    _kill(lambda mark: mark.startswith(f"{owner}:"))


def _ended(process: "subprocess.Popen[bytes]", limit: float) -> bool:
    """Whether it ends within `limit` s, seen at once: Popen.wait with a limit looks every 50 ms only."""
    descriptor = os.pidfd_open(process.pid)
    try:
        return bool(select.select([descriptor], [], [], max(0.0, limit))[0])
    finally:
        os.close(descriptor)


def _end(process: "subprocess.Popen[bytes]", mark: str) -> None:
    """End the launcher's group, then whatever carries the mark, also where this is interrupted."""
    try:
        if process.poll() is None:
            process.terminate()
            _ended(process, GRACE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _kill(mark.__eq__)


def _kill(ours: Callable[[str], bool]) -> None:
    """End every other process whose mark is ours."""
    for each in psutil.process_iter():
        try:
            mark = each.environ().get(MARK)
            if mark is not None and ours(mark) and each.pid != os.getpid():
                each.kill()
        except psutil.Error:
            continue  # gone, or another user's
