"""What receives met, which is known when they are over."""

from collections.abc import Sequence

from leadline.program.model import FREE_SOURCE, NOBODY, Kind, Operation
from leadline.record.handles import Slot

ANY, CANCELLED = -1, -5  # peers as the recorder writes them
SEVERAL = "a persistent receive of any tag that met several"


def met_by(posted: Operation, met: Sequence[int]) -> Operation:
    """A receive with the source, tag and size of the message that it took."""
    source, tag, size = met
    return posted._replace(
        peer=source if source >= 0 else posted.peer,
        tag=tag if tag >= 0 else posted.tag,
        bytes=size if size >= 0 else posted.bytes,
    )


def exchange(send: Operation, receive: Operation) -> Operation:
    """Both as one operation, or the one that has a partner."""
    if send.peer == NOBODY and receive.peer == NOBODY:
        return Operation(int(Kind.NOP))
    if send.peer == NOBODY:
        return receive
    if receive.peer == NOBODY:
        return send
    return send._replace(
        kind=int(Kind.SENDRECV),
        source=receive.peer,
        source_bytes=receive.bytes,
        source_tag=receive.tag,
        free=receive.free,
    )


def receive_is_over(slot: Slot, met: Sequence[int], operations: list[Operation], outside: set[str]) -> bool:
    """What a receive met becomes its operation's; whether it met anything."""
    assert slot.receive is not None
    if slot.both:
        return True  # MPICH 4.0 fills in no status
    posted = operations[slot.receive]
    if met[0] == CANCELLED:
        return False
    found = met_by(posted, met)
    slot.turns += 1
    if slot.persistent and posted.free & FREE_SOURCE:
        slot.met.append((len(operations), found.peer, found.tag))
    if slot.turns > 1:  # a persistent one has the largest size, and any source where there were several
        if posted.tag != found.tag:
            outside.add(SEVERAL)
        peer = posted.peer if posted.peer == found.peer else ANY
        if slot.persistent and peer == ANY:
            _meets_several(slot, operations)
        found = found._replace(peer=peer, bytes=max(posted.bytes, found.bytes))
    operations[slot.receive] = found
    return True


def without(slot: Slot, operations: list[Operation]) -> None:
    """Takes a receive that met nothing out of the operations: nobody waits for it."""
    nothing = Operation(int(Kind.NOP))
    if slot.persistent:
        begun = operations[slot.started]
        numbers = tuple(number for number in begun.gives if number != slot.number)
        operations[slot.started] = begun._replace(gives=numbers) if numbers else nothing
        return
    assert slot.receive is not None
    operations[slot.receive] = nothing
    if slot.given_back >= 0:
        operations[slot.given_back] = nothing


def _meets_several(slot: Slot, operations: list[Operation]) -> None:
    """Whom it met is said where it was over, from its first message on."""
    if slot.several:
        return
    slot.several = True
    for index, *met in slot.met[:-1]:
        over = operations[index]
        operations[index] = over._replace(takes=(*over.takes, slot.number, *met))
