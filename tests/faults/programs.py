"""Readers of programs, of what the recorder wrote and of other tools' programs; and what they read."""

import json
import struct
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from faults.mutations import Reader
from leadline import program
from leadline.program import exporters, importers
from leadline.program import files as program_files
from leadline.program.build import ProgramBuilder
from leadline.program.model import Kind, Operation, Program
from leadline.record import session, spills


def _ring(comm: program.Comm) -> Any:
    """Messages around, with requests, and computation."""
    for turn in range(4):
        waiting = [comm.irecv((comm.rank - 1) % comm.size, 300, tag=turn)]
        waiting += [comm.isend((comm.rank + 1) % comm.size, 300, tag=turn)]
        yield comm.compute("2 us")
        yield comm.wait_all(waiting)


def _around(comm: program.Comm) -> Any:
    """A ring, then collectives of a part of the ranks and of all."""
    yield from _ring(comm)
    half = yield comm.split(comm.rank % 2)
    yield half.allreduce(64)
    yield comm.bcast(1000, root=1)


def _programs(place: Path) -> list[bytes]:
    program.evaluate(_around, ranks=4).write(place / "one.program")
    return [(place / "one.program").read_bytes()]


def _parts(found: Program) -> set[str]:
    facts = {**vars(found), "times_of": None, "sequences": None, "stats_tables": None}
    operations = [list(found.operations(rank)) for rank in range(found.ranks)]
    return {f"{facts} {operations} {[table.tolist() for table in found.stats_tables]}"}


def _timed(place: Path) -> Path:
    builder = ProgramBuilder(2, measured=True)
    for rank in range(2):
        steps = [Operation(Kind.BARRIER)] * 8
        builder.add(rank, steps, times=np.arange(16).reshape(-1, 2) * 1000)
    builder.build().write(place / "timed.program")
    return place / "timed.program"


def _times(place: Path) -> list[bytes]:
    return [program_files.times_path(_timed(place)).read_bytes()]


def _read_times(path: Path) -> Program:
    beside = _timed(path.parent)
    program_files.times_path(beside).write_bytes(path.read_bytes())
    return program_files.read(beside)


def _exported(form: str) -> Callable[[Path], list[bytes]]:
    """A program in another tool's form."""

    def written(place: Path) -> list[bytes]:
        exporters.write(form, program.evaluate(_ring, ranks=2), place / form)
        return [(place / form).read_bytes()]

    return written


def _recording(place: Path) -> list[bytes]:
    """What the recorder writes of one process that sends itself messages (native/record/record.c)."""
    facts = {"rank": 0, "ranks": 1, "host": "n", "world": 7, "self": 8, "session": "s", "mpi": "MPI"}
    begin = json.dumps({**facts, "clock_offset": 0, "pid": 1, "threads": 0}).encode()
    data = _entry(spills.META, 0, 0, begin + bytes(-len(begin) % 8))
    for turn in range(4):
        send, receive = [7, 0, 64, turn, 11], [7, -1, 128, turn, 12, -1, -1, -1]
        done = [2, 12, 11, 2, 0, 0, turn, 64, 1, -1, -1, -1]
        for kind, form, values in ((Kind.RECV, 1, receive), (Kind.SEND, 1, send), (Kind.WAIT, 0, done)):
            data += _entry(kind, form, turn, struct.pack(f"<{len(values)}q", *values))
    data += _entry(Kind.ALLREDUCE, 0, 5, struct.pack("<8q", 7, 0, 8, 4, 0, 0, 0, 0))
    return [data + _entry(spills.FINALIZE, 0, 6, b"")]


def _entry(kind: int, form: int, turn: int, values: bytes) -> bytes:
    """An entry of the recorder's: length in words, kind, form, mode, thread, enter, leave, site, polled."""
    return (
        struct.pack("<IBBBBqqqq", 5 + len(values) // 8, kind, form, 0, 0, turn * 100, turn * 100 + 9, 0, 0)
        + values
    )


def _recorded(path: Path) -> Program:
    with tempfile.TemporaryDirectory(dir=path.parent) as alone:
        (Path(alone) / "0.raw").write_bytes(path.read_bytes())
        return session.program(Path(alone), ["a.out"])


def _trace(place: Path) -> list[bytes]:
    """The events of one rank of a trace."""
    return [(_traced(place / "good") / "traces" / "0.evt").read_bytes()]


def _read_trace(path: Path) -> object:
    """A trace in which one rank's events are those of a file."""
    with tempfile.TemporaryDirectory(dir=path.parent) as alone:
        trace = _traced(Path(alone) / "trace")
        (trace / "traces" / "0.evt").write_bytes(path.read_bytes())
        return importers.read("otf2", trace / "traces.otf2")


def _traced(path: Path) -> Path:
    from program.test_otf2 import RANKS, Writer  # noqa: PLC0415  (which needs OTF2's writer)

    to = Writer(path)
    for rank in range(RANKS):
        for turn in range(5):
            to.call(rank, "MPI_Irecv", 10, ("MpiIrecvRequest", turn))
            to.call(rank, "MPI_Send", 10, ("MpiSend", (rank + 1) % RANKS, to.world, turn, 100))
            to.call(rank, "MPI_Wait", 10, ("MpiIrecv", (rank - 1) % RANKS, to.world, turn, 100, turn))
            to.call(rank, "MPI_Barrier", 10, ("MpiCollectiveEnd", to.ops.BARRIER, to.world, 0, 0, 0))
    to.close()
    return path


READERS = (
    Reader("programs", ".program", _programs, program_files.read, _parts),
    Reader("program-times", ".times", _times, _read_times, _parts),
    Reader("recordings", ".raw", _recording, _recorded),
    *(Reader(form, f".{form}", _exported(form), partial(importers.read, form)) for form in exporters.names()),
    *([Reader("otf2", ".evt", _trace, _read_trace)] if find_spec("otf2") else []),
)
