"""One launch of the benchmark program: started, listened to, and ended whatever happens to it.

The program answers in JSON lines in a file (`native/harness/job.cpp`); what it or its MPI prints is kept only
to say why a launch failed, or to read which transports it used. A launch that stops answering is ended with
everything it started.
"""

import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from leadline.core.errors import LeadlineError
from leadline.core.processes import Tree
from leadline.core.record_checks import fault
from leadline.mpi.family import REMOTE, failure

Event = dict[str, Any]

TICK = 0.1  # s between looks at the answers: rare, since looking takes processor time from the ranks
START_LIMIT = 60.0  # s until the ranks must have started
REFUSED_LIMIT = 5.0  # s of silence after a launcher or its agent has said that it cannot start ranks
END_LIMIT = 5.0  # s from the last answer until the launcher must have ended
OWN = ("leadline-bench: ", "leadline-sim: ")  # begin what the program itself says of a failure
KEPT_OUTPUT = 1 << 20  # B of output kept from the beginning, as much again from the end


@dataclass
class Output:
    """What a launch printed: its beginning and its end, however much it was."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)

    def add(self, data: bytes) -> None:
        """Keep what there is room for."""
        room = KEPT_OUTPUT - len(self.head)
        self.head += data[:room]
        self.tail += data[max(0, room) :]
        del self.tail[:-KEPT_OUTPUT]

    @property
    def text(self) -> str:
        return (self.head + self.tail).decode(errors="replace")


class Launch:
    """A launch that is about to be listened to.

    `command` is the whole command before the job's and the answers' paths; `env` is set beside the caller's
    environment; `directory` holds the two files. `point_limit` is how long, in s, a point may be silent,
    `start_limit` until the ranks answer at all, `end_limit` from `done` until the launcher has ended.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        job: Mapping[str, Any],
        directory: Path,
        *,
        point_limit: float = 20.0,
        start_limit: float = START_LIMIT,
        end_limit: float = END_LIMIT,
    ) -> None:
        """Nothing is started before `events` is asked for."""
        self.command = list(command)
        self.env = dict(env)
        self.job = job
        self.directory = directory
        self.point_limit = point_limit
        self.start_limit = start_limit
        self.end_limit = end_limit
        self.output = Output()
        self.mark = ""  # that its processes carry, once they are started
        self._ids = {each["id"] for each in job.get("points", ()) if "id" in each}
        self._current: int | None = None  # id of the point that is being asked
        self._begun = False  # the ranks have started
        self._done = False  # every point is answered
        self._lost: str | None = None  # why listening was given up
        self._spoke = time.monotonic()  # when something was printed last

    def events(self, tick: Callable[[], None] | None = None) -> Generator[Event, None, None]:
        """What the program says, as it comes; the last event is `done`, or `died` with the reason.

        After `done` comes `hung_at_exit`, with the reason, where the launch had to be ended because it did
        not end by itself: every point is answered, but something is wrong, such as an MPI_Finalize that
        hangs. `died` carries the `id` of the point that was being asked, None where the ranks never came to
        one, and whether that point was `late`: took longer than its limit.
        `tick` is called a few times a second. Whoever may be interrupted closes it (`contextlib.closing`):
        from a generator that is only collected a second interruption cannot be raised. Raises LeadlineError
        when nothing can be started at all.
        """
        answers = self.directory / "answers.jsonl"
        job = self.directory / "job.json"
        try:
            job.write_text(json.dumps(self.job))
            answers.write_bytes(b"")
        except OSError as problem:
            raise LeadlineError(f"cannot write {job}: {problem.strerror}") from problem
        tree = Tree([*self.command, str(job), str(answers)], self.env, subprocess.PIPE)
        process = tree.process
        self.mark = tree.mark
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        try:
            with answers.open("rb") as file:
                yield from self._listen(process, file, tick)
            if not self._done:
                reason = self._lost or self._why(process.returncode)
                late = self._lost is not None and self._begun
                yield {"event": "died", "id": self._current, "reason": reason, "late": late}
            elif self._lost:
                tree.end()
                yield {"event": "hung_at_exit", "reason": self._lost}
        finally:
            if process.poll() is None or not self._done:
                tree.end()
            if process.stdout:
                process.stdout.close()

    def _listen(
        self, process: subprocess.Popen[bytes], file: BinaryIO, tick: Callable[[], None] | None
    ) -> Iterator[Event]:
        """Events until the launcher ends, or until a limit ends it."""
        exit_signal = os.pidfd_open(process.pid)
        heard = time.monotonic()
        rest = b""
        try:
            ended = False
            while not ended:
                ended = self._wait(exit_signal, process)
                data = file.read()
                lines = (rest + data).split(b"\n")
                rest = lines.pop()
                for line in lines:
                    yield from self._understand(line)
                if tick:
                    tick()
                heard = time.monotonic() if data else heard
                if not ended and not self._begun and self._refused():
                    return
                if not ended and time.monotonic() - heard > self._limit:
                    self._lost = self._silence()
                    return
        finally:
            os.close(exit_signal)

    def _wait(self, exit_signal: int, process: subprocess.Popen[bytes]) -> bool:
        """Sleep a tick, taking what is printed; True once the launcher has ended."""
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        deadline = time.monotonic() + TICK
        watched = [exit_signal, pipe]
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select(watched, [], [], left)
            if pipe in ready and not self._take(pipe):
                watched = [exit_signal]  # closed by all who held it
            if exit_signal in ready:
                process.wait()
                while self._take(pipe):
                    pass
                return True
        return False

    def _refused(self) -> bool:
        """Whether the ranks will not start: the agent or launcher said so a while ago and nothing since."""
        if time.monotonic() - self._spoke < REFUSED_LIMIT:
            return False
        if not any(re.search(REMOTE, line.strip()) for line in self.output.text.splitlines()):
            return False
        self._lost = f"the ranks did not start: {self._cause()}"
        return True

    def _cause(self) -> str:
        """The line of the output that says why the launch failed."""
        return failure(self.output.text, {Path(word).name for word in self.command[:1]} | self._agents)

    @property
    def _agents(self) -> set[str]:
        """The programs among the words of the command, of which one starts processes on other nodes."""
        return {Path(word).name for word in self.command if "/" in word and os.access(word, os.X_OK)}

    def _take(self, pipe: int) -> bool:
        """Read what the pipe holds; False when there is nothing more for now."""
        try:
            data = os.read(pipe, 1 << 16)
        except BlockingIOError:
            return False
        self.output.add(data)
        self._spoke = time.monotonic() if data else self._spoke
        return bool(data)

    def _understand(self, line: bytes) -> Iterator[Event]:
        """A line of the answers as an event; one that makes no sense is an event that says so."""
        try:
            event = json.loads(line)
            kind = event["event"]
            _check(event, self._ids)
        except (ValueError, TypeError, KeyError, RecursionError):
            shown = line[:60].decode(errors="replace")
            yield {"event": "malformed", "id": self._current, "reason": f"the answers hold a line {shown!r}"}
            return
        self._begun = True
        if kind == "begin":
            self._current = event["id"]
        elif kind == "end":
            self._current = None
        elif kind == "done":
            self._done = True
        yield event

    @property
    def _limit(self) -> float:
        """How long, in s, the launch may be silent now."""
        if self._done:
            return self.end_limit
        return self.point_limit if self._begun else self.start_limit

    def _silence(self) -> str:
        """The reason of a launch that was ended because it said nothing."""
        what = "no answer" if self._begun else "the ranks did not start"
        if self._done:
            what = "every point is answered, but the launch did not end"
        longer = "; a plan's point_limit gives a point longer" if self._begun and not self._done else ""
        said = "" if self._begun or not self.output.text.strip() else f": {self._cause()}"
        return f"{what} within {self._limit:g} s, so every process of the launch was ended{longer}{said}"

    def _why(self, status: int | None) -> str:
        """One sentence about a launch that ended too early: its own words where it has some."""
        said = [line.strip() for line in self.output.text.splitlines()]
        own = [line.partition(": ")[2] for line in said if line.startswith(OWN)]
        if own:
            return own[0]
        if status is not None and status < 0:
            how = f"the launcher was killed by {signal.Signals(-status).name}"
        elif status:
            how = f"the launch ended with exit status {status}"
        else:
            how = "the launch ended without answering every point"
        return f"{how}: {self._cause()}" if any(map(str.isalnum, self.output.text)) else how


def _check(event: Event, ids: Collection[object]) -> None:
    """ValueError, TypeError or KeyError for an event without what it needs, or of no point that was asked."""
    kind = event["event"]
    of_point = kind in ("begin", "end", "record", "skip", "invalid", "fail")
    if of_point and (type(event["id"]) is not int or (ids and event["id"] not in ids)):
        raise ValueError("it is of no point that was asked")
    if kind in ("skip", "invalid", "fail") and not isinstance(event["reason"], str):
        raise ValueError("it has no reason")
    if kind == "record" and (not isinstance(event["metric"], str) or fault(event)):
        raise ValueError("it is no record")
    if kind == "launch":
        if type(event["ranks"]) is not int:
            raise ValueError("it has no number of ranks")
        for place in event.get("places", ()):
            if not isinstance(place["host"], str) or type(place["core"]) is not int:
                raise ValueError("it has a place that is none")
