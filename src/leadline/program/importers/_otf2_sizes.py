"""How much each rank moves in a collective, from what Score-P counts of it."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple


class Met(NamedTuple):
    """What a rank said of its part in a collective; `place` is the place of its operation."""

    place: int
    name: str
    sent: int
    received: int


def sizes(name: str, root: int, every: Sequence[Met]) -> list[dict[str, Any]]:
    """The fields of each member's operation that say how much it moves.

    From what Score-P counts: a rank gives a block to each member, to itself as well unless the call is in
    place; of a rooted collective each member has one block, the root all of them.
    """
    count, sent, received = len(every), [met.sent for met in every], [met.received for met in every]
    shares = count if count == 1 or all(each % count == 0 for each in sent) else count - 1
    if name == "BARRIER":
        return [{}] * count
    if name in ("ALLTOALLV", "ALLTOALLW"):
        blocks = [_spread(gives, received) for gives in sent]
        return [
            {"mode": 1, "gives": _parts(blocks[rank]), "takes": _parts(row[rank] for row in blocks)}
            for rank in range(count)
        ]
    if name in ("GATHERV", "SCATTERV", "ALLGATHERV", "REDUCE_SCATTER"):
        taken = [each // (count if all(r % count == 0 for r in received) else count - 1) for each in received]
        own = {"GATHERV": sent, "SCATTERV": received, "REDUCE_SCATTER": taken}.get(
            name, [each // shares for each in sent]
        )
        at_root = "gives" if name == "SCATTERV" else "takes"
        everywhere = name in ("ALLGATHERV", "REDUCE_SCATTER")
        return [
            {"bytes": size, "mode": 1} | ({at_root: _parts(own)} if everywhere or rank == root else {})
            for rank, size in enumerate(own)
        ]
    if name in ("BCAST", "SCATTER"):
        block = max(received)
    elif name in ("GATHER", "REDUCE"):
        block = max(sent)
    elif name in ("SCAN", "EXSCAN"):  # the last member gives a block to itself, unless it is in place
        block = sent[-1] or received[-1] // max(count - 1, 1)
    else:
        block = sent[0] // shares
    return [{"bytes": block}] * count


def _spread(gives: int, received: Sequence[int]) -> list[int]:
    """What a rank gives to each, in proportion to what these take: whole bytes, of which none is lost."""
    total = max(sum(received), 1)
    ends = [gives * end // total for end in accumulate(received, initial=0)]
    return [end - begin for begin, end in pairwise(ends)]


def _parts(sizes: Iterable[int]) -> tuple[int, ...]:
    return tuple(value for peer, size in enumerate(sizes) for value in (peer, size))
