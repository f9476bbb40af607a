"""The clocks of several hosts, aligned by what the program itself sent: no message is added to it.

A message is received after it was sent, and no rank leaves an allreduce before the last one has come. Of two
hosts each such pair of moments bounds the difference of their clocks, in one direction from below and in the
other from above (Cristian 1989; Hofmann and Hilgers 1998 bound it by lines, since clocks drift):

    entered_a(t) <= left_b(t)   on one clock, hence   difference_b(t) >= entered_a - left_b

The difference is taken as a line in time, steeper than no clock of a system is. Among the lines that keep all
bounds the one in their middle is chosen, and half the width of what they leave is how far it may be wrong.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from leadline.program.events import collectives, messages
from leadline.program.model import Kind, Operation, Program

# Nobody leaves before all have come, the root's own data reach all, all data reach the root.
_ALL = {Kind.BARRIER, Kind.ALLREDUCE, Kind.ALLGATHER, Kind.ALLTOALL, Kind.REDUCE_SCATTER}
_FROM_ROOT, _TO_ROOT = {Kind.BCAST, Kind.SCATTER}, {Kind.REDUCE, Kind.GATHER}
STEEPEST = 500e-6  # s/s: what adjtimex(2) lets a clock be slewed by
_PARTS = 1024  # of the run: of each the tightest bound counts, which leaves out only wider ones

Moments: TypeAlias = npt.NDArray[np.float64]  # s


class Order(NamedTuple):
    """A moment on one host that came before a moment on another one, s, each on its own host's clock."""

    host: int
    at: float
    other: int
    after: float


