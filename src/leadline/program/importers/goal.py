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

import heapq
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from leadline.core.errors import LeadlineError
from leadline.program.build import ProgramBuilder
from leadline.program.importers.lines import data_of, lines_of, seconds, whole
from leadline.program.importers.slots import Slots
from leadline.program.model import FREE_SOURCE, FREE_TAG, Completion, Form, Kind, Operation, Program

TITLE = "GOAL"
ANY = -1  # as a peer or a tag of a receive

_OPERATION = re.compile(
    r"(?:(?P<label>\w+)\s*:\s*)?(?:(?P<calc>calc)\s+(?P<time>\S+)"
    r"|(?P<way>send|recv)\s+(?P<bytes>\w+?)b?\s+(?:to|from)\s+(?P<peer>-?\w+)(?:\s+tag\s+(?P<tag>-?\w+))?)"
    r"(?:\s+cpu\s+(?P<cpu>\d+))?(?:\s+nic\s+\d+)?$"
)
_EDGE = re.compile(r"(\w+)\s+(i?)requires\s+(\w+)$")


@dataclass(slots=True)
class _Node:
    """One operation of a graph."""

    line: int
    kind: Kind
    peer: int = 0
    bytes: int = 0
    tag: int = 0
    time: float = 0.0
    required: list[int] = field(default_factory=list)  # what must have ended
    unmet: int = 0
    after_end: list[int] = field(default_factory=list)
    after_begin: list[int] = field(default_factory=list)
    begun: bool = False
    ended: bool = False
    free: int = 0
    slot: int = 0


_End: TypeAlias = tuple[int, int]  # an operation by its rank and its place there


def read(path: Path, flops: float) -> tuple[Program, list[str]]:
    """The program of a schedule (`importers.read`); computation is in ns there, so `flops` is unused."""
    del flops
    schedule: _Schedule | _Binary = _Binary(path) if data_of(path, 8) == _COOKIE else _Schedule(path)
    notes = [
        f"{path}: rank {rank} computes on {len(cpus)} cpus at once, but here on one after another"
        for rank, cpus in schedule.cpus.items()
        if len(cpus) > 1
    ]
    return _Execution(schedule.place, schedule.graphs()).program(), notes


