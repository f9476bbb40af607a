"""Commands with all that they start: run for a limited time, and ended to the last process.

Every process of a command carries a mark in its environment, which finds it whatever group or session it has
moved to. A command within a command carries the marks of both, so that ending the outer one ends the inner.
Should this process itself be killed, a guard that it started with its first command ends them all.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import psutil

from leadline.core.errors import LeadlineError, UsageError

MARKS = "LEADLINE_PROCESSES"  # the variable that holds the marks
KEPT = 1 << 16  # B of a command's output that `run` keeps, from its end
GRACE = 1.0  # s, from being asked to end to being killed
_BETWEEN = "\x1f"  # stands between two marks; owners are paths, which may have spaces and commas

# Sleeps until its input ends, as the process that started it does: then it kills what carries the mark.
_GUARD = """
import os, signal, sys, time
mark, variable = sys.argv[1].encode(), sys.argv[2].encode() + b"="
os.read(0, 1)
for turn in range(20):
    for name in os.listdir("/proc"):
        try:
            with open("/proc/" + name + "/environ", "rb") as file:
                settings = file.read().split(b"\\0")
            if any(each.startswith(variable) and mark in each for each in settings):
                os.kill(int(name), signal.SIGKILL)
        except (OSError, ValueError):
            pass
    time.sleep(0.05)
"""
_guards: dict[
    int, tuple[str, object]
] = {}  # by process: its mark, and the pipe whose end is the guard's signal


def _guarded() -> str:
    """The mark of all commands of this process, for which a guard is watching."""
    if os.getpid() not in _guards:
        mark = f"of-{os.getpid()}-{uuid.uuid4().hex}"
        guard = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _GUARD, mark, MARKS],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={},
        )
        _guards.clear()  # a forked child has its parent's, and must not hold its pipe open
        _guards[os.getpid()] = (mark, guard)
    return _guards[os.getpid()][0]


class Ended(NamedTuple):
    """How a command ended: after how many seconds, its exit status, and the end of its output.

    The status is negative for the signal that killed it, None where it was ended because its time was up.
    """

    seconds: float
    status: int | None
    output: str


class Tree:
    """A started command, in a session of its own, its input empty and both output streams in `output`.

    `owner` is whose command it is, by which `end_left` finds what a killed owner left. Raises LeadlineError
    where the command cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        output: int | IO[Any],
        directory: Path | None = None,
        owner: str = "",
    ) -> None:
        self.mark = f"{owner}:{uuid.uuid4().hex}"
        try:
            marks = [each for each in (os.environ.get(MARKS), _guarded(), self.mark) if each]
            self.process = subprocess.Popen(
                command,
                env={**os.environ, **env, MARKS: _BETWEEN.join(marks)},
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as problem:
            raise LeadlineError(f"cannot start {command[0]}: {problem.strerror}") from problem

    def wait(self, limit: float) -> bool:
        """Whether it ends within `limit` s, seen at once: Popen.wait with a limit looks every 50 ms only."""
        try:
            descriptor = os.pidfd_open(self.process.pid)
        except ProcessLookupError:  # it has ended, and was waited for
            return True
        try:
            return bool(select.select([descriptor], [], [], max(0.0, limit))[0])
        finally:
            os.close(descriptor)

    def end(self) -> None:
        """Ask the command to end, then kill its group and whatever carries its mark, even if interrupted."""
        try:
            if self.process.poll() is None:
                self.process.terminate()
                self.wait(GRACE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self._reap()
            _kill(self.mark.__eq__)

    def _reap(self) -> None:
        """Wait for the command's end; Popen.wait would wait for ever for a lock of its own, where a signal's
        exception has come between its taking the lock and its keeping in mind to give it back.
        """
        if self.process.returncode is not None:
            return
        try:
            _, status = os.waitpid(self.process.pid, 0)
        except ChildProcessError:  # waited for, and interrupted before its status was kept
            self.process.returncode = -signal.SIGKILL
        else:
            self.process.returncode = os.waitstatus_to_exitcode(status)


def run(
    command: Sequence[str],
    env: Mapping[str, str],
    limit: float,
    directory: Path | None = None,
    owner: str = "",
) -> Ended:
    """Run a command for `limit` s at most; LeadlineError where it cannot be started at all.

    What it prints goes to a file: a pipe that nobody empties would stop it. A command that fails, or is late,
    is ended with all that it started.
    """
    with tempfile.TemporaryFile() as output:
        begin = time.monotonic()
        tree = Tree(command, env, output, directory, owner)
        late = True
        try:
            late = not tree.wait(limit)
        finally:
            seconds = time.monotonic() - begin
            if tree.process.poll() is None or tree.process.returncode:
                tree.end()
        output.seek(max(0, output.seek(0, os.SEEK_END) - KEPT))
        said = output.read().decode(errors="replace")
    return Ended(seconds, None if late else tree.process.returncode, said)


def check_startable(command: Sequence[str]) -> None:
    """UsageError where the command's first word is no executable: before anything is done for it."""
    name = command[0]
    if shutil.which(name):
        return
    if Path(name).is_file():
        raise UsageError(f"cannot start {name!r}: this file is not executable")
    where = "" if "/" in name else " in PATH"
    raise UsageError(f"cannot start {name!r}: there is no such executable{where}")


def run_alone(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run somebody's program with `env` added, as if there were nothing round it: it has the terminal and its
    interrupts, and decides what they mean; its exit code, as a shell has it.

    Raises UsageError where it cannot be started.
    """
    try:
        process = subprocess.Popen(command, env={**os.environ, **env})
    except OSError as problem:
        raise UsageError(f"cannot start {command[0]}: {problem.strerror or problem}") from None
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:
            continue  # the program has it too, and decides
        return status if status >= 0 else 128 - status


def end_left(owner: str) -> None:
    """End every process of the commands of an owner that was killed itself."""
    _kill(lambda mark: mark.startswith(f"{owner}:"))


def carrying(ours: Callable[[str], bool]) -> list[psutil.Process]:
    """The processes of this user, but for this one, that carry a mark of ours."""
    found = []
    for each in psutil.process_iter():
        with suppress(psutil.Error):  # gone, or another user's
            marks = each.environ().get(MARKS, "").split(_BETWEEN)
            if any(map(ours, marks)) and each.pid != os.getpid():
                found.append(each)
    return found


def _kill(ours: Callable[[str], bool]) -> None:
    for each in carrying(ours):
        with suppress(psutil.Error):
            each.kill()
