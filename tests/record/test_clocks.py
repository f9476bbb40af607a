"""Clocks of hosts that are known to be wrong by so much: the alignment finds it, within what it says."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from leadline.profile.analysis import profile
from leadline.profile.sentences import clocks
from leadline.program.build import ProgramBuilder
from leadline.program.model import Kind, Operation, Program
from leadline.record.clocks import STEEPEST, Alignment, align

DELAY = 5e-6  # s, of a message at least
Clock = Callable[[float], float]  # what a host's clock shows at a true time, s


def operation(kind: Kind, peer: int = 0, size: int = 8, varies: bool = False) -> Operation:
    """To or from a rank of the world, or of all."""
    return Operation(kind=int(kind), comm=0, peer=peer, bytes=size, tag=1, mode=int(varies))


class World:
    """Ranks on hosts with clocks of their own, and what they do at true times."""

    def __init__(self, hosts: Sequence[int], clocks: Sequence[Clock]) -> None:
        """`hosts` of the ranks, `clocks` of the hosts."""
        self.hosts, self.clocks = hosts, clocks
        self.done: list[list[tuple[Operation, float, float]]] = [[] for _ in hosts]

    def does(self, rank: int, what: Operation, enter: float, leave: float) -> None:
        """By its own clock."""
        clock = self.clocks[self.hosts[rank]]
        self.done[rank].append((what, clock(enter), clock(leave)))

    def message(self, a: int, b: int, at: float, delay: float) -> None:
        """From a to b, which waits for it."""
        self.does(a, operation(Kind.SEND, b), at, at + 1e-7)
        self.does(b, operation(Kind.RECV, a), at - 1e-4, at + delay)

    def program(self) -> Program:
        """As it is recorded."""
        made = ProgramBuilder(len(self.hosts), measured=True)
        for rank, done in enumerate(self.done):
            times = np.array([[enter, leave] for _, enter, leave in done]).reshape(-1, 2)
            made.add(rank, [what for what, _, _ in done], times=np.rint(times * 1e9).astype(np.int64))
        return made.build()


def wrong_by(world: World, alignment: Alignment, length: float) -> float:
    """The most by which an aligned clock differs from the first host's, s, over the run."""
    found = 0.0
    for host, clock in enumerate(world.clocks):
        for true in np.linspace(0.01, length, 7):
            shown = np.array([round(clock(true) * 1e9)])
            found = max(found, abs(alignment.shift(host, shown)[0] * 1e-9 - world.clocks[0](true)))
    return found


def exchange(world: World, pairs: Sequence[tuple[int, int]], length: float, seed: int) -> None:
    """Messages there and back, whose delays are at least DELAY and often several times that."""
    random = np.random.default_rng(seed)
    for at in np.linspace(0.01, length, 300):
        for a, b in pairs:
            world.message(a, b, at, DELAY * (1 + random.exponential(3)))
            world.message(b, a, at + 5e-4, DELAY * (1 + random.exponential(3)))


@pytest.mark.parametrize("seed", range(5))
def test_offset_and_drift_are_found(seed: int) -> None:
    """Three hosts in a row: 3.7 ms and 20 ppm, -50 ms and -35 ppm; the bound holds and is tight."""
    clocks: list[Clock] = [
        lambda t: t,
        lambda t: t + 3.7e-3 + 20e-6 * t,
        lambda t: t - 50e-3 - 35e-6 * t,
    ]
    world = World([0, 0, 1, 2], clocks)
    exchange(world, [(1, 2), (2, 3)], 20.0, seed)
    alignment = align(world.program(), world.hosts)
    assert wrong_by(world, alignment, 20.0) <= alignment.within
    # Of each of two pairs DELAY at least; the ends of a line are held by the few messages beside them.
    assert 2 * DELAY <= alignment.within <= 5 * DELAY


