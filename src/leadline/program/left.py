"""Messages that nobody had received when a recorded program ended, and receives that met no message."""

from collections import Counter
from collections.abc import Iterator

from leadline.program.model import Form, Kind, Operation, Program

Key = tuple[int, int, int, int]  # communicator, source, destination, tag; ranks are the communicator's
_TOLD = 3  # ranks that a sentence names
_OTF2 = "otf2"  # a form that is another tool's record


def was_recorded(program: Program) -> bool:
    """Whether it is of what a program really did: recorded, or imported from another tool's record of it."""
    return "mpi" in program.recorded or program.recorded.get("imported") == _OTF2


def left_behind(program: Program) -> Counter[int]:
    """How many messages of each world rank were never received, of a recorded program; else none.

    What a receive of any source might have taken, which does not say what it met, is not counted: so many a
    replay leaves behind as well (native/program/left.cpp), and more is an error there.
    """
    left: Counter[int] = Counter()
    for (comm, source, *_), (_, count) in _messages_left(program).items():
        left[program.communicators[comm].members[source]] += count
    return left


class Received:
    """Which of a program's messages are received, asked of each in the order in which it is sent."""

    def __init__(self, program: Program) -> None:
        self._left = {key: received for key, (received, _) in _messages_left(program).items()}

    def next(self, rank: int, sent: Operation, program: Program) -> bool:
        """Whether the next message like this of a rank is received: the first ones are."""
        if not self._left:
            return True
        key = sent.comm, program.communicators[sent.comm].rank_of(rank), sent.peer, sent.tag
        if key not in self._left:
            return True
        self._left[key] -= 1
        return self._left[key] >= 0


def _messages_left(program: Program) -> dict[Key, tuple[int, int]]:
    """Of a recorded program: how many messages with each key were received and how many not, where some were
    not.
    """
    if not was_recorded(program):
        return {}
    sent: Counter[Key] = Counter()
    taken: Counter[Key] = Counter()
    unknown: set[tuple[int, int, int]] = set()
    known: dict[int, tuple[Counter[Operation], Counter[Operation]]] = {}
    for rank in range(program.ranks):
        index = int(program.rank_sequence[rank])
        if index not in known:
            known[index] = _ends(program, index)
        relative = program.sequences[index].relative
        for ends, sign in zip(known[index], (1, -1), strict=True):
            for end, times in ends.items():
                members = program.communicators[end.comm]
                if members.remote:  # whose ranks have another number for it
                    continue
                mine = members.rank_of(rank)
                if end.peer < 0:
                    if sign < 0:
                        unknown.add((end.comm, mine, end.tag))
                    continue
                other = (end.peer + mine) % len(members.members) if relative else end.peer
                key = (end.comm, *((mine, other) if sign > 0 else (other, mine)), end.tag)
                (sent if sign > 0 else taken)[key] += times
    return {
        key: (taken[key], count - taken[key])
        for key, count in sent.items()
        if count > taken[key] and (key[0], key[2], key[3]) not in unknown
    }


def in_words(left: Counter[int]) -> str:
    """How many messages were never received, and who had sent them; a sentence without its end.

    >>> in_words(Counter({2: 1, 0: 5}))
    '6 messages were never received in the recording (5 of rank 0, 1 of rank 2)'
    """
    count = "1 message was" if left.total() == 1 else f"{left.total():,} messages were"
    return f"{count} never received in the recording ({_whose(left)})"


def unmet(program: Program) -> str | None:
    """How many receives met no message in the recording, and whose they were, as a sentence without its end;
    None where there are none. The program does not have them.
    """
    counts = Counter({int(rank): int(count) for rank, count in program.recorded.get("unmet", ())})
    if not counts:
        return None
    many = "1 receive was" if counts.total() == 1 else f"{counts.total():,} receives were"
    return f"{many} met by no message in the recording ({_whose(counts)})"


def _whose(counts: Counter[int]) -> str:
    ranked = counts.most_common()
    told = _TOLD + (len(ranked) == _TOLD + 1)  # one more is as short as "1 other rank"
    named = [f"{count:,} of rank {rank}" for rank, count in ranked[:told]]
    if others := ranked[told:]:
        named.append(f"{sum(count for _, count in others):,} of {len(others):,} other ranks")
    return ", ".join(named)


def _ends(program: Program, index: int) -> tuple[Counter[Operation], Counter[Operation]]:
    """What a sequence sends and receives: communicator, peer and tag, and how often."""
    sends: Counter[Operation] = Counter()
    receives: Counter[Operation] = Counter()
    for operation, times in _messages(program, index):
        kind = operation.kind
        if kind in (Kind.SEND, Kind.SENDRECV):
            sends[Operation(0, operation.comm, operation.peer, tag=operation.tag)] += times
        if kind == Kind.RECV:
            receives[Operation(0, operation.comm, operation.peer, tag=operation.tag)] += times
        elif kind == Kind.SENDRECV:
            receives[Operation(0, operation.comm, operation.source, tag=operation.source_tag)] += times
    return sends, receives


def _messages(program: Program, index: int) -> Iterator[tuple[Operation, int]]:
    """Each message with how often it is executed; persistent ones where they are started."""
    sequence = program.sequences[index]
    leaves = sequence.leaves
    if not any(leaf.kind == Kind.START for leaf in leaves):
        for leaf, count in zip(leaves, sequence.counts, strict=True):
            if leaf.form != Form.PERSISTENT:
                yield leaf, count
        return
    ready: dict[int, Operation] = {}
    for which in sequence.order().tolist():
        leaf = leaves[which]
        if leaf.kind == Kind.START:
            yield from ((ready[slot], 1) for slot in leaf.gives)
        elif leaf.form == Form.PERSISTENT:
            ready[leaf.request] = leaf
        else:
            yield leaf, 1
