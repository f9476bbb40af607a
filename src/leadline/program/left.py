"""Messages that nobody had received when a recorded program ended."""

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
    if not was_recorded(program):
        return left
    sent: Counter[Key] = Counter()
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
                mine = members.rank_of(rank)
                if end.peer < 0:
                    if sign < 0:
                        unknown.add((end.comm, mine, end.tag))
                    continue
                other = (end.peer + mine) % len(members.members) if relative else end.peer
                key = (end.comm, *((mine, other) if sign > 0 else (other, mine)), end.tag)
                sent[key] += sign * times
    for (comm, source, destination, tag), count in sent.items():
        if count > 0 and (comm, destination, tag) not in unknown:
            left[program.communicators[comm].members[source]] += count
    return left


def in_words(left: Counter[int]) -> str:
    """How many messages were never received, and who had sent them; a sentence without its end.

    >>> in_words(Counter({2: 1, 0: 5}))
    '6 messages were never received in the recording (5 of rank 0, 1 of rank 2)'
    """
    ranked = left.most_common()
    named = [f"{count:,} of rank {rank}" for rank, count in ranked[:_TOLD]]
    if others := ranked[_TOLD:]:
        named.append(f"{sum(count for _, count in others):,} of {len(others):,} other ranks")
    count = "1 message was" if left.total() == 1 else f"{left.total():,} messages were"
    return f"{count} never received in the recording ({', '.join(named)})"


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
        yield from zip(leaves, sequence.counts, strict=True)
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
