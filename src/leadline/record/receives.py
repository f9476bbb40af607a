"""What receives met, which is known when they are over."""

from collections.abc import Sequence

from leadline.program.model import FREE_SOURCE, Kind, Operation
from leadline.record.handles import Slot

ANY, CANCELLED = -1, -5  # peers as the recorder writes them
LATER = "the cancel of a persistent receive"
SEVERAL = "a persistent receive of any tag that met several"


def met_by(posted: Operation, met: Sequence[int]) -> Operation:
    """A receive with the source, tag and size of the message that it took."""
    source, tag, size = met
    return posted._replace(
        peer=source if source >= 0 else posted.peer,
        tag=tag if tag >= 0 else posted.tag,
        bytes=size if size >= 0 else posted.bytes,
    )


def receive_is_over(slot: Slot, met: Sequence[int], operations: list[Operation], outside: set[str]) -> bool:
    """What a receive met becomes its operation's; whether it met anything."""
    assert slot.receive is not None
    if slot.both:
        return True  # MPICH 4.0 fills in no status
    posted = operations[slot.receive]
    if met[0] == CANCELLED and slot.persistent:
        outside.add(LATER)
        return True
    if met[0] == CANCELLED:
        operations[slot.receive] = Operation(int(Kind.NOP))
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


def _meets_several(slot: Slot, operations: list[Operation]) -> None:
    """Whom it met is said where it was over, from its first message on."""
    if slot.several:
        return
    slot.several = True
    for index, *met in slot.met[:-1]:
        over = operations[index]
        operations[index] = over._replace(takes=(*over.takes, slot.number, *met))
