"""Receives that met no message: begun, and cancelled, given back or still open when the program ended.

A request that is completed says whether its receive met a message. Of one that is given back before
(MPI_Request_free), or that nobody completes, what others sent says it: messages that no other receive took.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from leadline.program.model import ANY_PEER, Communicator, Form, Kind, Operation
from leadline.record.handles import Slot
from leadline.record.ranks import OF_A_FILE, Rank
from leadline.record.spills import Entry

Key = tuple[int, int, int, int]  # communicator, destination, source, tag; ranks are the communicator's


def close(rank: Rank) -> None:
    """Messages that nobody waited for when the record ended are given back there, so that nobody needs to.

    Collectives are waited for there: they may not be given back. If a rank did not come to its end others may
    not have begun them.
    """
    end = rank.times[-1] if rank.times else 0
    for handle, slots in list(rank.requests.items()):
        for slot in list(slots):
            if slot is None or slot.number == OF_A_FILE or slot.collective or slot.both or not slot.active:
                slots.rotate(-1)
            else:
                rank.release(Entry(int(Kind.FREE), 0, 0, 0, end, end, 0, [handle]))
    if not rank.ended:
        return
    under_way = [
        slot.number
        for slots in rank.requests.values()
        for slot in slots
        if slot is not None and slot.collective and slot.active
    ]
    if under_way:
        last = Entry(int(Kind.WAIT), 0, 0, 0, end, end, 0, [])
        rank.note(last, Operation(int(Kind.WAIT), mode=1, gives=tuple(sorted(under_way))))


def leave_out(read: Sequence[Rank], communicators: Sequence[Communicator]) -> list[list[int]]:
    """Takes receives that met no message out of the ranks' operations; rank and number of each that had some.

    Nothing waits for such a receive, so the program is the same without it.
    """
    begun = [[slot for slot in rank.given_back if _is_known(rank, slot, communicators)] for rank in read]
    if any(begun):
        messages = Counter[Key]()
        for rank, slots in zip(read, begun, strict=True):
            _count(rank, {_begin(slot) for slot in slots}, communicators, messages)
        left = defaultdict[tuple[int, int], list[Key]](list)  # keys by communicator and destination
        for key in sorted(+messages):
            left[key[:2]].append(key)
        for rank, slots in zip(read, begun, strict=True):
            for slot in sorted(slots, key=_begin):
                assert slot.receive is not None
                posted = rank.operations[slot.receive]
                mine = communicators[posted.comm].rank_of(rank.spill.rank)
                _decide(rank, slot, left[posted.comm, mine], messages)
    return [[number, rank.unmet] for number, rank in enumerate(read) if rank.unmet]


def _is_known(rank: Rank, slot: Slot, communicators: Sequence[Communicator]) -> bool:
    """Whether the ranks of a receive's communicator are those that send in it: it joins no two groups."""
    assert slot.receive is not None
    return not communicators[rank.operations[slot.receive].comm].remote


def _begin(slot: Slot) -> tuple[int, int]:
    """The operation with which an open receive began, and the number of its request."""
    assert slot.receive is not None
    return (slot.started if slot.persistent else slot.receive), slot.number


def _count(
    rank: Rank,
    begun: set[tuple[int, int]],
    communicators: Sequence[Communicator],
    messages: Counter[Key],
) -> None:
    """Adds what a rank sent, and subtracts what it received by others than the open receives."""
    own = rank.spill.rank
    ready: dict[int, Operation] = {}

    def add(by: int, comm: int, peer: int, tag: int) -> None:
        if peer >= 0 and (mine := communicators[comm].places.get(own)) is not None:
            messages[(comm, peer, mine, tag) if by > 0 else (comm, mine, peer, tag)] += by

    def message(each: Operation) -> None:
        add(-1 if each.kind == Kind.RECV else 1, each.comm, each.peer, each.tag)
        if each.kind == Kind.SENDRECV:
            add(-1, each.comm, each.source, each.source_tag)

    for index, each in enumerate(rank.operations):
        if each.kind in (Kind.SEND, Kind.RECV, Kind.SENDRECV):
            if each.form == Form.PERSISTENT:
                ready[each.request] = each
            elif (index, each.request) not in begun:
                message(each)
        elif each.kind == Kind.START:
            for slot in each.gives:
                if slot in ready and (index, slot) not in begun:
                    message(ready[slot])
        elif each.kind == Kind.WAIT:
            for slot, source, tag in zip(*(each.takes[part::3] for part in range(3)), strict=True):
                add(-1, ready[slot].comm, source, tag)


def _decide(rank: Rank, slot: Slot, left: Sequence[Key], messages: Counter[Key]) -> None:
    """An open receive takes a message that is left for it, or goes."""
    assert slot.receive is not None
    posted = rank.operations[slot.receive]
    for key in left:
        _, _, source, tag = key
        if messages[key] > 0 and posted.peer in (ANY_PEER, source) and posted.tag in (-1, tag):
            messages[key] -= 1
            if not slot.persistent:
                rank.operations[slot.receive] = posted._replace(peer=source, tag=tag)
            return
    rank.leave_out_receive(slot)
