"""GOAL text, the schedules of LogGOPSim and ATLAHS (importers/goal.py says what it is).

A rank's operations are a chain: each requires the one before, but a nonblocking send lets the next begin
after it has begun, and its wait requires it. A nonblocking receive takes no time, so it is beside the chain:
it begins when the next operation may, and after the receive before, whose message might be its own.

The format has messages and computation only, so a collective is the messages of its algorithm, and what the
rank's core copies and combines between them is computation. A nonblocking one is a chain beside that of the
rank, and its wait requires the end of it.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple, TypeAlias

from leadline.core.errors import UsageError
from leadline.core.formatting import counted
from leadline.program.left import Received, in_words, left_behind, unmet
from leadline.program.messages import Answer, Ask, Question, question, told
from leadline.program.model import (
    ANY_PEER,
    COLLECTIVES,
    Form,
    Kind,
    Operation,
    Program,
    SendMode,
    called,
)

TITLE = "GOAL"
_TAGS = 1 << 31  # below which a tag of a schedule is
_NO_MESSAGE = (
    *(Kind.NOP, Kind.FREE, Kind.CANCEL, Kind.PROBE, Kind.REGION_BEGIN, Kind.REGION_END),
    *(Kind.FILE, Kind.COMM_FREE),
)
_PER_NS = 1000  # ps
# Lines; in the end the edges of what waits for all of them, and of what may begin beside them.
_Begun: TypeAlias = Generator[str, None, tuple[list[str], list[str]]]


def lines(program: Program, flops: float, ask: Ask, say: Callable[[str], None]) -> Iterator[str]:
    """The lines of the schedule (`exporters.write`)."""
    del flops
    collectives = _Collectives(program, ask)
    tags, received = _Tags(program, collectives.there), Received(program)
    yield f"num_ranks {program.ranks}"
    empty = 0
    for rank in range(program.ranks):
        yield f"rank {rank} {{"
        writing = _Rank(program, rank, tags, collectives, received)
        yield from writing.lines()
        empty += writing.empty
        yield "}"
    for sentence in _said(program, collectives, empty):
        say(sentence)


def _said(program: Program, collectives: "_Collectives", empty: int) -> Iterator[str]:
    """What is otherwise than in the program."""
    if collectives.algorithms:
        named = [f"{operation} by {name}" for operation, name in sorted(collectives.algorithms)]
        yield f"collectives are written as messages: {', '.join(named)}"
    if collectives.hardware:
        yield (
            f"the machine has a network of its own for {', '.join(sorted(collectives.hardware))}, "
            "which a schedule cannot have: there are messages instead"
        )
    if empty:
        yield (
            f"{empty:,} messages have no bytes: LogGOPSim charges them O and G less than a message of one "
            "byte, Leadline as much"
        )
    if (Kind.SEND, SendMode.SYNCHRONOUS) in program.calls:
        yield "synchronous sends are written as standard ones"
    if (Kind.SEND, SendMode.BUFFERED) in program.calls:
        yield "buffered sends are written as standard ones"
    if any(kind == Kind.PROBE for kind, _ in program.calls):
        yield "probes are left out; the receives that follow them wait"
    if any(kind == Kind.CANCEL for kind, _ in program.calls):
        yield "cancelled operations are written as if they were not"
    if left := left_behind(program):
        yield f"{in_words(left)}: left out"
    if words := unmet(program):
        yield f"{words}: left out"
    if program.partial:
        yield f"the records of {counted(len(program.partial), 'rank')} end before the program did"


class _Tags:
    """Tags of the schedule: messages of one communicator never meet those of another, nor of a collective
    those of another.

    Those that would be too large are numbered as they come.
    """

    def __init__(self, program: Program, collectives: bool) -> None:
        self._comms = len(program.communicators)
        self._count = self._comms * (1 + collectives)
        tags = (max(leaf.tag, leaf.source_tag) for each in program.sequences for leaf in each.leaves)
        most = max(tags, default=0)
        if collectives:
            most = max(most, *(program.length(rank) for rank in range(program.ranks)))
        self._numbered = (most + 1) * self._count > _TAGS
        self._numbers: dict[tuple[int, int], int] = {}

    def __call__(self, comm: int, tag: int) -> int:
        """Raises UsageError for any tag, where that would also take other communicators' messages."""
        if tag < 0 and (self._count > 1 or self._numbered):
            raise UsageError(
                f"a receive that no message met takes any tag; {TITLE} cannot have it here, "
                "where tags also say which communicator or collective a message is of"
            )
        if self._numbered:
            return self._numbers.setdefault((comm, tag), len(self._numbers))
        return tag * self._count + comm

    def of_collective(self, comm: int, number: int) -> int:
        """The tag of the messages of so many'th collective of a communicator."""
        return self(self._comms + comm, number)


