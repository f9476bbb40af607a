"""Whom a rank waits for in what all ranks of a communicator do.

It waits for the last of those on whom it depends, who came before it left: all of a broadcast for the root,
those of a scan for the ranks below, neighbours for each other, those of a v-variant for whom they have blocks
with. A library may deal with others besides; that is seen where a rank left soon after such a one had come.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from leadline.profile.waits import IMBALANCE, STALL, WAITS, Nanoseconds, Waiting, wait
from leadline.program.events import End, among
from leadline.program.model import COLLECTIVES, Communicator, Kind, Operation, Program

MANY = 256  # numbers of a list of blocks; longer ones are not looked at
SOON = 8  # a wait this many times as long as what follows it was for who came then
_FROM_ROOT = {Kind.BCAST, Kind.SCATTER}
_TO_ROOT = {Kind.REDUCE, Kind.GATHER}
_ROOTED = _FROM_ROOT | _TO_ROOT
_UPWARDS = {Kind.SCAN, Kind.EXSCAN}
_NEIGHBOURS = {Kind.NEIGHBOR_ALLGATHER, Kind.NEIGHBOR_ALLTOALL}

_OF_BLOCKS = _NEIGHBOURS | {Kind.GATHER, Kind.SCATTER, Kind.ALLGATHER, Kind.ALLTOALL, Kind.REDUCE_SCATTER}


class Depends(NamedTuple):
    """Who depends on whom."""

    each: End
    cause: End
    must: bool  # it cannot leave before that one comes
    loose: bool  # a library may have it wait for others, too


class Meeting:
    """What all ranks of a communicator come to, each at its time, once."""

    def __init__(
        self, program: Program, times: Sequence[Nanoseconds], operation: Operation, ends: Sequence[End]
    ) -> None:
        self.program, self.times, self.operation, self.ends = program, times, operation, ends
        self.among: Communicator = program.communicators[among(operation)]
        self.by_rank: Mapping[int, End] = {end.rank: end for end in ends}
        self.order = sorted(ends, key=self.came)

    def came(self, end: End) -> int:
        """When a rank came, ns."""
        return int(self.times[end.rank][end.posted, 0])

    def left(self, end: End) -> int:
        """When it left, ns."""
        return int(self.times[end.rank][end.over, 1])

    def last(self, order: Sequence[End], moment: int) -> End | None:
        """The last of some, in the order of their coming, that had come by a moment."""
        count = bisect_right(order, moment, key=self.came)
        return order[count - 1] if count else None

    def partners(self, end: End) -> list[End] | None:
        """With whom a rank has blocks, in the order of their coming; None where that is with all."""
        if self.operation.kind not in _OF_BLOCKS:
            return None
        leaf = self.program.leaves(end.rank)[int(self.program.sequence(end.rank).order_cached[end.posted])]
        listed = len(leaf.gives) + len(leaf.takes)
        if leaf.kind != self.operation.kind or not 0 < listed <= MANY:
            return None
        peers = self.among.peers
        wanted = {
            peers[peer]
            for parts in (leaf.gives, leaf.takes)
            for peer, size in zip(parts[::2], parts[1::2], strict=True)
            if size > 0 or leaf.kind in _NEIGHBOURS
        }
        found = [self.by_rank[rank] for rank in wanted if rank in self.by_rank and rank != end.rank]
        return sorted(found, key=self.came)


def imbalance(
    program: Program,
    times: Sequence[Nanoseconds],
    waiting: Sequence[Waiting],
    operation: Operation,
    ends: Sequence[End],
) -> None:
    """Note the waits of ranks in what all do for those without whom it cannot be done.

    Of a broadcast or scatter all wait for the root, of a reduction or gather the root for all. The other way
    a message may be sent before anybody takes it: there a rank waited that had not left when the other came.
    """
    meeting = Meeting(program, times, operation, ends)
    for each, cause, must, loose in _depend(meeting):
        came = meeting.came(cause)
        if must or meeting.left(each) >= came:
            wait(times, waiting, (each.rank, each.over), WAITS.index(IMBALANCE), (cause.rank, cause.posted))
        if loose and not meeting.among.remote:
            since = meeting.came(each)
            if must and operation.kind not in _TO_ROOT:
                since = max(since, came)
            _behind(meeting, waiting, each, since)


def _depend(meeting: Meeting) -> Iterator[Depends]:
    """Who depends on whom: of several on the last."""
    sides: list[Sequence[End]] = [meeting.order, meeting.order]
    remote = bool(meeting.among.remote)
    if remote and meeting.operation.kind in COLLECTIVES:  # each group deals with the other
        here = set(meeting.among.members)
        sides = [[end for end in meeting.order if (end.rank in here) == side] for side in (True, False)]
    if meeting.operation.kind in _ROOTED:
        yield from _on_root(meeting, sides)
    elif meeting.operation.kind in _UPWARDS and not remote:
        yield from _on_those_below(meeting)
    else:
        for side, other in zip(sides[: 1 + remote], sides[::-1], strict=False):
            yield from _on_last(meeting, side, other)
        if remote and meeting.operation.kind == Kind.BARRIER:  # libraries leave it together
            latest = meeting.order[-1]
            yield from (Depends(each, latest, False, False) for each in meeting.ends if each is not latest)


def _on_last(meeting: Meeting, side: Sequence[End], other: Sequence[End]) -> Iterator[Depends]:
    """Those of a side on the last of another, or of those with whom they have blocks."""
    for each in side:
        partners = meeting.partners(each)
        cause = meeting.last(other if partners is None else partners, meeting.left(each) + STALL)
        if partners is not None and meeting.operation.kind not in _NEIGHBOURS:
            yield Depends(each, cause or each, True, True)
        elif cause is not None and cause is not each:
            yield Depends(each, cause, True, False)


def _on_those_below(meeting: Meeting) -> Iterator[Depends]:
    """Each on the last of the ranks below it; the lowest on itself."""
    last = meeting.by_rank[meeting.among.members[0]]
    for rank in meeting.among.members:
        each = meeting.by_rank[rank]
        yield Depends(each, last, True, True)
        last = max(last, each, key=meeting.came)


def _on_root(meeting: Meeting, sides: Sequence[Sequence[End]]) -> Iterator[Depends]:
    """All on the root, or the root on the last of those that give it something."""
    peers = meeting.among.peers
    if not 0 <= meeting.operation.peer < len(peers):
        return  # nobody says who it is
    root = meeting.by_rank.get(peers[meeting.operation.peer])
    if root is None or root not in sides[1]:
        return
    from_root = meeting.operation.kind in _FROM_ROOT
    yield from (Depends(each, root, from_root, True) for each in sides[0] if each is not root)
    partners = meeting.partners(root)
    last = meeting.last(sides[0] if partners is None else partners, meeting.left(root) + STALL)
    if last is not None and last is not root:
        yield Depends(root, last, not from_root, True)


def _behind(meeting: Meeting, waiting: Sequence[Waiting], each: End, since: int) -> None:
    """The wait of a rank for one that hands on to it, or takes from it, where a library has a tree.

    Which one that is, is not known: it is the last that came before the rank left, if that was soon after. An
    operation has one cause: the one it depends on, where the rank waited longer for that, until `since`.
    """
    left = meeting.left(each)
    cause = meeting.last(meeting.order, left)
    if left - since < STALL or cause is None or cause is each:
        return
    waited = meeting.came(cause) - since
    if waited > max(SOON * (left - meeting.came(cause)), since - meeting.came(each)):
        wait(
            meeting.times,
            waiting,
            (each.rank, each.over),
            WAITS.index(IMBALANCE),
            (cause.rank, cause.posted),
        )
