"""A journal: a file of JSON lines, appended by one process at a time, each line there whole or not at all."""

import fcntl
import json
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from leadline.core.errors import LeadlineError


class Contents(NamedTuple):
    """What the whole lines of a journal hold, the first one first, and how many bytes they are."""

    lines: list[Any]
    length: int


def to_json(value: object) -> bytes:
    """JSON on one line, in UTF-8; times as ISO 8601."""

    def other(each: object) -> str:
        return each.isoformat() if isinstance(each, datetime) else str(each)

    return json.dumps(value, default=other, ensure_ascii=False, separators=(",", ":")).encode()


def encode(values: Iterable[object]) -> bytes:
    """The lines of some values."""
    return b"".join(to_json(value) + b"\n" for value in values)


def read(path: Path, remedy: str = "") -> Contents:
    """The journal without its last line where that was cut off while it was written.

    The first line, by which the caller knows whose journal it is, is None where it is no JSON. Raises OSError
    where the file cannot be read, LeadlineError, naming the line, for damage anywhere else; its sentence ends
    with `remedy`.
    """
    *texts, _unfinished = path.read_bytes().split(b"\n")
    lines: list[Any] = []
    for number, text in enumerate(texts, 1):
        try:
            lines.append(json.loads(text))
        except ValueError as problem:
            if number == 1:
                lines.append(None)
            elif number == len(texts):
                break  # the machine stopped while its file system wrote this line
            else:
                raise LeadlineError(f"{path}:{number}: this line is damaged ({problem}){remedy}") from problem
    return Contents(lines, sum(len(text) + 1 for text in texts[: len(lines)]))


class JournalFile:
    """A journal that this process alone appends to, until it is closed or the process ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Use `open_locked`."""
        self.path = path
        self._descriptor = descriptor

    def append(self, values: Iterable[object], kept: str) -> None:
        """Write a line for each value behind all others; when this returns they are on the disk.

        Raises LeadlineError when the disk is full: the file then ends as before, and what is `kept`, such as
        "every record before", is named with how to resume.
        """
        rest = memoryview(encode(values))
        before = os.fstat(self._descriptor).st_size
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            os.fsync(self._descriptor)
        except OSError as problem:
            os.ftruncate(self._descriptor, before)
            raise LeadlineError(
                f"cannot write {self.path}: {problem.strerror}; {kept} is kept, put that right and go on "
                f"with --resume {self.path.parent}"
            ) from problem

    def cut(self, length: int) -> None:
        """Leave the first `length` bytes, which are whole lines, and drop what was never finished."""
        os.ftruncate(self._descriptor, length)

    def close(self) -> None:
        """Let another process have it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_locked(path: Path, flags: int = 0) -> JournalFile:
    """The file open for appending by this process only.

    Raises OSError where it cannot be opened (`flags` may ask to make it), LeadlineError while another has it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        os.close(descriptor)
        raise LeadlineError(f"another process is writing {path.parent}; wait until it is done") from problem
    return JournalFile(path, descriptor)