class _Call(NamedTuple):
    """What all ranks of a communicator call alike."""

    kind: Kind
    root: int
    bytes: int
    blocks: tuple[int, ...]


class _Collectives:
    """The messages of the program's collectives, and which of them meet."""

    def __init__(self, program: Program, ask: Ask) -> None:
        self.program = program
        asked: dict[Question, None] = {}
        seen: set[int] = set()
        self.there = any(kind in COLLECTIVES or kind == Kind.COMM for kind, _ in program.calls)
        for rank in range(program.ranks if self.there else 0):
            index = int(program.rank_sequence[rank])
            if index in seen:
                continue
            asks = [question(program, leaf, rank) for leaf in program.sequences[index].leaves]
            asked |= dict.fromkeys(each for each in asks if each and self._members(each.comm) > 1)
            if all(each is None or each.rank < 0 for each in asks):
                seen.add(index)
        answers = list(ask(program, list(asked)))
        self.answers = dict(zip(asked, answers, strict=True))
        self.algorithms = {
            (each.kind.name.lower(), answer.algorithm) for each, answer in self.answers.items()
        }
        self.hardware = {each.kind.name.lower() for each, answer in self.answers.items() if answer.hardware}
        self._met: dict[tuple[int, int], tuple[int, _Call]] = {}

    def _members(self, comm: int) -> int:
        return len(self.program.communicators[comm].members)

    def of(self, asked: Question | None) -> Answer | None:
        """The answer; None where there are no messages, or they are the operation's own blocks."""
        return self.answers.get(asked) if asked else None

    def meet(self, rank: int, comm: int, number: int, call: _Call) -> None:
        """A rank comes to a collective. Raises UsageError where the first to come calls another one."""
        other, first = self._met.setdefault((comm, number), (rank, call))
        if first != call:
            how = "" if first.kind != call.kind else " with another size or root"
            raise UsageError(
                f"rank {rank} calls {called(call.kind)}{how} as collective {number + 1:,} of communicator "
                f"{comm}, where rank {other} calls {called(first.kind)}"
            )


