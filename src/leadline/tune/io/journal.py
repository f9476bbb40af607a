"""The journal of a tuning: one line a run, on the disk before the next run begins.

A tuning asks for its runs in an order that depends on its own facts (command, space, seed) and on the answers
so far, on nothing else. So it is gone on with by asking anew from the beginning: what the journal holds is
answered from it, in its order, and the first run that it does not hold is really made. Nothing is lost,
whenever it was killed, and nothing is evaluated twice.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from leadline.core import journal
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.paths import is_free

NAME = "journal.jsonl"
KEPT = "every run before"  # is kept when the disk is full
FORM = 1  # of the journal; a change of what it means is another number

Line = dict[str, Any]


class Journal:
    """The journal of one tuning; one process at a time holds it. Close it, or use `with`."""

    def __init__(self, path: Path, file: journal.JournalFile, facts: Line, lines: list[Line]) -> None:
        """Use `create` or `reopen`."""
        self.path = path
        self.facts = facts
        self.lines = lines  # of the runs, in their order
        self._file = file
        self._taken = 0

    @classmethod
    def create(cls, directory: Path, facts: Mapping[str, Any]) -> "Journal":
        """Begin a tuning in a new or empty directory. Raises UsageError where it has something."""
        if not is_free(directory):
            raise UsageError(
                f"{directory} is not empty; choose another directory, or resume with --resume {directory}"
            )
        try:
            directory.mkdir(parents=True, exist_ok=True)
            file = journal.open_locked(directory / NAME, os.O_CREAT)
        except OSError as problem:
            raise LeadlineError(f"cannot make the tuning {directory}: {problem.strerror}") from problem
        file.append([{"form": FORM, **facts}], KEPT)
        return cls(directory, file, dict(facts), [])

    @classmethod
    def reopen(cls, directory: Path) -> "Journal":
        """Go on with a tuning. A line that was not finished when it was killed is dropped.

        Raises UsageError where there is none, LeadlineError where it is damaged or another process has it.
        """
        try:
            file = journal.open_locked(directory / NAME)
        except OSError as problem:
            raise UsageError(f"there is no tuning {directory}: {problem.strerror}") from problem
        try:
            facts, lines, whole = _read(directory)
            file.cut(whole)
        except BaseException:
            file.close()
            raise
        return cls(directory, file, facts, lines)

    def answered(self, key: Mapping[str, object]) -> Line | None:
        """What the journal says of the next run, None where it ends here.

        Raises LeadlineError where it holds another run than that of `key`: it is of another tuning.
        """
        if self._taken == len(self.lines):
            return None
        line = self.lines[self._taken]
        if {name: line.get(name) for name in key} != dict(key):
            raise LeadlineError(
                f"run {self._taken + 1} of {self.path / NAME} is another than is asked for now: it was "
                "written by another version; tune again into another directory"
            )
        self._taken += 1
        return line

    def append(self, line: Line) -> None:
        """Add a run; when this returns it is on the disk. LeadlineError where the disk is full."""
        self._file.append([line], KEPT)
        self.lines.append(line)
        self._taken = len(self.lines)

    def close(self) -> None:
        """Let another process have it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read(directory: Path) -> tuple[Line, list[Line]]:
    """The facts of a tuning and its runs so far. Raises UsageError where there is none."""
    try:
        facts, lines, _ = _read(directory)
    except OSError as problem:
        raise UsageError(f"there is no tuning {directory}: {problem.strerror}") from problem
    return facts, lines


def is_tuning(directory: Path) -> bool:
    """Whether a directory holds a tuning, of which the journal's first line says so."""
    try:
        first = journal.first(directory / NAME)
        return isinstance(first, dict) and first.get("form") == FORM and "command" in first
    except (OSError, ValueError):
        return False


def _is_run(line: Line) -> bool:
    """Whether a line tells of a run, or of the end: where it was, what was set, and its time or null."""
    seconds = line.get("seconds")
    return (
        all(isinstance(line.get(name), str) for name in ("phase", "label"))
        and isinstance(line.get("turn"), int)
        and isinstance(line.get("settings"), dict)
        and isinstance(line.get("facts") or {}, dict)
        and (seconds is None or (isinstance(seconds, float | int) and 0 < seconds < math.inf))
    )


def _read(directory: Path) -> tuple[Line, list[Line], int]:
    """Facts, runs, and the length of the whole lines in B."""
    lines, length = journal.read(directory / NAME)
    if not lines or not isinstance(lines[0], dict) or lines[0].pop("form", None) != FORM:
        raise LeadlineError(f"{directory / NAME} is no journal of a tuning that this version reads")
    for number, line in enumerate(lines, 1):
        if not isinstance(line, dict) or (number > 1 and not _is_run(line)):
            raise LeadlineError(f"{directory / NAME}:{number}: this is no line of a tuning's journal")
    return lines[0], lines[1:], length
