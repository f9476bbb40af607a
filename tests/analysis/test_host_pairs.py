"""Slow hosts and links among sets that were planted, and none among healthy ones."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log2

import numpy as np
import pytest

from leadline.analysis.host_pairs import (
    EVERY,
    TRIES,
    Group,
    Pair,
    Slow,
    judge,
    judge_alone,
    launches_needed,
    odd_ones,
    round_robin,
    suspects,
)


class Planted:
    """Hosts whose pairs have known speeds, measured with noise: launches differ, hosts a little, pairs more.

    One measurement in fifty is held up, to a third of its speed.
    """

    def __init__(self, hosts: int, seed: int, noise: float = 0.03) -> None:
        """All healthy."""
        self.random = np.random.default_rng(seed)
        self.hosts, self.noise = hosts, noise
        own = self.random.normal(0, 0.005, hosts)
        self.speeds = {(a, b): float(np.exp(min(own[a], own[b]))) for a, b in combinations(range(hosts), 2)}
        self.measured = 0  # pairs, each time they were measured
        self.rounds = 0

    def slow(self, share: float, *hosts: int) -> "Planted":
        """A host, or the link of two, has a share of its speed."""
        for pair in self.speeds:
            if set(hosts) <= set(pair):
                self.speeds[pair] = min(self.speeds[pair], share) if len(hosts) == 1 else share
        return self

    def launch(self, pairs: Sequence[Pair]) -> dict[Pair, float]:
        """Speeds in a launch, in B/s."""
        common = self.random.lognormal(22, 0.1)
        noise = self.random.normal(0, self.noise, len(pairs))
        held_up = np.where(self.random.random(len(pairs)) < 0.02, 1 / 3, 1.0)
        return {
            p: float(common * self.speeds[p] * np.exp(n) * h)
            for p, n, h in zip(pairs, noise, held_up, strict=True)
        }

    def groups(self, groups: Sequence[Group]) -> Mapping[Group, float]:
        """A launch of a tournament: of each group the slowest pair."""
        self.rounds += 1
        self.measured += sum(map(len, groups))
        speeds = self.launch([pair for group in groups for pair in group])
        return {group: min(speeds[pair] for pair in group) for group in groups}

    def found(self, metric: str = "bandwidth", launches: int | None = None) -> tuple[Slow, ...]:
        """What is named."""
        pairs = suspects(self.hosts, self.groups, 0.9)
        number = launches or launches_needed(self.hosts, len(pairs))
        return judge([self.launch(pairs) for _ in range(number)], self.hosts, metric).slow


@pytest.mark.parametrize("hosts", [2, 3, 4, 7, 8, 33])
def test_everybody_meets_everybody_once_and_nobody_two_at_once(hosts: int) -> None:
    """In n - 1 steps, n where one must wait."""
    steps = round_robin(hosts)
    assert len(steps) == hosts - 1 + hosts % 2
    assert sorted(pair for step in steps for pair in step) == list(combinations(range(hosts), 2))
    for step in steps:
        assert len({host for pair in step for host in pair}) == 2 * len(step)


def test_a_link_at_60_percent_between_two_of_eight_is_named_with_its_interval() -> None:
    """In each of 50 sets, and nothing else in any."""
    for seed in range(50):
        (named,) = Planted(8, seed).slow(0.6, 2, 5).found()
        assert named.hosts == (2, 5)
        assert named.interval.low <= 0.62
        assert 0.58 <= named.interval.high < 0.9
        assert named.interval.confidence > 1 - 0.01 / 36


@pytest.mark.parametrize("hosts", [3, 8, 24])
@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_of_healthy_sets_none_is_named(hosts: int, noise: float) -> None:
    """100 of each size."""
    for seed in range(100):
        assert Planted(hosts, 1000 + seed, noise).found() == ()


@pytest.mark.parametrize("hosts", [3, 4, 5, 8, 16, 21])
def test_a_slow_host_is_named_and_not_its_links(hosts: int) -> None:
    """Although all of its pairs are slow: half of all, among four hosts."""
    for seed in range(10):
        (named,) = Planted(hosts, seed).slow(0.7, 1).found()
        assert named.hosts == (1,)
        assert named.speed == pytest.approx(0.7, rel=0.1)


def test_a_slow_link_beside_a_slow_host_is_named_as_well() -> None:
    """The link of the slow host only where it is slower than the host explains."""
    both = Planted(8, 3).slow(0.7, 1).slow(0.5, 4, 6).found()
    assert [each.hosts for each in both] == [(1,), (4, 6)]
    within = Planted(8, 4).slow(0.7, 1).slow(0.35, 1, 6).found()
    assert [each.hosts for each in within] == [(1,), (1, 6)]
    assert within[1].speed == pytest.approx(0.5, rel=0.1)


def test_one_slow_link_among_three_hosts_accuses_none_of_them() -> None:
    """Each of the two hosts has another link that is not slow."""
    for seed in range(20):
        assert [each.hosts for each in Planted(3, seed).slow(0.6, 0, 2).found()] == [(0, 2)]


@pytest.mark.parametrize("hosts", [9, 32, 64, 100])
def test_a_tournament_takes_logarithmically_many_rounds_and_loses_nothing(hosts: int) -> None:
    """Of all pairs only a few for each host are measured alone, among them the slow ones."""
    for seed in range(5):
        planted = Planted(hosts, seed).slow(0.6, 3, hosts - 2)
        pairs = suspects(hosts, planted.groups, 0.9)
        assert (3, hosts - 2) in pairs
        assert planted.rounds <= TRIES * log2(hosts)
        assert len(pairs) <= 5 * hosts
        assert planted.measured <= TRIES * hosts**2
    assert launches_needed(hosts, 5 * hosts) <= 3 * log2(hosts) + 15


def test_fewer_launches_than_the_correction_needs_name_nothing() -> None:
    """However slow: with so many comparisons one pair may be slow in a few launches by chance."""
    assert Planted(8, 1).slow(0.1, 2, 5).found(launches=6) == ()
    needed = launches_needed(8, 28)
    assert Planted(8, 1).slow(0.1, 2, 5).found(launches=needed)


def test_a_farther_host_is_not_slow_for_its_latency() -> None:
    """A few hops more are how the network is built; more than twice the time is not."""
    assert Planted(8, 1).slow(0.6, 1, 2).found("latency") == ()
    assert [each.hosts for each in Planted(8, 1).slow(0.4, 1, 2).found("latency")] == [(1, 2)]


def test_two_hosts_cannot_be_compared() -> None:
    """There is one link, and nothing says how fast it should be."""
    with pytest.raises(ValueError, match="three hosts or more"):
        judge([{(0, 1): 1.0}], 2, "bandwidth")


def test_a_host_that_is_slow_by_itself_is_named() -> None:
    """Its processor or memory; nothing is said of hosts that are alike."""
    random = np.random.default_rng(1)
    for slow in (1.0, 0.6):
        launches = [
            {host: float(random.lognormal(0, 0.05)) * (slow if host == 2 else 1.0) for host in range(4)}
            for _ in range(launches_needed(4, 0))
        ]
        assert [each.hosts for each in judge_alone(launches, "latency").slow] == ([(2,)] if slow < 1 else [])
    with pytest.raises(ValueError, match="three hosts or more"):
        judge_alone([{0: 1.0, 1: 1.0}], "latency")


def test_settings_that_differ_are_named_with_those_of_most() -> None:
    """And each host's own where no value is that of most."""
    alike = {"kernel": "6.1", "governor": "performance", "swap": None}
    one = {host: dict(alike) for host in "abcd"} | {"c": alike | {"governor": "powersave", "swap": "1"}}
    assert odd_ones(one) == [("c", "governor", "powersave", "performance"), ("c", "swap", "1", None)]
    assert odd_ones({"a": alike, "b": dict(alike)}) == []
    split = {"a": {"kernel": "5"}, "b": {"kernel": "6"}}
    assert odd_ones(split) == [("a", "kernel", "5", None), ("b", "kernel", "6", None)]


def test_small_sets_are_measured_whole() -> None:
    """Without a round before."""
    planted = Planted(EVERY, 1)
    assert suspects(EVERY, planted.groups, 0.9) == list(combinations(range(EVERY), 2))
    assert planted.rounds == 0
