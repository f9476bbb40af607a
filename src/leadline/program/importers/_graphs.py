"""Graphs of ranks' messages and computation, executed without time, so that each rank has a sequence.

Whatever is ready begins, in the order of its graph; a message ends when both its ends have begun.
"""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from leadline.core.errors import UsageError
from leadline.program.build import ProgramBuilder
from leadline.program.importers._slots import Slots
from leadline.program.model import FREE_SOURCE, FREE_TAG, Completion, Form, Kind, Operation, Program

ANY = -1  # as a peer or a tag of a receive


@dataclass(slots=True)
class Node:
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


End: TypeAlias = tuple[int, int]  # an operation by its rank and its place there


class _Queue:
    """Ends at one rank that wait for their other ends, of one kind, by source and tag."""

    def __init__(self) -> None:
        self.ends: dict[tuple[int, int], deque[tuple[int, End]]] = {}
        self.numbered = 0
        self.free = False  # whether one of them ever took any source or tag

    def add(self, key: tuple[int, int], end: End) -> None:
        self.numbered += 1
        self.free = self.free or ANY in key
        self.ends.setdefault(key, deque()).append((self.numbered, end))

    def take(self, keys: Iterable[tuple[int, int]]) -> End | None:
        """Whichever of these came first, and leaves; None where there is none."""
        here = [(*self.ends[key][0], key) for key in keys if key in self.ends]
        if not here:
            return None
        _, end, key = min(here) if len(here) > 1 else here[0]
        self.ends[key].popleft()
        if not self.ends[key]:
            del self.ends[key]
        return end

    def matching(self, source: int, tag: int) -> list[tuple[int, int]]:
        """What is here of a source and a tag, which may be ANY."""
        if ANY not in (source, tag):
            return [(source, tag)]
        return [key for key in self.ends if source in (ANY, key[0]) and tag in (ANY, key[1])]

    def all(self) -> Iterator[End]:
        return (end for ends in self.ends.values() for _, end in ends)


class Execution:
    """All ranks' graphs, executed without time."""

    def __init__(self, place: str, graphs: list[list[Node]]) -> None:
        self.place, self.graphs = place, graphs
        self.ready = [[i for i, node in enumerate(nodes) if not node.unmet] for nodes in graphs]
        self.active = deque(range(len(graphs)))
        self.messages = [_Queue() for _ in graphs]  # of each receiver
        self.receives = [_Queue() for _ in graphs]
        self.sent: deque[End] = deque()
        self.order: list[list[int]] = [[] for _ in graphs]

    def program(self) -> Program:
        """Raises UsageError, with the line, where the schedule cannot end."""
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

    def _node(self, end: End) -> Node:
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
            taking = [(rank, node.tag)]
            receives = self.receives[node.peer]
            if receives.free:
                taking += [(ANY, node.tag), (rank, ANY), (ANY, ANY)]
            other = receives.take(taking)
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

    def _met(self, sent: End, received: End) -> None:
        """A message and its receive. A receive from any rank stays one: which message it takes is a matter of
        time. But a program can ask for any tag only where it says which it has met.
        """
        message, receive = self._node(sent), self._node(received)
        if message.bytes > receive.bytes:
            raise UsageError(
                f"{self.place}{receive.line}: a receive of {receive.bytes} bytes meets a message of "
                f"{message.bytes} bytes"
            )
        receive.free = FREE_SOURCE * (receive.peer == ANY) | FREE_TAG * (receive.tag == ANY)
        if receive.tag == ANY or receive.peer != ANY:
            receive.peer, receive.tag = sent[0], message.tag

    def _end(self, rank: int, index: int) -> None:
        node = self.graphs[rank][index]
        if not node.ended:
            node.ended = True
            self._release(rank, node.after_end)

    def _refuse_what_is_left(self) -> None:
        for rank, nodes in enumerate(self.graphs):
            if cyclic := _cycle(nodes):
                raise UsageError(
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
            raise UsageError(
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
            if pending and (needed := sorted(each for each in set(node.required) if each in pending)):
                yield _wait([nodes[each].slot for each in needed]), computed
                computed = 0.0
                for each in needed:
                    del pending[each]
                    slots.give(nodes[each].slot)
            if node.kind == Kind.NOP:
                if computed and node.time:  # a core may take up a message between two computations
                    yield Operation(int(Kind.NOP)), computed
                    computed = 0.0
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


def _cycle(nodes: list[Node]) -> list[int]:
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
