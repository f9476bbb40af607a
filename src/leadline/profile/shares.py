"""How the ranks' time divides, moment by moment: for pictures of few ranks and of thousands alike.

Times are binned exactly: a bin has the part of an operation that lies in it, so that all bins of a rank add
up to its time whatever their width.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.profile.analysis import Profile
from leadline.profile.waits import WAITS
from leadline.program.model import COLLECTIVES, Kind, Operation

COMPUTATION, MESSAGES, TOGETHER, FILES = "computation", "messages", "collectives", "files"
STATES = (COMPUTATION, MESSAGES, TOGETHER, FILES, *WAITS)

Seconds = npt.NDArray[np.float64]


def inside(begins: Seconds, ends: Seconds, edges: Seconds) -> Seconds:
    """How much of intervals that follow one another lies between each two edges; in the unit of the times."""
    times = np.stack([begins, ends], axis=1).ravel()
    covered = np.repeat(np.cumsum(ends - begins), 2)
    covered[::2] -= ends - begins
    if not len(times):
        return np.zeros(len(edges) - 1)
    found: Seconds = np.diff(np.interp(edges, times, covered))
    return found


def _state(leaf: Operation) -> str:
    """What an operation is beside its wait."""
    if leaf.kind == Kind.FILE:
        return FILES
    return TOGETHER if leaf.kind in COLLECTIVES else MESSAGES


def by_state(found: Profile, rank: int, edges: Seconds) -> dict[str, Seconds]:
    """A rank's time in each of STATES between each two edges, s; edges in s."""
    times = found.program.times(rank)
    assert times is not None
    sequence = found.program.sequence(rank)
    states = np.array([STATES.index(_state(leaf)) for leaf in sequence.leaves], int)[sequence.order_cached]
    waiting = found.waiting[rank]
    enter, leave = times[:, 0] * 1e-9, times[:, 1] * 1e-9
    over = enter + waiting.time * 1e-9
    shares = {
        name: inside(enter[waiting.why == why], over[waiting.why == why], edges)
        for why, name in enumerate(WAITS)
    }
    for name in (MESSAGES, TOGETHER, FILES):
        of = states == STATES.index(name)
        shares[name] = inside(over[of], leave[of], edges)
    alive = np.clip(np.minimum(edges[1:], found.end[rank] * 1e-9) - edges[:-1], 0, None)
    shares[COMPUTATION] = np.clip(alive - sum(shares.values()), 0, None)
    return {name: shares[name] for name in STATES}


@dataclass(frozen=True)
class Bar:
    """A part of an operation on a rank, s: its wait (a state of WAITS), or the rest."""

    rank: int
    begin: float
    end: float
    state: str
    operation: str
    site: str


def bars(found: Profile, ranks: Sequence[int], begin: float, end: float) -> Iterator[Bar]:
    """What ranks do in a window (s), part by part in the order of time; computation lies between."""
    for rank in ranks:
        times = found.program.times(rank)
        assert times is not None
        first, last = np.searchsorted(times[:, 1], begin * 1e9), np.searchsorted(times[:, 0], end * 1e9)
        leaves, order = found.program.leaves(rank), found.program.sequence(rank).order_cached
        waiting = found.waiting[rank]
        for index in range(int(first), int(last)):
            leaf = leaves[order[index]]
            if leaf.kind == Kind.NOP:
                continue
            enter, leave = (float(value) * 1e-9 for value in times[index])
            over = enter + float(waiting.time[index]) * 1e-9
            name, site = Kind(leaf.kind).name.lower(), found.program.sites[leaf.site]
            if over > enter:
                yield Bar(rank, enter, over, WAITS[waiting.why[index]], name, site)
            if leave > over:
                yield Bar(rank, over, leave, _state(leaf), name, site)


def worst(found: Profile, ranks: int, operations: int) -> tuple[list[int], float, float]:
    """A window worth looking at, around the longest wait: ranks and times (s), with few enough operations.

    The ranks are the one that waits, the one that it waits for, and those that wait most.
    """
    longest = [int(each.time.max(initial=0)) for each in found.waiting]
    rank = int(np.argmax(longest))
    waited = [int(each.time.sum()) for each in found.waiting]
    shown = sorted(range(found.program.ranks), key=lambda each: -waited[each])
    if longest[rank]:
        index = int(found.waiting[rank].time.argmax())
        shown = [rank, int(found.waiting[rank].rank[index]), *shown]
    chosen = sorted(list(dict.fromkeys(shown))[:ranks])
    times = [found.program.times(each) for each in chosen]
    end = float(found.end.max(initial=0))
    middle = end / 2
    if longest[rank]:
        own = found.program.times(rank)
        assert own is not None
        middle = float(own[int(found.waiting[rank].time.argmax()), 0])
    width = end
    while width > 1:
        begin = min(max(0.0, middle - width / 4), end - width)
        held = sum(
            int(np.searchsorted(each[:, 0], begin + width) - np.searchsorted(each[:, 1], begin))
            for each in times
            if each is not None
        )
        if held <= operations:
            break
        width *= 0.7
    begin = min(max(0.0, middle - width / 4), end - width)
    return chosen, begin * 1e-9, (begin + width) * 1e-9