@dataclass(frozen=True)
class Line:
    """What is added to a host's clock, s: `first` when it shows `begin`, `last` when it shows `end`."""

    begin: float
    end: float
    first: float
    last: float
    within: float  # s, how far it may be wrong

    def at(self, time: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """What is added when the host's clock shows `time`."""
        share = (np.asarray(time) - self.begin) / max(self.end - self.begin, 1e-9)
        return np.asarray(self.first + share * (self.last - self.first))


@dataclass(frozen=True)
class Alignment:
    """The clocks of hosts on that of the first one; `lines` by host, None where nothing bounds one."""

    lines: tuple[Line | None, ...]

    @property
    def within(self) -> float:
        """How far a host's aligned clock may differ from the first one's, s: the most."""
        return max((line.within for line in self.lines if line), default=0.0)

    def shift(self, host: int, times: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Times of a host, ns, on the first one's clock; as they were where nothing is known."""
        line = self.lines[host]
        return times if line is None else times + np.rint(1e9 * line.at(times * 1e-9)).astype(np.int64)


def align(program: Program, hosts: Sequence[int]) -> Alignment:
    """The alignment of a program's times, whose ranks were on `hosts` (numbers from 0, one a rank).

    The times of the program are each host's own.
    """
    count = max(hosts) + 1
    spans = [(inf, -inf)] * count
    for rank, host in enumerate(hosts):
        times = program.times(rank)
        if times is not None and len(times):
            first, last = spans[host]
            spans[host] = min(first, int(times[0, 0]) * 1e-9), max(last, int(times[-1, 1]) * 1e-9)
    tightest = np.full((count, count), np.inf)
    for each in orders(program, hosts):
        place = each.host, each.other
        tightest[place] = min(tightest[place], each.after - each.at)
    tree = _tree(tightest + tightest.T)
    bounds: dict[tuple[int, int], _Bounds] = {pair: _Bounds(*spans[pair[1]]) for pair in tree}
    for each in orders(program, hosts):
        if (each.host, each.other) in bounds:
            bounds[each.host, each.other].after(each.after, each.at - each.after)
        elif (each.other, each.host) in bounds:
            bounds[each.other, each.host].before(each.at, each.after - each.at)
    lines: list[Line | None] = [None] * count
    lines[0] = Line(0.0, 0.0, 0.0, 0.0, 0.0)
    for known, new in tree:  # from the first host outwards
        base, step = lines[known], bounds[known, new].middle()
        assert base is not None
        lines[new] = Line(
            step.begin,
            step.end,
            step.first + float(base.at(step.begin + step.first)),
            step.last + float(base.at(step.end + step.last)),
            base.within + step.within,
        )
    return Alignment(tuple(lines))


def orders(program: Program, hosts: Sequence[int]) -> Iterator[Order]:
    """Every moment on one host of which the program itself shows that it came before one on another."""
    times = [program.times(rank) for rank in range(program.ranks)]

    def moment(rank: int, index: int, which: int) -> float:
        of = times[rank]
        assert of is not None
        return int(of[index, which]) * 1e-9

    for sent, taken, _ in messages(program):
        if hosts[sent.rank] != hosts[taken.rank]:
            yield Order(
                hosts[sent.rank],
                moment(sent.rank, sent.posted, 0),
                hosts[taken.rank],
                moment(taken.rank, taken.over, 1),
            )
    for operation, places in collectives(program):
        if not _binds(program, operation):
            continue
        root = program.communicators[operation.comm].members[operation.peer]
        entered, left = defaultdict[int, list[float]](list), defaultdict[int, list[float]](list)
        for rank, index in places:
            if operation.kind in _ALL or (operation.kind in _FROM_ROOT) == (rank == root):
                entered[hosts[rank]].append(moment(rank, index, 0))
            if operation.kind in _ALL or (operation.kind in _TO_ROOT) == (rank == root):
                left[hosts[rank]].append(moment(rank, index, 1))
        if operation.kind not in _ALL | _FROM_ROOT | _TO_ROOT:
            continue
        # Pairs with one of the hosts bind all of them, and are as many as there are hosts.
        middle = hosts[root] if operation.kind not in _ALL else min(entered)
        for other in left:
            if other != middle and middle in entered:
                yield Order(middle, max(entered[middle]), other, min(left[other]))
        for host in entered:
            if host != middle and middle in left:
                yield Order(host, max(entered[host]), middle, min(left[middle]))


def _binds(program: Program, operation: Operation) -> bool:
    """Whether all ranks of an operation hear of each other, directly or through its root.

    Blocks of nothing bind nobody, and where blocks vary any may be that. The groups of an intercommunicator
    hear of the other only.
    """
    if program.communicators[operation.comm].remote:
        return False
    return operation.kind == Kind.BARRIER or bool(operation.bytes and not operation.mode)


def _tree(widths: Moments) -> list[tuple[int, int]]:
    """Pairs of a host that is reached and one that is not, from host 0, the tightest bounds first (Prim)."""
    tree: list[tuple[int, int]] = []
    missing = np.arange(len(widths)) > 0
    tightest, known = widths[0].copy(), np.zeros(len(widths), int)
    while np.isfinite(tightest[missing]).any():
        new = int(np.where(missing, tightest, np.inf).argmin())
        tree.append((int(known[new]), new))
        missing[new] = False
        closer = widths[new] < tightest
        tightest[closer], known[closer] = widths[new][closer], new
    return tree


class _Bounds:
    """Bounds in time of what must be added to a host's clock, that it agrees with a known one's."""

    def __init__(self, begin: float, end: float) -> None:
        self._begin, self._length = begin, max(end - begin, 1e-9)
        self._least: dict[int, tuple[float, float]] = {}  # by part of the run: bound, when
        self._most: dict[int, tuple[float, float]] = {}

    def _part(self, at: float) -> int:
        return int(_PARTS * (at - self._begin) / self._length)

    def after(self, at: float, least: float) -> None:
        """At this moment of its own, the host's clock is behind by this much or more."""
        part = self._part(at)
        self._least[part] = max(self._least.get(part, (-np.inf, at)), (least, at))

    def before(self, at: float, most: float) -> None:
        """At this moment it is behind by this much or less."""
        part = self._part(at)
        self._most[part] = min(self._most.get(part, (np.inf, at)), (most, at))

    def middle(self) -> Line:
        """The line amid all that keep the bounds, or that break them by least."""
        rows, limits = [], []
        for sign, bounds in ((-1, self._least), (1, self._most)):
            for value, at in bounds.values():
                share = (at - self._begin) / self._length
                rows.append((sign * (1 - share), sign * share, -1.0))
                limits.append(sign * value)
        # In microseconds around a bound: the solver's tolerances, 1e-7, are then less than a picosecond.
        origin = -float(np.median(limits[: len(self._least)]))
        matrix = np.array(rows)
        known = 1e6 * (np.array(limits) - (matrix[:, 0] + matrix[:, 1]) * origin)
        matrix = np.vstack([matrix, [(1, -1, 0), (-1, 1, 0)]])
        known = np.append(known, [1e6 * STEEPEST * self._length] * 2)

        def solve(goal: tuple[float, float, float], broken: float | None) -> npt.NDArray[np.float64]:
            free = (None, None)
            slack = (0, None) if broken is None else (0, broken)
            found = linprog(goal, A_ub=matrix, b_ub=known, bounds=[free, free, slack], method="highs")
            return np.array(found.x)

        broken = float(solve((0, 0, 1), None)[2]) * (1 + 1e-9)
        goals = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)]
        corners = np.array([solve(goal, broken)[:2] for goal in goals]) * 1e-6
        first, last = corners.mean(axis=0) + origin
        width = max(np.ptp(corners[:2, 0]), np.ptp(corners[2:, 1])) / 2 + 1e-6 * broken
        return Line(self._begin, self._begin + self._length, float(first), float(last), float(width))
