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


class Doubt(NamedTuple):
    """A collective that is in place or not, which its counts leave open: the block taken, and the other."""

    taken: int
    in_place: bool
    else_: int


def sizes(name: str, root: int, every: Sequence[Met]) -> tuple[list[dict[str, Any]], Doubt | None]:
    """The fields of each member's operation that say how much it moves, and what is doubtful of them.

    From what Score-P counts: a rank gives a block to each member, to itself as well unless the call is in
    place; of a rooted collective each member has one block, the root all of them.
    """
    count, sent, received = len(every), [met.sent for met in every], [met.received for met in every]
    if name == "BARRIER":
        return [{}] * count, None
    if name in ("ALLTOALLV", "ALLTOALLW"):
        blocks = [_spread(gives, received) for gives in sent]
        return [
            {"mode": 1, "gives": _parts(blocks[rank]), "takes": _parts(row[rank] for row in blocks)}
            for rank in range(count)
        ], None
    if name in ("GATHERV", "SCATTERV", "ALLGATHERV", "REDUCE_SCATTER"):
        everywhere = name in ("ALLGATHERV", "REDUCE_SCATTER")
        own, doubt = _own(name, sent, received) if everywhere else (sent, None)
        if name == "SCATTERV":
            own = received
        at_root = "gives" if name == "SCATTERV" else "takes"
        return [
            {"bytes": size, "mode": 1} | ({at_root: _parts(own)} if everywhere or rank == root else {})
            for rank, size in enumerate(own)
        ], doubt
    doubt = None
    if name in ("BCAST", "SCATTER"):
        block = max(received)
    elif name in ("GATHER", "REDUCE"):
        block = max(sent)
    elif name in ("SCAN", "EXSCAN"):  # the last member gives a block to itself, unless it is in place
        block = sent[-1] or received[-1] // max(count - 1, 1)
    else:
        own, doubt = _own(name, sent, received)
        block = max(own)
    return [{"bytes": block}] * count, doubt


def _own(name: str, sent: list[int], received: list[int]) -> tuple[list[int], Doubt | None]:
    """Each member's own block, of which it has counted one for each member, or for each other in place."""
    counted, met = (received, sent) if name == "REDUCE_SCATTER" else (sent, received)
    count = len(counted)
    if name not in ("ALLGATHERV", "REDUCE_SCATTER") and min(counted) * count == max(counted) * (count - 1):
        return [
            max(counted) // count
        ] * count, None  # blocks are alike: only some of the members are in place
    fitting = [each for each in (count, count - 1) if _fits(name, each, counted, met)]
    if not fitting:
        fitting = [count if count == 1 or all(each % count == 0 for each in counted) else count - 1]
    chosen, other = fitting[0], fitting[-1]
    # Most of what is sent has elements of 4 or 8 B.
    if _of_elements(other, counted) and not _of_elements(chosen, counted):
        chosen, other = other, chosen
    blocks = [each // chosen for each in counted]
    if chosen == other or not any(counted):
        return blocks, None
    return blocks, Doubt(max(blocks), chosen < count, max(counted) // other)


def _fits(name: str, parts: int, counted: list[int], met: list[int]) -> bool:
    """Whether each member has counted its own block so many times."""
    if parts == 0 or any(each % parts for each in counted):
        return False
    own = [each // parts for each in counted]
    if name not in ("ALLGATHERV", "REDUCE_SCATTER"):
        return True
    # The other count is of the blocks of all; in place it lacks its own, or an element of a reduction.
    if parts == len(counted):
        return all(each == sum(own) for each in met)
    if name == "REDUCE_SCATTER":
        element = sum(own) - max(met)
        return element > 0 and min(met) == max(met) and not any(each % element for each in own)
    return all(each == sum(own) - mine for each, mine in zip(met, own, strict=True))


def _of_elements(parts: int, counted: list[int]) -> bool:
    return all(each % (4 * parts) == 0 for each in counted)


def _spread(gives: int, received: Sequence[int]) -> list[int]:
    """What a rank gives to each, in proportion to what these take: whole bytes, of which none is lost."""
    total = max(sum(received), 1)
    ends = [gives * end // total for end in accumulate(received, initial=0)]
    return [end - begin for begin, end in pairwise(ends)]


def _parts(sizes: Iterable[int]) -> tuple[int, ...]:
    return tuple(value for peer, size in enumerate(sizes) for value in (peer, size))
