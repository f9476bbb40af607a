"""The file of a program: written and read (docs/program-format.md is its definition)."""

import json
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from leadline.core.arguments import PATH, checked
from leadline.core.errors import UsageError
from leadline.core.record_files import replace
from leadline.program.folded import Folded, Loop, Node, Stored
from leadline.program.model import STATS, Communicator, Kind, Operation, Program

VERSION = 1
MAGIC = "leadline-program "
TIMES_MAGIC = "leadline-times "
END, LOOP = 0, 1
_SCALARS = Operation._fields[1:-2]
_LISTS = Operation._fields[-2:]
_NO_LISTS = ((),) * len(_LISTS)
_KINDS = frozenset(int(kind) for kind in Kind)


def times_path(path: Path) -> Path:
    """Where the times of a program's operations stand."""
    return path.with_name(path.name + ".times")


def _varint(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _signed(out: bytearray, value: int) -> None:
    _varint(out, value << 1 if value >= 0 else (-value << 1) - 1)


def encode(folded: Folded) -> bytes:
    """A sequence as instructions."""
    out = bytearray()
    for node in folded.nodes:
        _encode_node(out, node, folded.leaves)
    out.append(END)
    return bytes(out)


def _encode_node(out: bytearray, node: Node, leaves: Sequence[Operation]) -> None:
    if isinstance(node, Loop):
        out.append(LOOP)
        _varint(out, node.turns)
        for each in node.body:
            _encode_node(out, each, leaves)
        out.append(END)
        return
    leaf = leaves[node]
    out.append(leaf.kind)
    values, lists = leaf[1:-2], leaf[-2:]
    mask = sum(1 << bit for bit, value in enumerate((*values, *lists)) if value)
    _varint(out, mask)
    for value in values:
        if value:
            _signed(out, value)
    for items in lists:
        if items:
            _varint(out, len(items))
            for item in items:
                _signed(out, item)


class _Reader:
    """Instructions of one sequence."""

    def __init__(self, data: bytes, path: Path) -> None:
        self._data, self._at, self._path = data, 0, path
        self._leaves: list[Operation] = []

    def _broken(self, what: str) -> NoReturn:
        raise UsageError(f"{self._path}: {what} at byte {self._at} of a sequence; the file is damaged")

    def _varint(self) -> int:
        at = self._at
        if at < len(self._data) and (byte := self._data[at]) < 0x80:  # most are
            self._at = at + 1
            return byte
        value = shift = 0
        while True:
            if self._at >= len(self._data) or shift > 63:
                self._broken("a number does not end")
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _signed(self) -> int:
        value = self._varint()
        return value >> 1 if not value & 1 else -((value + 1) >> 1)

    def read(self, relative: bool) -> Folded:
        nodes = self._nodes(0)
        if self._at != len(self._data):
            self._broken("something follows the end")
        return Folded(tuple(self._leaves), nodes, relative)

    def _nodes(self, depth: int) -> tuple[Node, ...]:
        if depth > 64:
            self._broken("more than 64 loops in each other")
        nodes: list[Node] = []
        while True:
            kind = self._varint()
            if kind == END:
                return tuple(nodes)
            if kind == LOOP:
                turns = self._varint()
                nodes.append(Loop(turns, self._nodes(depth + 1)))
                continue
            if kind not in _KINDS:
                self._broken(f"no operation has the number {kind}")
            self._leaves.append(self._operation(kind))
            nodes.append(len(self._leaves) - 1)

    def _operation(self, kind: int) -> Operation:
        mask = self._varint()
        if mask >> len(Operation._fields) - 1:
            self._broken("an operation has unknown fields")
        values = [self._signed() if mask >> bit & 1 else 0 for bit in range(len(_SCALARS))]
        if not mask >> len(_SCALARS):
            return Operation._make((kind, *values, *_NO_LISTS))
        lists: list[tuple[int, ...]] = []
        for bit in range(len(_SCALARS), len(_SCALARS) + len(_LISTS)):
            count = self._varint() if mask >> bit & 1 else 0
            if count > len(self._data) - self._at:
                self._broken("a list is longer than the file")
            lists.append(tuple(self._signed() for _ in range(count)))
        return Operation._make((kind, *values, *lists))


def _ranges(members: Sequence[int]) -> list[list[int]]:
    """Ranks as runs of (first, count, step)."""
    runs: list[list[int]] = []
    for rank in members:
        if runs:
            first, count, step = runs[-1]
            if count == 1:
                runs[-1] = [first, 2, rank - first]
                continue
            if rank == first + count * step:
                runs[-1][1] += 1
                continue
        runs.append([rank, 1, 1])
    return runs


def _members(runs: Iterable[Sequence[int]]) -> tuple[int, ...] | range:
    runs = list(runs)
    if len(runs) == 1 and runs[0][2] > 0:
        first, count, step = runs[0]
        return range(first, first + count * step, step)
    return tuple(first + step * place for first, count, step in runs for place in range(count))


def write(program: Program, path: Path) -> None:
    """Writes the program, and its times beside it where it has some; all at once, never half a file."""
    body = bytearray()

    def placed(data: bytes) -> list[int]:
        body.extend(data)
        return [len(body) - len(data), len(data)]

    columns = STATS.names if program.measured else ("before_mean",)
    assert columns is not None
    header = {
        "ranks": program.ranks,
        "sequences": [
            [*placed(encode(each)), len(each.leaves), int(each.relative)] for each in program.sequences
        ],
        "rank_sequence": _ranges(program.rank_sequence.tolist()),
        "stats_columns": list(columns),
        "stats": [
            placed(b"".join(each[name].tobytes() for name in columns)) for each in program.stats_tables
        ],
        "rank_stats": _ranges(program.rank_stats.tolist()),
        "communicators": [
            {
                "members": _ranges(each.members),
                "construction": int(each.construction),
                "parent": each.parent,
            }
            | ({"remote": _ranges(each.remote)} if each.remote else {})
            for each in program.communicators
        ],
        "sites": program.sites,
        "regions": program.regions,
        "recorded": program.recorded,
        "partial": sorted(program.partial),
        "operations": program.operations_in_all,
        "calls": sorted(map(list, program.calls)),
        "body": len(body),
        "crc32": zlib.crc32(body),
    }
    replace(path, _begin(MAGIC, header) + bytes(body))
    if program.times_of is not None:
        _write_times(program, path, header["crc32"])
    else:
        times_path(path).unlink(missing_ok=True)


def _begin(magic: str, header: dict[str, Any]) -> bytes:
    """What a file begins with: its version, its header's length and checksum, the header."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return f"{magic}{VERSION}\n{len(text)} {zlib.crc32(text)}\n".encode() + text + b"\n"


def _write_times(program: Program, path: Path, crc: object) -> None:
    assert program.times_of is not None
    counts = [len(program.times_of[rank]) for rank in range(program.ranks)]
    parts = [np.ascontiguousarray(program.times_of[rank], "<i8").tobytes() for rank in range(program.ranks)]
    times = b"".join(parts)
    head = _begin(TIMES_MAGIC, {"program": crc, "counts": counts, "crc32": zlib.crc32(times)})
    replace(times_path(path), head + bytes(-len(head) % 8) + times)


def _header(path: Path, magic: str, what: str) -> tuple[dict[str, Any], bytes, int]:
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror}") from problem
    first, _, rest = data.partition(b"\n")
    if not first.startswith(magic.encode()):
        hint = "; 'leadline record' and 'leadline program import' write them" if magic == MAGIC else ""
        raise UsageError(f"{path} is not a {what} of Leadline{hint}")
    version = first[len(magic) :].decode("ascii", "replace")
    if version != str(VERSION):
        raise UsageError(
            f"{path} is a {what} of version {version}, this Leadline reads version {VERSION}; "
            "use a newer Leadline"
        )
    length, _, rest = rest.partition(b"\n")
    try:
        size, *crc = map(int, length.split())
        header = json.loads(rest[:size])
        if not isinstance(header, dict) or (crc and crc != [zlib.crc32(rest[:size])]):
            raise TypeError
    except (ValueError, TypeError, RecursionError) as problem:
        raise UsageError(f"{path}: its header is cut or damaged; record or write it again") from problem
    return header, data, len(first) + len(length) + 2 + size + 1


@checked(path=PATH)
def read(path: Path | str) -> Program:
    """The program of a file, with its times where they stand beside it.

    Raises UsageError for a file that is cut, damaged, of a newer version or beside times of another program.
    """
    path = Path(path)
    header, data, start = _header(path, MAGIC, "program file")
    body = data[start:]
    try:
        if len(body) != header["body"]:
            raise UsageError(
                f"{path} is cut: {header['body']} B should follow its header, but {len(body)} do; "
                "record or write it again"
            )
        if zlib.crc32(body) != header["crc32"]:
            raise UsageError(f"{path} is damaged: its checksum is wrong; record or write it again")
        program = _program(header, body, path)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError, AttributeError) as problem:
        raise UsageError(f"{path}: its header is damaged ({problem}); record or write it again") from problem
    if times_path(path).exists():
        program.times_of = _read_times(times_path(path), header["crc32"], program)
    return program


def _program(header: dict[str, Any], body: bytes, path: Path) -> Program:
    ranks = int(header["ranks"])
    sequences = _sequences(header, body, path)
    tables = []
    for offset, size in header["stats"]:
        width = sum(STATS[name].itemsize for name in header["stats_columns"])
        table = np.zeros(size // width, STATS)
        at = offset
        for name in header["stats_columns"]:
            kind = STATS[name]
            end = at + len(table) * kind.itemsize
            table[name] = np.frombuffer(body[at:end], kind)
            at = end
        if "before_max" not in header["stats_columns"]:
            table["before_min"] = table["before_max"] = table["before_mean"]
        tables.append(table)
    rank_sequence = np.array(_members(header["rank_sequence"]), np.int32)
    rank_stats = np.array(_members(header["rank_stats"]), np.int32)
    if len(rank_sequence) != ranks or len(rank_stats) != ranks or ranks < 1:
        raise ValueError("not every rank has a sequence")
    for rank_of in (rank_sequence, rank_stats):
        if rank_of.min() < 0:
            raise ValueError("a rank has a negative sequence")
    for sequence, table in set(zip(rank_sequence.tolist(), rank_stats.tolist(), strict=True)):
        if header["sequences"][sequence][2] != len(tables[table]):
            raise ValueError("a rank's times are those of another sequence")
    return Program(
        ranks=ranks,
        sequences=sequences,
        rank_sequence=rank_sequence,
        stats_tables=tables,
        rank_stats=rank_stats,
        communicators=[
            Communicator(
                _members(each["members"]),
                int(each["construction"]),
                int(each["parent"]),
                _members(each["remote"]) if "remote" in each else (),
            )
            for each in header["communicators"]
        ],
        sites=[str(site) for site in header["sites"]],
        regions=[str(region) for region in header["regions"]],
        recorded=dict(header["recorded"]),
        partial=frozenset(int(rank) for rank in header["partial"]),
        measured="inside_mean" in header["stats_columns"],
    )


def _sequences(header: dict[str, Any], body: bytes, path: Path) -> Sequence[Folded]:
    """The sequences; decoded at once only where the header does not say what calls they have."""
    places = [tuple(map(int, each)) for each in header["sequences"]]
    if any(len(each) != 4 or each[0] < 0 or each[1] < 0 or each[0] + each[1] > len(body) for each in places):
        raise ValueError("a sequence lies outside of the file")

    def decode(index: int) -> Folded:
        offset, size, leaves, relative = places[index]
        sequence = _Reader(body[offset : offset + size], path).read(bool(relative))
        if len(sequence.leaves) != leaves:
            raise UsageError(
                f"{path}: a sequence is not as long as its header says; record or write it again"
            )
        return sequence

    if "calls" not in header:  # an older file
        return [decode(index) for index in range(len(places))]
    calls = frozenset((int(kind), int(mode)) for kind, mode in header["calls"])
    return Stored(decode, len(places), int(header["operations"]), calls)


def read_pairs(path: Path) -> tuple[list[int], npt.NDArray[np.int64]]:
    """The operations of each rank and, one rank after another, when each was entered and left, ns.

    Raises UsageError for a file of times that is cut or damaged.
    """
    header, data, start = _header(path, TIMES_MAGIC, "file of times")
    return _pairs(header, data, start, path)


def _pairs(
    header: dict[str, Any], data: bytes, start: int, path: Path
) -> tuple[list[int], npt.NDArray[np.int64]]:
    start += -start % 8
    counts = header.get("counts")
    if not isinstance(counts, list) or not all(isinstance(count, int) and count >= 0 for count in counts):
        raise UsageError(f"{path}: its header is damaged; remove it or record again")
    if len(data) - start != 16 * sum(counts):
        raise UsageError(
            f"{path} is cut: {16 * sum(counts)} B of times should be there, but "
            f"{max(0, len(data) - start)} are; remove it or record again"
        )
    if header.get("crc32", checksum := zlib.crc32(memoryview(data)[start:])) != checksum:
        raise UsageError(f"{path} is damaged: its checksum is wrong; remove it or record again")
    return counts, np.frombuffer(data, "<i8", offset=start).reshape(-1, 2)


def _read_times(path: Path, crc: int, program: Program) -> dict[int, npt.NDArray[np.int64]]:
    header, data, start = _header(path, TIMES_MAGIC, "file of times")
    counts, times = _pairs(header, data, start, path)
    if header.get("program") != crc or counts != [program.length(rank) for rank in range(program.ranks)]:
        raise UsageError(f"{path} has the times of another program; remove it or record again")
    return dict(enumerate(np.split(times, np.cumsum(counts)[:-1])))
