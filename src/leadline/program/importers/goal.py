"""GOAL, the schedules of LogGOPSim and ATLAHS, in their text form and in the binary form of txt2bin.

A rank is a graph: `l1: calc 100` (ns), `l2: send 8b to 1 tag 3`, `l3: recv 8b from 1 tag 3`, and edges:
`l2 requires l1` (begins after l1 has ended), `l2 irequires l1` (begins after l1 has begun). A receive from -1
or with tag -1 takes what comes. T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim: simulating large-scale
applications in the LogGOPS model", HPDC 2010.

A program is a sequence a rank, so the graphs of all ranks are executed together, without time: whatever is
ready begins, in the order of the file; a message ends when both its ends have begun. In the order in which
they began, operations become nonblocking ones, each waited for where the first operation that requires it
begins. So the sequence ends wherever the graphs do, and a schedule that never ends is refused.
"""

import re
from pathlib import Path

from leadline.core.errors import UsageError
from leadline.program.importers._goal_binary import COOKIE, Binary
from leadline.program.importers._graphs import ANY, Execution, Node
from leadline.program.importers._lines import data_of, lines_of, seconds, whole
from leadline.program.model import Kind, Program

TITLE = "GOAL"
LARGEST = 1 << 60  # B of a message that a program can have

_OPERATION = re.compile(
    r"(?:(?P<label>\w+)\s*:\s*)?(?:(?P<calc>calc)\s+(?P<time>\S+)"
    r"|(?P<way>send|recv)\s+(?P<bytes>\w+?)b?\s+(?:to|from)\s+(?P<peer>-?\w+)(?:\s+tag\s+(?P<tag>-?\w+))?)"
    r"(?:\s+cpu\s+(?P<cpu>\d+))?(?:\s+nic\s+(?P<nic>\d+))?$"
)
_EDGE = re.compile(r"(\w+)\s+(i?)requires\s+(\w+)$")


def read(path: Path, flops: float) -> tuple[Program, list[str]]:
    """The program of a schedule (`importers.read`); computation is in ns there, so `flops` is unused."""
    del flops
    schedule: _Schedule | Binary = Binary(path) if data_of(path, 8) == COOKIE else _Schedule(path)
    notes = [
        f"{path}: rank {rank} {does} {len(units)} {what} at once, but here {how} after another"
        for does, what, how, used in (
            ("computes on", "cpus", "on one", schedule.cpus),
            ("sends and receives through", "nics", "through one", schedule.nics),
        )
        for rank, units in used.items()
        if len(units) > 1
    ]
    return Execution(schedule.place, schedule.graphs()).program(), notes


class _Schedule:
    """The lines of a file: each rank's operations with their edges."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place = f"{path}:"  # before the number of a line
        self.count, self.rank, self.opened = 0, -1, 0
        self.comment = False
        self.nodes: dict[int, list[Node]] = {}
        self.cpus: dict[int, set[str]] = {}
        self.nics: dict[int, set[str]] = {}
        self.labels: dict[str, int] = {}
        for number, text in enumerate(lines_of(path, TITLE), 1):
            if self.comment or "/" in text or "#" in text:
                text = re.sub(r"(#|//).*", "", self._outside_comments(text))  # noqa: PLW2901
            if line := text.strip():
                self._read(line, number)

    def _outside_comments(self, line: str) -> str:
        """A line without what is between /* and */, which may span lines."""
        if self.comment:
            _, end, line = line.partition("*/")
            self.comment = not end
        line = re.sub(r"/\*.*?\*/", " ", line)
        line, begin, _ = line.partition("/*")
        self.comment = self.comment or bool(begin)
        return line

    def graphs(self) -> list[list[Node]]:
        """Of all ranks. Raises UsageError where the file is cut."""
        if not self.count:
            raise UsageError(f"{self.path}: this file is empty")
        if self.rank >= 0:
            raise UsageError(f"{self.path}:{self.opened}: the file is cut: rank {self.rank} has no '}}'")
        if missing := [each for each in range(self.count) if each not in self.nodes]:
            raise UsageError(
                f"{self.path}: the file is cut: {len(missing)} of {self.count} ranks are missing, "
                f"first {missing[0]}"
            )
        return [self.nodes[each] for each in range(self.count)]

    def _read(self, line: str, number: int) -> None:
        place = f"{self.place}{number}"
        if not self.count:
            words = line.split()
            if words[0] != "num_ranks" or len(words) != 2:
                raise UsageError(
                    f"{place}: a {TITLE} schedule begins with 'num_ranks N', but got {line[:60]!r}"
                )
            self.count = whole(words[1], place, "the number of ranks", least=1)
        elif self.rank < 0:
            self._open(line, number, place)
        elif line == "}":
            self.rank = -1
        elif edge := _EDGE.match(line):
            self._edge(edge, place)
        elif found := _OPERATION.match(line):
            nodes = self.nodes[self.rank]
            label, calc, _, _, _, _, _, cpu, nic = found.groups()
            if label:
                if label in self.labels:
                    raise UsageError(f"{place}: a second operation of rank {self.rank} has the label {label}")
                self.labels[label] = len(nodes)
            self.cpus[self.rank].add(cpu or "0")
            if not calc:
                self.nics[self.rank].add(nic or "0")
            nodes.append(_node(found, number, place, self.count))
        else:
            raise UsageError(
                f"{place}: a line is calc, send, recv, requires or irequires, but got {line[:60]!r}"
            )

    def _open(self, line: str, number: int, place: str) -> None:
        if not (found := re.fullmatch(r"rank\s+(\w+)\s*\{", line)):
            raise UsageError(f"{place}: a rank begins with 'rank N {{', but got {line[:60]!r}")
        self.rank, self.opened, self.labels = whole(found[1], place, "a rank", below=self.count), number, {}
        if self.rank in self.nodes:
            raise UsageError(f"{place}: rank {self.rank} is there a second time")
        self.nodes[self.rank], self.cpus[self.rank], self.nics[self.rank] = [], set(), set()

    def _edge(self, edge: re.Match[str], place: str) -> None:
        after, begins, before = edge.groups()
        for label in (after, before):
            if label not in self.labels:
                raise UsageError(f"{place}: no operation of rank {self.rank} before has the label {label!r}")
        nodes, later, first = self.nodes[self.rank], self.labels[after], self.labels[before]
        nodes[later].unmet += 1
        if begins:
            nodes[first].after_begin.append(later)
        else:
            nodes[first].after_end.append(later)
            nodes[later].required.append(first)


def _node(found: re.Match[str], number: int, place: str, count: int) -> Node:
    _, calc, time, way, size, peer, tag, _, _ = found.groups()
    if calc:
        return Node(number, Kind.NOP, time=seconds(time, place, "a time to compute (ns)") * 1e-9)
    sends = way == "send"
    least = 0 if sends else ANY
    return Node(
        number,
        Kind.SEND if sends else Kind.RECV,
        whole(peer, place, "a rank", least=least, below=count),
        whole(size, place, "a size", below=LARGEST),
        whole(tag or "0", place, "a tag", least=least, below=1 << 31),
    )
