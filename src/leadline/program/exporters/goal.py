"""GOAL text, the schedules of LogGOPSim and ATLAHS (importers/goal.py says what it is).

A rank's operations are a chain: each requires the one before, but a nonblocking send lets the next begin
after it has begun, and its wait requires it. A nonblocking receive takes no time, so it is beside the chain:
it begins when the next operation may, and after the receive before, whose message might be its own. The
format has messages and computation only.
"""

from collections.abc import Iterator

from leadline.core.errors import UsageError
from leadline.program.model import ANY_PEER, Form, Kind, Operation, Program, called

TITLE = "GOAL"
_TAGS = 1 << 31  # below which a tag of a schedule is
_NO_MESSAGE = (Kind.NOP, Kind.FREE, Kind.PROBE, Kind.REGION_BEGIN, Kind.REGION_END, Kind.FILE)


def lines(program: Program, flops: float) -> Iterator[str]:
    """The lines of the schedule (`exporters.write`)."""
    del flops
    tags = _Tags(program)
    yield f"num_ranks {program.ranks}"
    for rank in range(program.ranks):
        yield f"rank {rank} {{"
        yield from _Rank(program, rank, tags).lines()
        yield "}"


class _Tags:
    """Tags of the schedule: messages of one communicator never meet those of another.

    Those that would be too large are numbered as they come.
    """

    def __init__(self, program: Program) -> None:
        self._count = len(program.communicators)
        tags = (max(leaf.tag, leaf.source_tag) for each in program.sequences for leaf in each.leaves)
        self._numbered = (max(tags, default=0) + 1) * self._count > _TAGS
        self._numbers: dict[tuple[int, int], int] = {}

    def __call__(self, comm: int, tag: int) -> int:
        if self._numbered:
            return self._numbers.setdefault((comm, tag), len(self._numbers))
        return tag * self._count + comm


class _Rank:
    """One rank's graph while it is written."""

    def __init__(self, program: Program, rank: int, tags: _Tags) -> None:
        self.program, self.rank, self._tag = program, rank, tags
        self.count = 0
        self.after: list[str] = []  # edges that the next operation has
        self.posted: list[str] = []  # and if it is a receive, these too
        self.requests: dict[int, int] = {}
        self.persistent: dict[int, Operation] = {}

    def lines(self) -> Iterator[str]:
        before = self.program.before(self.rank)
        for computation, (_, operation) in zip(before, self.program.operations(self.rank), strict=True):
            if computation > 0:
                yield from self._chained(f"calc {round(float(computation) * 1e9)}")
            kind = operation.kind
            if kind in (Kind.SEND, Kind.RECV):
                if operation.form == Form.PERSISTENT:
                    self.persistent[operation.request] = operation
                else:
                    yield from self._message(operation)
            elif kind == Kind.SENDRECV:
                yield from self._both(operation)
            elif kind == Kind.START:
                for slot in operation.gives:
                    yield from self._message(self.persistent[slot]._replace(form=int(Form.NONBLOCKING)))
            elif kind == Kind.WAIT:
                ended = (self.requests.pop(slot) for slot in operation.gives if slot in self.requests)
                # A chain goes on from what was waited for.
                self.after = list(dict.fromkeys([*self.after, *(f"requires l{label}" for label in ended)]))
            elif kind not in _NO_MESSAGE:
                what = called(Kind(kind), Form(operation.form), bool(operation.mode))
                raise UsageError(
                    f"{TITLE} has messages and computation only, but rank {self.rank} calls {what}"
                )
        if self.after and any(self.after):
            yield from self._chained("calc 0")

    def _peer(self, comm: int, peer: int) -> int:
        # Whoever may send to it has the same communicator, so the same tag.
        return peer if peer == ANY_PEER else self.program.communicators[comm].peers[peer]

    def _add(self, text: str, edges: list[str]) -> Iterator[str]:
        self.count += 1
        yield f"l{self.count}: {text}"
        for edge in edges:
            yield f"l{self.count} {edge}"

    def _chained(self, text: str) -> Iterator[str]:
        yield from self._add(text, self.after)
        self.after = [f"requires l{self.count}"]

    def _message(self, operation: Operation) -> Iterator[str]:
        way = "send {}b to {} tag {}" if operation.kind == Kind.SEND else "recv {}b from {} tag {}"
        peer, tag = self._peer(operation.comm, operation.peer), self._tag(operation.comm, operation.tag)
        text = way.format(operation.bytes, peer, tag)
        receives = operation.kind == Kind.RECV
        yield from self._add(text, [*self.after, *self.posted] if receives else self.after)
        begun = [f"irequires l{self.count}"]
        if receives:
            self.posted = begun
        if operation.form == Form.BLOCKING:
            self.after, self.posted = [f"requires l{self.count}"], []
            return
        self.requests[operation.request] = self.count
        if not receives:
            self.after = begun

    def _both(self, operation: Operation) -> Iterator[str]:
        edges = self.after
        source = self._peer(operation.comm, operation.source)
        tag = self._tag(operation.comm, operation.source_tag)
        yield from self._add(
            f"recv {operation.source_bytes}b from {source} tag {tag}", [*edges, *self.posted]
        )
        self.posted = []
        peer, tag = self._peer(operation.comm, operation.peer), self._tag(operation.comm, operation.tag)
        yield from self._add(f"send {operation.bytes}b to {peer} tag {tag}", edges)
        self.after = [f"requires l{self.count - 1}", f"requires l{self.count}"]
