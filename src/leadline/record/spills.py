"""What the preloaded library wrote: a file per process, read entry by entry (native/record/record.c)."""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.core.errors import UsageError
from leadline.program.model import IN_PLACE

_MODE_IN_PLACE = 2  # bit of the mode of a collective: LR_IN_PLACE of native/record/record.h
META, FINALIZE, OUTSIDE, STOPPED, REGION = 1, 3, 5, 6, 7
_HEAD = struct.Struct("<IBBBBqqqq")
WORD = 8
NO_ROOM = "there is no room"  # how the text of a record begins that stopped for it, or for memory


class Entry(NamedTuple):
    """A call: its kind, form and mode as docs/program-format.md numbers them, times in ns, return address."""

    kind: int
    form: int
    mode: int
    thread: int
    enter: int
    leave: int
    site: int
    values: list[int]

    @property
    def in_place(self) -> int:
        """Of a collective: the bit of an operation's `free` that says so, or 0."""
        return IN_PLACE if self.mode & _MODE_IN_PLACE else 0


@dataclass
class Spill:
    """The file of one process. `facts` are what it said of itself."""

    path: Path
    data: bytes
    facts: dict[str, Any]

    @property
    def rank(self) -> int:
        """Its rank in the world."""
        return int(self.facts["rank"])

    @property
    def began(self) -> int:
        """When it left MPI_Init, ns of its own clock."""
        return int(_HEAD.unpack_from(self.data, 0)[6])

    def lost(self, rank: int) -> "Spill":
        """The record of another rank of the run, of which nothing but its file's name could be written."""
        path = self.path.with_name("none")
        return Spill(
            path, self.data[: WORD * _length(self.data, 0)], {**self.facts, "rank": rank, "lost": True}
        )

    def entries(self) -> Iterator[Entry]:
        """The entries in their order, without the first; they end where the process did."""
        words: npt.NDArray[np.int64] = np.frombuffer(self.data, "<i8", len(self.data) // WORD)
        head, at, end = _HEAD.size // WORD, _length(self.data, 0), len(words)
        while at + head <= end:
            length, kind, form, mode, thread, enter, leave, site, polled = _HEAD.unpack_from(
                self.data, at * WORD
            )
            if length < head or at + length > end:
                return  # zeros, or an entry that was under way when the process was killed
            yield Entry(
                kind, form, mode, thread, enter - polled, leave, site, words[at + head : at + length].tolist()
            )
            at += length


def _length(data: bytes, at: int) -> int:
    found: int = _HEAD.unpack_from(data, at)[0]
    return found


def text_of(entry: Entry) -> str:
    """The text of an entry that has one."""
    data = np.array(entry.values, "<i8").tobytes()
    return data.rstrip(b"\0").decode("utf-8", "replace")


def is_empty(path: Path) -> bool:
    """Whether a process found no room for the first entry of its file."""
    with path.open("rb") as file:
        return not file.read(WORD).strip(b"\0")


def load(path: Path) -> Spill:
    """The file of a process. Raises UsageError for what is none."""
    data = path.read_bytes()
    try:
        length, kind = _HEAD.unpack_from(data, 0)[:2]
        text = data[_HEAD.size : length * WORD].rstrip(b"\0").decode()
        facts = json.loads(text)
        if kind != META or not isinstance(facts, dict):
            raise ValueError
        for name in ("rank", "ranks", "world", "self", "clock_offset"):
            np.int64(facts[name])
        str(facts["host"]), str(facts["session"]), str(facts["mpi"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, struct.error) as problem:
        raise UsageError(f"{path} is no record of a process: it begins with something else") from problem
    return Spill(path, data, facts)
