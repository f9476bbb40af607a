"""Where the time of each rank goes, and who makes it wait.

A rank's time is computation, and time in MPI. Of that it waits for a late sender until the message is sent,
for a late receiver until the receive is asked for, in a collective until those have come without whom it
cannot be done; and where both ends have asked for a message, until the other rank is in MPI again, where a
library moves messages only inside calls. The rest is transfer and overhead. Times are whole nanoseconds, so
that the parts of a rank add up to its end exactly. An operation has one cause, that of its longest wait.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from leadline.core.errors import UsageError
from leadline.profile.collectives import imbalance
from leadline.profile.waits import PROGRESS, STALL, WAITS, Nanoseconds, Waiting, wait
from leadline.program.events import Message, Place, meetings, messages
from leadline.program.model import ANY_PEER, WAITED, Form, Kind, Operation, Program

WORTH = 0.02  # of the ranks' time, from which on a wait is a finding
_BUSY = 0.5  # of the waiting for a rank: by so much longer it computes where that explains it
# Whose waits are not looked at, beside WAITED: locks, epochs of some ranks, and data that may move in them.
_UNSEEN = {kind for kind in Kind if Kind.PUT <= kind <= Kind.WAIT_EPOCH} - {Kind.FENCE}


def _is_unseen(leaf: Operation) -> bool:
    return leaf.kind in _UNSEEN or (leaf.kind == Kind.NOP and leaf.mode == WAITED)


def _is_a_name(leaf: Operation) -> bool:
    return leaf.kind == Kind.NOP and leaf.mode != WAITED


@dataclass
class Profile:
    """What `profile` finds. Arrays per rank, ns."""

    program: Program
    end: Nanoseconds
    computing: Nanoseconds
    waiting: list[Waiting]
    waits: npt.NDArray[np.int64]  # rank by WAITS
    files: Nanoseconds  # in calls of MPI's files
    unseen: Nanoseconds  # of the time in MPI: in _UNSEEN, and in waits for communicators that are copied
    by_name_only: Nanoseconds  # in calls of which no more than the name is recorded
    of_any: bool = False  # whether there are receives of which it is not known whose message they met
    path: list[tuple[int, int, int, int]] = field(default_factory=list)  # rank, index, inside, before

    @property
    def communication(self) -> Nanoseconds:
        """Time in MPI but for its files."""
        return self.end - self.computing - self.files

    @property
    def transfer(self) -> Nanoseconds:
        """Time in MPI that is no waiting."""
        waited: Nanoseconds = self.waits.sum(axis=1)
        return self.communication - waited

    def caused(self, why: int | None = None) -> npt.NDArray[np.int64]:
        """How long others wait for each rank, directly; for one place of WAITS, or for any."""
        found = np.zeros(self.program.ranks, np.int64)
        for each in self.waiting:
            of = each.time > 0 if why is None else each.why == why
            np.add.at(found, each.rank[of], each.time[of])
        return found

    def computes_longer(self, rank: int) -> int:
        """How much longer a rank computes than the others, by their median, ns."""
        others = np.delete(self.computing, rank)
        return int(self.computing[rank] - np.median(others)) if others.size else 0

    def is_busy(self, rank: int, waited: int) -> bool:
        """Whether a rank for which others wait so long, ns, computes so much longer that this explains it."""
        return self.computes_longer(rank) > _BUSY * waited

    def blamed(self, why: str) -> tuple[float, Nanoseconds] | None:
        """Of a wait of WAITS, the share of the ranks' time and how much of it is for each rank; None below
        `WORTH`.
        """
        by_rank = self.caused(WAITS.index(why))
        share = int(by_rank.sum()) / max(1, int(self.end.sum()))
        return (share, by_rank) if share >= WORTH else None

    def by_site(self) -> list[tuple[str, str, int, int, int]]:
        """Call sites by time in them: name, operation, calls, time and waiting of all ranks."""
        found: dict[tuple[int, int], list[int]] = {}
        for rank in range(self.program.ranks):
            times, order = self.program.times(rank), self.program.sequence(rank).order()
            leaves = self.program.leaves(rank)
            assert times is not None
            inside = np.bincount(order, times[:, 1] - times[:, 0], len(leaves))
            waited = np.bincount(order, self.waiting[rank].time, len(leaves))
            calls = np.bincount(order, minlength=len(leaves))
            for leaf, operation in enumerate(leaves):
                row = found.setdefault((operation.site, operation.kind), [0, 0, 0])
                for place, value in enumerate((calls[leaf], inside[leaf], waited[leaf])):
                    row[place] += int(value)
        rows = [
            (self.program.sites[site], Kind(kind).name.lower(), row[0], row[1], row[2])
            for (site, kind), row in found.items()
            if kind != Kind.NOP
        ]
        return sorted(rows, key=lambda row: -row[3])

    def path_by_rank(self) -> tuple[Nanoseconds, Nanoseconds]:
        """Computation and time in MPI of each rank on the critical path."""
        computing, inside = (np.zeros(self.program.ranks, np.int64) for _ in range(2))
        for rank, _, within, before in self.path:
            computing[rank] += before
            inside[rank] += within
        return computing, inside


def profile(program: Program) -> Profile:
    """Where the time of a recorded or replayed program goes.

    Raises UsageError where the times of its operations are not known.
    """
    if program.times_of is None:
        raise UsageError(
            "the program has no times: they stand beside a recording (NAME.program.times), or "
            "'leadline replay FILE --on MACHINE --times NEW' writes simulated ones"
        )
    times = [program.times_of[rank] for rank in range(program.ranks)]
    waiting = [Waiting.nowhere(len(each)) for each in times]
    for message in messages(program, probes=True):
        _late(times, waiting, message)
    for operation, ends_of in meetings(program):
        imbalance(program, times, waiting, operation, ends_of)
    ends = np.array([each[-1, 1] if len(each) else 0 for each in times], np.int64)
    inside = np.array([int((each[:, 1] - each[:, 0]).sum()) for each in times], np.int64)
    waits = np.zeros((program.ranks, len(WAITS)), np.int64)
    for rank, each in enumerate(waiting):
        for why in range(len(WAITS)):
            waits[rank, why] = each.time[each.why == why].sum()
    files, unseen, by_name = (
        _inside(program, times, wanted)
        for wanted in (lambda leaf: leaf.kind == Kind.FILE, _is_unseen, _is_a_name)
    )
    found = Profile(program, ends, ends - inside, waiting, waits, files, unseen, by_name)
    found.of_any = any(_of_any(leaf) for each in program.sequences for leaf in each.leaves)
    found.path = _path(times, waiting, ends)
    return found


def _of_any(leaf: Operation) -> bool:
    """Whether a receive may be of any source; of one made ready its completion says which it was."""
    if leaf.kind == Kind.SENDRECV:
        return leaf.source == ANY_PEER
    return leaf.kind == Kind.RECV and leaf.peer == ANY_PEER and leaf.form != Form.PERSISTENT


def _inside(
    program: Program, times: Sequence[Nanoseconds], wanted: Callable[[Operation], bool]
) -> Nanoseconds:
    """Of each rank, the time in the operations that are wanted."""
    found = np.zeros(program.ranks, np.int64)
    for rank, each in enumerate(times):
        kinds = np.array([wanted(leaf) for leaf in program.leaves(rank)], bool)
        if kinds.any():
            of = kinds[program.sequence(rank).order()]
            found[rank] = (each[of, 1] - each[of, 0]).sum()
    return found


def _late(times: Sequence[Nanoseconds], waiting: Sequence[Waiting], message: Message) -> None:
    """The wait of a receive for its sender, or of a send for its receiver."""
    sent, taken, probe = message
    asked = int(times[taken.rank][taken.posted, 0])
    wait(times, waiting, (taken.rank, taken.over), 0, (sent.rank, sent.posted))
    if probe:
        return
    # A send that ended before the receive was asked for did not wait for it.
    if int(times[sent.rank][sent.over, 1]) >= asked:
        wait(times, waiting, (sent.rank, sent.over), 1, (taken.rank, taken.posted))
    both = max(int(times[sent.rank][sent.posted, 0]), asked)
    _stall(times, waiting, (sent.rank, sent.over), taken.rank, both)
    _stall(times, waiting, (taken.rank, taken.over), sent.rank, both)


def _stall(
    times: Sequence[Nanoseconds], waiting: Sequence[Waiting], at: Place, other: int, both: int
) -> None:
    """The wait of an end for a message that `both` have asked for, until the other rank is in MPI again.

    It is one where most of the time passes before that: a message that moves by itself is over soon after
    both have asked for it, or at any time after the other rank came back.
    """
    enter, leave = times[at[0]][at[1]].tolist()
    since = max(both, enter)
    if leave - since < STALL or other == at[0]:
        return
    next_call = int(np.searchsorted(times[other][:, 0], since, "right"))
    inside = next_call > 0 and int(times[other][next_call - 1, 1]) > since
    if inside or next_call == len(times[other]):
        return
    back = int(times[other][next_call, 0])
    if 0 <= leave - back < back - since:
        wait(times, waiting, at, WAITS.index(PROGRESS), (other, next_call))


def _path(
    times: Sequence[Nanoseconds], waiting: Sequence[Waiting], ends: Nanoseconds
) -> list[tuple[int, int, int, int]]:
    """The critical path, from its end: what the last rank did, and before a wait what its cause did.

    Each part is an operation with the time inside it and the computation before it that are on the path. They
    add up to the last rank's end: where an operation waits, the path goes on at the moment at which its cause
    began, so that no moment is counted twice.
    """
    path = []
    rank = int(np.argmax(ends))
    index, now = len(times[rank]) - 1, int(ends[rank])
    while index >= 0:
        enter = int(times[rank][index, 0])
        each = waiting[rank]
        cause = int(each.rank[index])
        if each.time[index] > 0 and cause >= 0:
            begun = int(times[cause][each.index[index], 0])
            if enter < begun <= now:
                path.append((rank, index, now - begun, 0))
                rank, index, now = cause, int(each.index[index]), begun
                before = int(times[rank][index - 1, 1]) if index else 0
                path.append((rank, index, 0, now - min(now, before)))
                now, index = min(now, before), index - 1
                continue
        before = int(times[rank][index - 1, 1]) if index else 0
        inside = now - min(now, enter)
        now = min(now, enter)
        path.append((rank, index, inside, now - min(now, before)))
        now, index = min(now, before), index - 1
    return path