def test_an_allreduce_binds_both_ways_and_a_broadcast_one_way() -> None:
    """Nobody leaves an allreduce before the last has come; a broadcast's root may."""
    clocks: list[Clock] = [lambda t: t, lambda t: t + 2.0]
    sums, casts = World([0, 1], clocks), World([0, 1], clocks)
    for at in np.linspace(0.01, 1.0, 50):
        for rank in (0, 1):
            sums.does(rank, operation(Kind.ALLREDUCE), at, at + 2 * DELAY)
            casts.does(rank, operation(Kind.BCAST), at, at + 2 * DELAY)
    both = align(sums.program(), sums.hosts)
    assert both.lines[1] is not None
    assert wrong_by(sums, both, 1.0) <= both.within <= 2.5 * DELAY
    assert align(casts.program(), casts.hosts).lines[1] is None


def test_messages_of_one_direction_bind_nothing() -> None:
    """They may have taken any time; the clock stays as it is."""
    world = World([0, 1], [lambda t: t, lambda t: t + 1e-3])
    for at in np.linspace(0.01, 1.0, 50):
        world.message(0, 1, at, DELAY)
    alignment = align(world.program(), world.hosts)
    assert alignment.lines[1] is None
    assert alignment.shift(1, np.array([5]))[0] == 5


def test_one_moment_alone_binds_no_drift() -> None:
    """A single exchange says nothing of what a clock does a second later but that it is a clock."""
    world = World([0, 1], [lambda t: t, lambda t: t + 1e-3])
    world.message(0, 1, 0.01, DELAY)
    world.message(1, 0, 0.0105, DELAY)
    for rank in (0, 1):
        world.does(rank, operation(Kind.NOP), 1.0, 1.0)
    alignment = align(world.program(), world.hosts)
    assert alignment.within == pytest.approx(STEEPEST * 0.99 + DELAY, rel=0.02)


def test_a_step_of_a_clock_is_no_line_and_said_so() -> None:
    """A clock that is set back by 2 ms amid the run: no line is nearer than 1 ms to both halves."""
    world = World([0, 1], [lambda t: t, lambda t: t - (2e-3 if t > 0.5 else 0)])
    exchange(world, [(0, 1)], 1.0, 0)
    alignment = align(world.program(), world.hosts)
    assert alignment.within >= 0.9e-3 - STEEPEST
    assert wrong_by(world, alignment, 1.0) <= 2 * alignment.within


def test_empty_blocks_bind_nobody() -> None:
    """An allgather of nothing may be left before others come, one of blocks that vary, too."""
    for empty in (operation(Kind.ALLGATHER, size=0), operation(Kind.ALLGATHER, varies=True)):
        world = World([0, 1], [lambda t: t, lambda t: t + 1.0])
        for rank in (0, 1):
            world.does(rank, empty, 0.1, 0.2)
        assert align(world.program(), world.hosts).lines[1] is None


def test_many_hosts_are_bound_by_few_collectives() -> None:
    """By offsets of a second in the mean; each pair of hosts apart would be 40,000 bounds a collective."""
    count = 200
    offsets = np.random.default_rng(5).normal(0, 1, count)
    offsets[0] = 0
    clocks: list[Clock] = [lambda t, offset=offset: t + offset for offset in offsets]  # type: ignore[misc]
    world = World(range(count), clocks)
    for at in (0.01, 0.05, 0.1):
        for rank in range(count):
            world.does(rank, operation(Kind.BARRIER), at, at + 2 * DELAY)
    alignment = align(world.program(), world.hosts)
    assert None not in alignment.lines
    assert wrong_by(world, alignment, 0.1) <= alignment.within + 1e-9 <= 10 * DELAY


def test_only_ranks_of_several_hosts_are_aligned_and_the_profile_says_how_well() -> None:
    """The sentence has the bound with its unit, and names what is bound by nothing."""
    world = World([0, 0], [lambda t: t])
    world.message(0, 1, 0.01, DELAY)
    made = world.program()
    assert clocks(profile(made)) is None
    made.recorded["clocks"] = {"within_s": 12e-6, "unaligned": ["node7"]}
    said = clocks(profile(made))
    assert said is not None
    assert "12.0 µs" in said
    assert "node7" in said