class _Rank:
    """One rank's graph while it is written."""

    def __init__(
        self, program: Program, rank: int, tags: _Tags, collectives: _Collectives, received: Received
    ) -> None:
        self.program, self.rank, self._tag, self._collectives = program, rank, tags, collectives
        self._received = received
        self.count = 0
        self.empty = 0  # messages without bytes
        self.after: list[str] = []  # edges that the next operation has
        self.posted: list[str] = []  # and if it is a receive, these too
        self.requests: dict[int, list[str]] = {}  # edges of what waits for them
        self.persistent: dict[int, Operation] = {}
        self.numbers: Counter[int] = Counter()  # collectives of each communicator so far

    def lines(self) -> Iterator[str]:
        before = self.program.before(self.rank)
        for computation, (_, operation) in zip(before, self.program.operations(self.rank), strict=True):
            if computation > 0:
                yield from self._chained(f"calc {round(float(computation) * 1e9)}")
            yield from self._operation(operation)
        if self.after and any(self.after):
            yield from self._chained("calc 0")

    def _operation(self, operation: Operation) -> Iterator[str]:
        kind = operation.kind
        if kind not in (Kind.COMM, Kind.COMM_FREE):
            self._check_one_group(operation.comm)
        if kind in (Kind.SEND, Kind.RECV) or kind in COLLECTIVES:
            if operation.form == Form.PERSISTENT:
                self.persistent[operation.request] = operation
            else:
                yield from self._begin(operation)
        elif kind == Kind.SENDRECV:
            yield from self._both(operation)
        elif kind == Kind.START:
            for slot in operation.gives:
                yield from self._begin(self.persistent[slot]._replace(form=int(Form.NONBLOCKING)))
        elif kind == Kind.WAIT:
            ended = (edge for slot in operation.gives for edge in self.requests.pop(slot, ()))
            # A chain goes on from what was waited for.
            self.after = list(dict.fromkeys([*self.after, *ended]))
        elif kind == Kind.COMM:
            yield from self._collective(operation)
        elif kind not in _NO_MESSAGE:
            what = called(Kind(kind), Form(operation.form), bool(operation.mode))
            raise UsageError(f"{TITLE} has messages and computation only, but rank {self.rank} calls {what}")

    def _check_one_group(self, comm: int) -> None:
        if self.program.communicators[comm].remote:
            raise UsageError(
                f"rank {self.rank} speaks through a communicator between two groups (an intercommunicator), "
                f"which {TITLE} cannot have"
            )

    def _begin(self, operation: Operation) -> Iterator[str]:
        yield from (self._collective if operation.kind in COLLECTIVES else self._message)(operation)

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

    def _send(self, size: int, peer: int, tag: int, edges: list[str]) -> Iterator[str]:
        self.empty += size == 0
        return self._add(f"send {size}b to {peer} tag {tag}", edges)

    def _receive(self, size: int, peer: int, tag: int, edges: list[str]) -> Iterator[str]:
        return self._add(f"recv {size}b from {peer} tag {tag}", edges)

    def _message(self, operation: Operation) -> Iterator[str]:
        if operation.kind == Kind.SEND and not self._received.next(self.rank, operation, self.program):
            return
        peer, tag = self._peer(operation.comm, operation.peer), self._tag(operation.comm, operation.tag)
        receives = operation.kind == Kind.RECV
        if receives:
            yield from self._receive(operation.bytes, peer, tag, [*self.after, *self.posted])
        else:
            yield from self._send(operation.bytes, peer, tag, self.after)
        begun, ended = [f"irequires l{self.count}"], [f"requires l{self.count}"]
        if receives:
            self.posted = begun
        if operation.form == Form.BLOCKING:
            self.after, self.posted = ended, []
            return
        self.requests[operation.request] = ended
        if not receives:
            self.after = begun

    def _both(self, operation: Operation) -> Iterator[str]:
        edges = self.after
        source = self._peer(operation.comm, operation.source)
        tag = self._tag(operation.comm, operation.source_tag)
        yield from self._receive(operation.source_bytes, source, tag, [*edges, *self.posted])
        self.posted = []
        if not self._received.next(self.rank, operation, self.program):
            self.after = [f"requires l{self.count}"]
            return
        peer, tag = self._peer(operation.comm, operation.peer), self._tag(operation.comm, operation.tag)
        yield from self._send(operation.bytes, peer, tag, edges)
        self.after = [f"requires l{self.count - 1}", f"requires l{self.count}"]

    # --------------------------------------------------------------------------------------- collectives

    def _collective(self, operation: Operation) -> Iterator[str]:
        """A collective, or what ranks tell each other where a communicator is made."""
        kind = Kind(operation.kind)
        comm = told(operation) if kind == Kind.COMM else operation.comm
        if comm < 0:
            return
        self._check_one_group(comm)
        number, asked = self.numbers[comm], question(self.program, operation, self.rank)
        self.numbers[comm] += 1
        # Of blocks that a rank alone knows nothing is the same for all.
        call = _Call(kind, *(asked[2:5] if asked and asked.rank < 0 else (asked.root if asked else 0, 0, ())))
        self._collectives.meet(self.rank, comm, number, call)
        tag = self._tag.of_collective(comm, number)
        ended, begun = yield from self._steps(asked, tag) if asked else self._blocks(operation, tag)
        if operation.form == Form.BLOCKING:
            self.after, self.posted = ended, []
        else:
            self.after, self.requests[operation.request] = begun, ended

    def _steps(self, asked: Question, tag: int) -> _Begun:
        """An algorithm's messages, step by step. What follows a nonblocking call begins when the first step's
        message has begun."""
        comm = self.program.communicators[asked.comm]
        chain = begun = self.after
        if not (answer := self._collectives.of(asked)):
            return chain, begun
        first = True
        place = 0 if asked.rank >= 0 else comm.rank_of(self.rank)
        for to, source, sends, takes, works in answer.moves[place].tolist():
            ended = []
            if source >= 0:
                yield from self._receive(takes, comm.members[source], tag, chain)
                ended.append(f"requires l{self.count}")
            if to >= 0:
                yield from self._send(sends, comm.members[to], tag, chain)
                ended.append(f"requires l{self.count}")
                begun = [f"irequires l{self.count}"] if first else begun
            first = first and not ended
            chain = ended or chain
            if (time := round(works / _PER_NS)) > 0:
                yield from self._add(f"calc {time}", chain)
                chain = [f"requires l{self.count}"]
        return chain, begun

    def _blocks(self, operation: Operation, tag: int) -> _Begun:
        """Blocks to and from others, each a message, all begun in the call."""
        comm, posted, begun = operation.comm, self.after, self.after
        every = operation.kind >= Kind.NEIGHBOR_ALLGATHER  # also those without bytes
        ended = []
        for peer, size in zip(operation.takes[::2], operation.takes[1::2], strict=True):
            if size or every:
                yield from self._receive(size, self._peer(comm, peer), tag, posted)
                ended.append(f"requires l{self.count}")
                posted = [*self.after, f"irequires l{self.count}"]
        for peer, size in zip(operation.gives[::2], operation.gives[1::2], strict=True):
            if size or every:
                yield from self._send(size, self._peer(comm, peer), tag, begun)
                ended.append(f"requires l{self.count}")
                begun = [f"irequires l{self.count}"]
        return ended or self.after, begun