class _Schedule:
    """The lines of a file: each rank's operations with their edges."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place = f"{path}:"  # before the number of a line
        self.count, self.rank, self.opened = 0, -1, 0
        self.comment = False
        self.nodes: dict[int, list[_Node]] = {}
        self.cpus: dict[int, set[str]] = {}
        self.labels: dict[str, int] = {}
        for number, text in enumerate(lines_of(path, TITLE), 1):
            if line := re.sub(r"(#|//).*", "", self._outside_comments(text)).strip():
                self._read(line, number, f"{path}:{number}")

    def _outside_comments(self, line: str) -> str:
        """A line without what is between /* and */, which may span lines."""
        if self.comment:
            _, end, line = line.partition("*/")
            self.comment = not end
        line = re.sub(r"/\*.*?\*/", " ", line)
        line, begin, _ = line.partition("/*")
        self.comment = self.comment or bool(begin)
        return line

    def graphs(self) -> list[list[_Node]]:
        """Of all ranks. Raises LeadlineError where the file is cut."""
        if not self.count:
            raise LeadlineError(f"{self.path}: this file is empty")
        if self.rank >= 0:
            raise LeadlineError(f"{self.path}:{self.opened}: the file is cut: rank {self.rank} has no '}}'")
        if missing := [each for each in range(self.count) if each not in self.nodes]:
            raise LeadlineError(
                f"{self.path}: the file is cut: {len(missing)} of {self.count} ranks are missing, "
                f"first {missing[0]}"
            )
        return [self.nodes[each] for each in range(self.count)]

    def _read(self, line: str, number: int, place: str) -> None:
        if not self.count:
            words = line.split()
            if words[0] != "num_ranks" or len(words) != 2:
                raise LeadlineError(
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
            if label := found["label"]:
                if label in self.labels:
                    raise LeadlineError(
                        f"{place}: a second operation of rank {self.rank} has the label {label}"
                    )
                self.labels[label] = len(nodes)
            self.cpus[self.rank] |= {found["cpu"] or "0"}
            nodes.append(_node(found, number, place, self.count))
        else:
            raise LeadlineError(
                f"{place}: a line is calc, send, recv, requires or irequires, but got {line[:60]!r}"
            )

    def _open(self, line: str, number: int, place: str) -> None:
        if not (found := re.fullmatch(r"rank\s+(\w+)\s*\{", line)):
            raise LeadlineError(f"{place}: a rank begins with 'rank N {{', but got {line[:60]!r}")
        self.rank, self.opened, self.labels = whole(found[1], place, "a rank", below=self.count), number, {}
        if self.rank in self.nodes:
            raise LeadlineError(f"{place}: rank {self.rank} is there a second time")
        self.nodes[self.rank], self.cpus[self.rank] = [], set()

    def _edge(self, edge: re.Match[str], place: str) -> None:
        for label in (edge[1], edge[3]):
            if label not in self.labels:
                raise LeadlineError(
                    f"{place}: no operation of rank {self.rank} before has the label {label!r}"
                )
        nodes, later, first = self.nodes[self.rank], self.labels[edge[1]], self.labels[edge[3]]
        nodes[later].unmet += 1
        (nodes[first].after_begin if edge[2] else nodes[first].after_end).append(later)
        if not edge[2]:
            nodes[later].required.append(first)


def _node(found: re.Match[str], number: int, place: str, count: int) -> _Node:
    if found["calc"]:
        return _Node(number, Kind.NOP, time=seconds(found["time"], place, "a time to compute (ns)") * 1e-9)
    least = 0 if found["way"] == "send" else ANY
    return _Node(
        number,
        Kind.SEND if found["way"] == "send" else Kind.RECV,
        whole(found["peer"], place, "a rank", least=least, below=count),
        whole(found["bytes"], place, "a size"),
        whole(found["tag"] or "0", place, "a tag", least=least),
    )


_COOKIE = (4223).to_bytes(8, "little")
# What an operation of the binary form is, without gaps; `ended` and `begun` are how many operations begin
# after it has ended or begun, and where their numbers stand in the list behind the rank's operations.
_PACKED = np.dtype(
    [
        *(("unmet", "<u4"), ("type", "u1"), ("peer", "<u4"), ("bytes", "<u8"), ("tag", "<u4"), ("cpu", "u1")),
        *(("nic", "u1"), ("ended", "<u4"), ("ended_at", "<u4"), ("begun", "<u4"), ("begun_at", "<u4")),
    ]
)
_TYPES = {1: Kind.SEND, 2: Kind.RECV, 3: Kind.NOP}
_ANY_PACKED = 2**32 - 1


class _Binary:
    """The binary form: a cookie, the number of ranks, where each rank is, and each rank's operations.

    Offsets count from behind the cookie. Operations are numbered through the file from 1, as lines are.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.place = path, f"{path}, operation "
        self.data = data_of(path)[8:]
        self.cpus: dict[int, set[str]] = {}
        self.numbered = 0

    def graphs(self) -> list[list[_Node]]:
        """Of all ranks. Raises LeadlineError where the file is cut or makes no sense."""
        count = int(self._read("<u4", 0)[0])
        ends = self._read("<u8", 6, 2 * count).reshape(-1, 2)
        return [self._graph(rank, int(begin), int(end), count) for rank, (begin, end) in enumerate(ends)]

    def _read(self, kind: npt.DTypeLike, offset: int, count: int = 1) -> npt.NDArray[Any]:
        if offset + np.dtype(kind).itemsize * count > len(self.data):
            raise LeadlineError(
                f"{self.path}: the file is cut: {len(self.data) + 8} bytes, "
                f"but it goes on at byte {offset + 8}"
            )
        return np.frombuffer(self.data, kind, count, offset)

    def _graph(self, rank: int, begin: int, end: int, count: int) -> list[_Node]:
        operations, roots = (int(each) for each in self._read("<u4", begin, 2))
        packed = self._read(_PACKED, begin + 8 + 4 * roots, operations)
        behind = begin + 8 + 4 * roots + _PACKED.itemsize * operations
        after = self._read("<u4", behind, max(end - behind, 0) // 4)
        if after.size and after.max() >= operations:
            raise LeadlineError(f"{self.path}: rank {rank} is damaged: it has {operations} operations")
        self.cpus[rank] = {str(cpu) for cpu in np.unique(packed["cpu"])}
        nodes = [self._node(each, count) for each in packed.tolist()]
        for index, (node, each) in enumerate(zip(nodes, packed, strict=True)):
            node.after_end = after[int(each["ended_at"]) :][: int(each["ended"])].tolist()
            node.after_begin = after[int(each["begun_at"]) :][: int(each["begun"])].tolist()
            for later in node.after_end:
                nodes[later].required.append(index)
            for later in (*node.after_end, *node.after_begin):
                nodes[later].unmet += 1
        if [node.unmet for node in nodes] != packed["unmet"].tolist():
            raise LeadlineError(f"{self.path}: rank {rank} is damaged: its edges are not those it counts")
        return nodes

    def _node(self, packed: tuple[int, ...], count: int) -> _Node:
        _, kind, peer, size, tag, *_ = packed
        self.numbered += 1
        if kind not in _TYPES:
            raise LeadlineError(f"{self.place}{self.numbered}: {kind} is no type of operation of {TITLE}")
        if _TYPES[kind] == Kind.NOP:
            return _Node(self.numbered, Kind.NOP, time=size * 1e-9)
        receives = _TYPES[kind] == Kind.RECV
        peer, tag = (ANY if receives and each == _ANY_PACKED else each for each in (peer, tag))
        if peer >= count:
            raise LeadlineError(
                f"{self.place}{self.numbered}: there is no rank {peer}; the schedule has {count} ranks"
            )
        return _Node(self.numbered, _TYPES[kind], peer, size, tag)


class _Queue:
    """Ends at one rank that wait for their other ends, of one kind, by source and tag."""

    def __init__(self) -> None:
        self.ends: dict[tuple[int, int], deque[tuple[int, _End]]] = {}
        self.numbered = 0

    def add(self, key: tuple[int, int], end: _End) -> None:
        self.numbered += 1
        self.ends.setdefault(key, deque()).append((self.numbered, end))

    def take(self, keys: Iterable[tuple[int, int]]) -> _End | None:
        """Whichever of these came first, and leaves; None where there is none."""
        first = min((self.ends[key][0] + (key,) for key in keys if key in self.ends), default=None)
        if not first:
            return None
        _, end, key = first
        self.ends[key].popleft()
        if not self.ends[key]:
            del self.ends[key]
        return end

    def matching(self, source: int, tag: int) -> list[tuple[int, int]]:
        """What is here of a source and a tag, which may be ANY."""
        if ANY not in (source, tag):
            return [(source, tag)]
        return [key for key in self.ends if source in (ANY, key[0]) and tag in (ANY, key[1])]

    def all(self) -> Iterator[_End]:
        return (end for ends in self.ends.values() for _, end in ends)


class _Execution:
    """All ranks' graphs, executed without time."""

    def __init__(self, place: str, graphs: list[list[_Node]]) -> None:
        self.place, self.graphs = place, graphs
        self.ready = [[i for i, node in enumerate(nodes) if not node.unmet] for nodes in graphs]
        self.active = deque(range(len(graphs)))
        self.messages = [_Queue() for _ in graphs]  # of each receiver
        self.receives = [_Queue() for _ in graphs]
        self.sent: deque[_End] = deque()
        self.order: list[list[int]] = [[] for _ in graphs]

    def program(self) -> Program:
        """Raises LeadlineError, with the line, where the schedule cannot end."""
        while True:
            while self.active:
                rank = self.active.popleft()
                while self.ready[rank]:
                    self._begin(rank, heapq.heappop(self.ready[rank]))
            # What waits for a message to leave goes on before the message is received: it was buffered.
            while self.sent and self._node(self.sent[0]).ended:
                self.sent.popleft()
            if not self.sent:
                break
            self._end(*self.sent.popleft())
        self._refuse_what_is_left()
        builder = ProgramBuilder(len(self.graphs))
        for rank in range(len(self.graphs)):
            operations, before = zip(*self._sequence(rank), strict=True) if self.graphs[rank] else ((), ())
            builder.add(rank, operations, before=before)
        return builder.build()

    def _node(self, end: _End) -> _Node:
        return self.graphs[end[0]][end[1]]

    def _release(self, rank: int, which: list[int]) -> None:
        for each in which:
            node = self.graphs[rank][each]
            node.unmet -= 1
            if not node.unmet:
                heapq.heappush(self.ready[rank], each)
                self.active.append(rank)

    def _begin(self, rank: int, index: int) -> None:
        node = self.graphs[rank][index]
        node.begun = True
        self.order[rank].append(index)
        self._release(rank, node.after_begin)
        if node.kind == Kind.NOP:
            self._end(rank, index)
            return
        end = (rank, index)
        if node.kind == Kind.SEND:
            taking = [(rank, node.tag), (ANY, node.tag), (rank, ANY), (ANY, ANY)]
            other = self.receives[node.peer].take(taking)
            if other is None:
                self.messages[node.peer].add((rank, node.tag), end)
                self.sent.append(end)
                return
            self._met(end, other)
        else:
            waiting = self.messages[rank]
            other = waiting.take(waiting.matching(node.peer, node.tag))
            if other is None:
                self.receives[rank].add((node.peer, node.tag), end)
                return
            self._met(other, end)
        self._end(*end)
        self._end(*other)

    def _met(self, sent: _End, received: _End) -> None:
        """A message and its receive; a free one learns what it has met."""
        message, receive = self._node(sent), self._node(received)
        if message.bytes > receive.bytes:
            raise LeadlineError(
                f"{self.place}{receive.line}: a receive of {receive.bytes} bytes meets a message of "
                f"{message.bytes} bytes"
            )
        receive.free = FREE_SOURCE * (receive.peer == ANY) | FREE_TAG * (receive.tag == ANY)
        receive.peer, receive.tag = sent[0], message.tag

    def _end(self, rank: int, index: int) -> None:
        node = self.graphs[rank][index]
        if not node.ended:
            node.ended = True
            self._release(rank, node.after_end)

    def _refuse_what_is_left(self) -> None:
        for rank, nodes in enumerate(self.graphs):
            if cyclic := _cycle(nodes):
                raise LeadlineError(
                    f"{self.place}{nodes[cyclic[0]].line}: a cycle: "
                    f"rank {rank} begins this operation only after itself"
                    f" ({len(cyclic)} operations require each other)"
                )
        lonely = [self._node(end) for queue in (*self.messages, *self.receives) for end in queue.all()]
        blocked = [node for nodes in self.graphs for node in nodes if not node.begun]
        if lonely:
            node = min(lonely, key=lambda each: each.line)
            what = "a receive" if node.kind == Kind.RECV else "a message"
            other = "no matching send" if node.kind == Kind.RECV else "no matching receive"
            after = f"; {len(blocked)} operations never begin" if blocked else ""
            raise LeadlineError(
                f"{self.place}{node.line}: {what} of {node.bytes} bytes with {_named('tag', node.tag)} has "
                f"{other} that begins on {_named('rank', node.peer)}{after}"
            )

    def _sequence(self, rank: int) -> Iterator[tuple[Operation, float]]:
        """Operations and the computation before each, s."""
        nodes, slots = self.graphs[rank], Slots()
        computed = 0.0
        pending: dict[int, None] = {}
        order = self.order[rank]
        for place, index in enumerate(order):
            node = nodes[index]
            needed = sorted(each for each in set(node.required) if each in pending)
            if needed:
                yield _wait([nodes[each].slot for each in needed]), computed
                computed = 0.0
                for each in needed:
                    del pending[each]
                    slots.give(nodes[each].slot)
            if node.kind == Kind.NOP:
                computed += node.time
                continue
            following = nodes[order[place + 1]].required if place + 1 < len(order) else [index]
            # What the very next operation requires, and nothing else is under way for it, is a blocking one.
            blocking = index in following and not any(each in pending for each in following)
            if not blocking:
                pending[index] = None
                node.slot = slots.take()
            yield (
                Operation(
                    int(node.kind),
                    0,
                    node.peer,
                    node.bytes,
                    node.tag,
                    node.slot,
                    form=int(Form.BLOCKING if blocking else Form.NONBLOCKING),
                    free=node.free,
                ),
                computed,
            )
            computed = 0.0
        if pending:
            yield _wait([nodes[each].slot for each in sorted(pending)]), computed
            computed = 0.0
        if computed or not order:
            yield Operation(int(Kind.NOP)), computed


def _named(what: str, number: int) -> str:
    return f"any {what}" if number == ANY else f"{what} {number}"


def _wait(slots: list[int]) -> Operation:
    how = Completion.WAIT if len(slots) == 1 else Completion.WAITALL
    return Operation(int(Kind.WAIT), mode=int(how), gives=tuple(slots))


def _cycle(nodes: list[_Node]) -> list[int]:
    """Operations that are on a cycle of edges, or behind one; empty where there is none."""
    before = [0] * len(nodes)
    for node in nodes:
        for each in (*node.after_end, *node.after_begin):
            before[each] += 1
    ready = [i for i, count in enumerate(before) if not count]
    while ready:
        node = nodes[ready.pop()]
        for each in (*node.after_end, *node.after_begin):
            before[each] -= 1
            if not before[each]:
                ready.append(each)
    return [i for i, count in enumerate(before) if count]
