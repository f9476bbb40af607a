"""A journal: a file of JSON lines, appended by one process at a time, each line there whole or not at all.

A line is an object with a value and the checksum (CRC-32) of its text, so that a flipped bit is damage and
never another value. Lines without one, of older versions, are read as they are, in a journal whose first line
has none.
"""

import fcntl
import json
import os
import zlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from leadline.core.errors import LeadlineError

# What stands around the checksum and the value of a line.
_BEGIN, _MIDDLE = b'{"crc32":"', b'","value":'


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
    return b"".join(_line(to_json(value)) for value in values)


def _line(text: bytes) -> bytes:
    """The line of a value's JSON."""
    return b"".join((_BEGIN, b"%08x" % zlib.crc32(text), _MIDDLE, text, b"}\n"))


def _decoded(line: bytes, checked: bool) -> Any:
    """The value of a line, without its newline; ValueError where it is damaged.

    `checked`: the journal has checksums, so a line without one is damaged.
    """
    if not line.startswith(_BEGIN):
        if checked:
            raise ValueError("it has no checksum")
        return json.loads(line)
    text = line[len(_BEGIN) + 8 + len(_MIDDLE) : -1]
    if line + b"\n" != _line(text):
        raise ValueError("its checksum does not fit")
    return json.loads(text)


def first(path: Path) -> Any:
    """The value of the first line; raises OSError, and ValueError where it is none."""
    with path.open("rb") as file:
        return _decoded(file.readline(1 << 20).rstrip(b"\n"), checked=False)


def read(path: Path, remedy: str = "") -> Contents:
    """The journal without its last line where that was cut off while it was written.

    The first line, by which the caller knows whose journal it is, is None where it is no JSON. Raises OSError
    where the file cannot be read, LeadlineError, naming the line, for damage anywhere else; its sentence ends
    with `remedy`.
    """
    *texts, unfinished = path.read_bytes().split(b"\n")
    checked = bool(texts) and texts[0].startswith(_BEGIN)
    lines: list[object] = []
    for number, text in enumerate(texts, 1):
        try:
            lines.append(_decoded(text, checked))
        except (ValueError, RecursionError) as problem:
            if number == 1 and not checked:
                lines.append(None)
            elif number == len(texts) and not (text.startswith(_BEGIN) or _MIDDLE in text):
                break  # the machine stopped while its file system wrote this line
            else:
                raise LeadlineError(f"{path}:{number}: this line is damaged ({problem}){remedy}") from problem
    if checked and len(unfinished) > 1 and unfinished[-2:-1] == b"}" and _is_whole(unfinished[:-1]):
        raise LeadlineError(f"{path}:{len(texts) + 1}: the end of this line is damaged{remedy}")
    return Contents(lines, sum(len(text) + 1 for text in texts[: len(lines)]))


def _is_whole(line: bytes) -> bool:
    """Whether a line is there to its end."""
    try:
        _decoded(line, checked=True)
    except (ValueError, RecursionError):
        return False
    return True


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
