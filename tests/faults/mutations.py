"""Files that are changed at random, and what reading them must lead to."""

import random
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from leadline.core.errors import LeadlineError, UsageError

REFUSALS = (LeadlineError, UsageError)
# What has broken readers: numbers that are none or too large, deep nesting, other alphabets, nothing at all.
TOKENS = (
    *(b"0", b"-1", b"1e400", b"99999999999999999999999", b"nan", b"inf", b"true", b"null", b"''", b'""'),
    *(
        b"[" * 2000,
        b"{" * 2000,
        b"[[a]]",
        b"=",
        b"\n",
        b"\0",
        b"\xff\xfe",
        "\u0663".encode(),
        b"a" * 5000,
        b"#",
    ),
    *(
        b'{"event":"begin"}',
        b'{"event":"record"}',
        b'{"event":[]}',
        b'{"event":"end","id":"x"}',
        b"8.5",
        b"1_0",
    ),
)


class Reader(NamedTuple):
    """Something that is read: examples of it, the end of its name, and what reads it."""

    name: str
    suffix: str
    examples: Callable[[Path], list[bytes]]
    read: Callable[[Path], object]
    # It has a checksum: the parts of what is read of a mutated one are among those of the whole.
    parts: Callable[[Any], set[str]] | None = None
    slow: bool = False  # each takes seconds


def mutated(data: bytes, chosen: random.Random) -> bytes:
    """The data with one to three changes: a flipped bit, a cut, a token, a line twice, gone or moved."""
    for _ in range(chosen.randint(1, 3)):
        place = chosen.randrange(len(data) + 1)
        kind = chosen.randrange(6)
        lines = data.split(b"\n")
        line = chosen.randrange(len(lines))
        if kind == 0 and data:
            place = min(place, len(data) - 1)
            data = data[:place] + bytes([data[place] ^ (1 << chosen.randrange(8))]) + data[place + 1 :]
        elif kind == 1:
            data = data[:place]
        elif kind == 2:
            data = data[:place] + chosen.choice(TOKENS) + data[place + chosen.randrange(8) :]
        elif kind == 3:
            data = b"\n".join([*lines[:line], lines[line], *lines[line:]])
        elif kind == 4:
            data = b"\n".join([*lines[:line], *lines[line + 1 :]])
        else:
            chosen.shuffle(lines)
            data = b"\n".join(lines)
    return data


class Count(NamedTuple):
    """How often something was tried, and what was lost: a sentence each."""

    tried: int
    lost: list[str]


def attack(reader: Reader, times: int, seed: int) -> Count:
    """Read `times` mutated files. Lost is a traceback, and a checked file that is read as something else."""
    chosen = random.Random(f"{reader.name} {seed}")
    lost: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        examples = reader.examples(place)
        if not examples:
            return Count(0, [])
        whole = _whole(reader, examples, place)
        for number in range(times):
            path = place / f"mutated{reader.suffix}"
            data = mutated(chosen.choice(examples), chosen)
            path.write_bytes(data)
            try:
                with redirect_stderr(StringIO()):
                    found = reader.read(path)
            except REFUSALS:
                continue
            except Exception as problem:
                lost.append(f"{reader.name} {number}: {type(problem).__name__}: {str(problem)[:100]}")
                continue
            if reader.parts and not reader.parts(found) <= whole:
                lost.append(f"{reader.name} {number}: read as something else")
    return Count(times, lost)


def _whole(reader: Reader, examples: list[bytes], place: Path) -> set[str]:
    """The parts of an unharmed file that has a checksum."""
    if not reader.parts:
        return set()
    (place / f"whole{reader.suffix}").write_bytes(examples[0])
    return reader.parts(reader.read(place / f"whole{reader.suffix}"))
