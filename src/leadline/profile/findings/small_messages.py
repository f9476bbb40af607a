"""Many small messages, whose cost is the call and not the data."""

import numpy as np

from leadline.profile.analysis import Profile
from leadline.program.model import Kind

SMALL = 512  # B
FEW = 1000  # messages that nobody needs to merge
MANY = 0.8  # of all messages
LEAST = 0.05  # of the ranks' time, in messages and not waiting
_CALLS = {Kind.SEND, Kind.RECV, Kind.SENDRECV, Kind.START, Kind.WAIT}


def find(found: Profile) -> tuple[float, str] | None:
    """The share of small messages, where their transfer and overhead cost something."""
    total, spent, small, messages = int(found.end.sum()), 0, 0, 0
    for rank in range(found.program.ranks):
        leaves, times = found.program.leaves(rank), found.program.times(rank)
        assert times is not None
        order = found.program.sequence(rank).order_cached
        calls = np.bincount(order, minlength=len(leaves))
        rest = np.bincount(order, times[:, 1] - times[:, 0] - found.waiting[rank].time, len(leaves))
        for leaf, operation in enumerate(leaves):
            spent += int(rest[leaf]) if operation.kind in _CALLS else 0
            if operation.kind in {Kind.SEND, Kind.SENDRECV}:
                messages += int(calls[leaf])
                small += int(calls[leaf]) if operation.bytes < SMALL else 0
    if messages < FEW or small < MANY * messages or spent < LEAST * total:
        return None
    return spent / total, (
        f"{100 * small / messages:.0f} % of {messages:,} messages are smaller than {SMALL} B, and their "
        f"transfer and overhead take {100 * spent / total:.1f} % of the ranks' time. Merge messages to "
        "the same rank."
    )
