"""Mutated files for every reader: each is read as what it is, or refused in a sentence."""

import random
import tempfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from leadline.analysis import importers
from leadline.core import journal
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.record_files import (
    JOURNAL_HEADER,
    journal_frame,
    journal_lines,
    read_parquet,
    write_parquet,
)
from leadline.machine.description import load as load_machine
from leadline.plan.model import Plan
from leadline.programs.launch import Launch
from leadline.tune.io import log as io_log
from leadline.tune.search import _read as spaces
from planted import records, table

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "analysis" / "importers" / "data"
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
    checked: bool = False  # it has a checksum: what is read of a mutated one is a part of the whole


def _texts(*folders: str) -> Callable[[Path], list[bytes]]:
    def found(_: Path) -> list[bytes]:
        return [path.read_bytes() for folder in folders for path in sorted((ROOT / folder).glob("*.toml"))]

    return found


def _journals(_: Path) -> list[bytes]:
    return [journal.encode([JOURNAL_HEADER, *journal_lines(records([[1.0, 2.0]] * 4, [1, 2]))])]


def _records(place: Path) -> list[bytes]:
    write_parquet(table([[1.0, 2.0]] * 4, [1, 2]), place / "whole.parquet", {"host": "here"}, "time = '1 s'")
    return [(place / "whole.parquet").read_bytes()]


def _output(name: str) -> Callable[[Path], list[bytes]]:
    return lambda _: [path.read_bytes() for path in sorted(DATA.glob(f"{name}*"))]


def _imported(name: str) -> Callable[[Path], object]:
    return lambda path: importers.read(name, {path: path.read_bytes()})


def _answers(_: Path) -> list[bytes]:
    lines = [
        {"event": "launch", "library": "MPI", "ranks": 2, "places": [{"host": "n", "core": 0}]},
        {"event": "begin", "id": 0},
        {"event": "record", "id": 0, "metric": "latency", "samples": [1.0], "warmup": 0, "unit": "s"},
        {"event": "end", "id": 0},
        {"event": "done"},
    ]
    return [b"".join(journal.to_json(line) + b"\n" for line in lines)]


def _heard(path: Path) -> object:
    """What a launch makes of answers."""
    launch = Launch(["true"], {}, {"points": [{"id": 0}]}, path.parent)
    return [event for line in path.read_bytes().split(b"\n") for event in launch._understand(line)]


READERS: Mapping[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("plans", ".toml", _texts("plans"), Plan.load),
        Reader("machines", ".toml", _texts("machines"), load_machine),
        Reader("spaces", ".toml", _texts("spaces"), spaces.load),
        Reader("journals", ".jsonl", _journals, journal_frame, checked=True),
        Reader("records", ".parquet", _records, read_parquet, checked=True),
        Reader("answers", ".jsonl", _answers, _heard),
        Reader("osu", ".txt", _output("osu"), _imported("osu")),
        Reader("imb", ".txt", _output("imb"), _imported("imb")),
        Reader("preload-log", ".jsonl", _answers, io_log.read),
    )
}


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
            if reader.checked and not _is_part(found, whole):
                lost.append(f"{reader.name} {number}: read as something else")
    return Count(times, lost)


def _whole(reader: Reader, examples: list[bytes], place: Path) -> set[str]:
    """The records of an unharmed checked file."""
    if not reader.checked:
        return set()
    (place / f"whole{reader.suffix}").write_bytes(examples[0])
    return set(map(str, reader.read(place / f"whole{reader.suffix}").to_dicts()))  # type: ignore[attr-defined]


def _is_part(found: object, whole: set[str]) -> bool:
    """Whether records are some of those that were written."""
    return {str(row) for row in found.to_dicts()} <= whole  # type: ignore[attr-defined]
