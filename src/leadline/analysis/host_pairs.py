"""Which host, or which link between two hosts, is slow: decided from messages between pairs of hosts.

Up to EVERY hosts every pair is measured alone. With more, a knock-out tournament chooses the pairs. It begins
with every pair, in n - 1 steps of disjoint pairs (a round-robin schedule); of pairs that are measured at once
only the slowest is known. Each round halves the groups, and the slower half of them goes on, so that single
pairs are left after log2(n) rounds. Those, and neighbours of every host, are measured alone: what was slow
only beside other messages is not slow then.

The decision is a function of the speeds of single pairs, over several launches. In each launch a pair is
compared with the usual pair of the same launch, so that launches need not be alike. A host is slow if nearly
all of its pairs are, a link if it is slower than its hosts explain. Something is named only where the
interval of the median over launches, by order statistics, lies wholly below a limit; its confidence is
corrected for the number of hosts and pairs (Bonferroni), which takes O(log n) launches.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from math import ceil
from statistics import median

from leadline.core.statistics import Interval, median_interval, median_rank

Pair = tuple[int, int]  # of hosts, the smaller number first
Group = tuple[Pair, ...]  # disjoint pairs that are measured at once
Measure = Callable[
    [Sequence[Group]], Mapping[Group, float]
]  # a launch: the speed of each group's slowest pair

EVERY = 8  # hosts
TRIES = 3  # launches of a round, of which the best counts: what is held up once is not slow
OUTLIERS = 2  # launches that an interval leaves out at each end
FAMILY = 0.99  # confidence that nothing healthy is named in one metric
LIMITS = {"bandwidth": 0.9, "latency": 0.5}  # speed, relative to the usual, below which a pair is slow
ALONE = 0.8  # the same of a host's own work, without a network


@dataclass(frozen=True)
class Slow:
    """A host (one number) or a link between two that is slow in a metric."""

    hosts: tuple[int, ...]
    metric: str
    speed: float  # relative to the usual pair; of a link, to what its hosts let expect
    interval: Interval  # of `speed`, at a confidence that is corrected for all comparisons


@dataclass(frozen=True)
class Judgement:
    """What speeds of pairs show in one metric."""

    usual: float  # speed (B/s, or 1/s of a latency) of the usual pair or host, median over launches
    slow: tuple[Slow, ...]
    slowest: Slow  # the pair or host with the least speed, whether certainly slow or not
    confidence: float  # that each comparison had to reach
    launches: int


def round_robin(hosts: int) -> list[Group]:
    """Steps of disjoint pairs in which every host meets every other once: n - 1 steps, n for odd n.

    >>> round_robin(4)
    [((0, 3), (1, 2)), ((0, 2), (1, 3)), ((0, 1), (2, 3))]
    """
    circle = [*range(hosts), *([hosts] if hosts % 2 else [])]  # the last is nobody where the number is odd
    half = len(circle) // 2
    steps = []
    for _ in range(len(circle) - 1):
        facing = zip(circle[:half], reversed(circle[half:]), strict=True)
        steps.append(tuple(sorted((min(pair), max(pair)) for pair in facing if max(pair) < hosts)))
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return steps


def suspects(hosts: int, measure: Measure, limit: float) -> list[Pair]:
    """Pairs to be measured alone, found in TRIES log2(hosts) launches; all of them up to EVERY hosts.

    `measure` gives speeds, such as B/s; `limit` is the relative speed above which a group is as usual.
    """
    if hosts <= EVERY:
        return list(combinations(range(hosts), 2))
    groups = round_robin(hosts)
    while any(len(group) > 1 for group in groups):
        groups = [part for group in groups for part in _halves(group)]
        tries = [measure(groups) for _ in range(TRIES)]
        groups = _slower(groups, {group: max(each[group] for each in tries) for group in groups}, limit)
    ring = {(min(a, b), max(a, b)) for a in range(hosts) for d in (1, 2) for b in [(a + d) % hosts] if a != b}
    return sorted(ring | {group[0] for group in groups})


def _halves(group: Group) -> list[Group]:
    middle = len(group) // 2
    return [group[:middle], group[middle:]] if middle else [group]


def _slower(groups: Sequence[Group], speeds: Mapping[Group, float], limit: float) -> list[Group]:
    """The slower half, and whatever else is clearly slower than the usual group of the faster half."""
    ranked = sorted(groups, key=speeds.__getitem__)
    half = ceil(len(ranked) / 2)
    usual = median(speeds[group] for group in ranked[half:])
    return ranked[:half] + [group for group in ranked[half:] if speeds[group] < limit * usual]


def launches_needed(hosts: int, pairs: int) -> int:
    """The fewest launches with which an interval has the corrected confidence and leaves out OUTLIERS."""
    wanted = _confidence(hosts + pairs)
    return next(n for n in count(1) if median_rank(n, wanted)[0] > OUTLIERS)


def judge(launches: Sequence[Mapping[Pair, float]], hosts: int, metric: str) -> Judgement:
    """Which hosts and links are slow: `launches` has the speed of each pair (larger: faster) in each.

    A pair that a launch lacks is compared over the others. Raises ValueError for fewer than three hosts:
    with one pair nothing is usual.
    """
    if hosts < 3:
        raise ValueError(f"three hosts or more can be compared, but got {hosts}")
    pairs = sorted({pair for launch in launches for pair in launch})
    wanted, limit = _confidence(hosts + len(pairs)), LIMITS[metric]
    relative: dict[Pair, dict[int, float]] = {pair: {} for pair in pairs}
    usual = [_usual(launch) for launch in launches]
    for number, launch in enumerate(launches):
        for pair, speed in launch.items():
            relative[pair][number] = speed / usual[number]
    slow: list[Slow] = []
    expected = dict.fromkeys(range(hosts), 1.0)
    for host in range(hosts):
        own = _best(relative, host, len(launches))
        if own and _certain(found := _compare((host,), metric, own, wanted), wanted, limit):
            slow.append(found)
            expected[host] = found.speed
    for pair, speeds in relative.items():
        explained = min(expected[host] for host in pair)
        rest = _compare(pair, metric, [speed / explained for speed in speeds.values()], wanted)
        if _certain(rest, wanted, limit):
            slow.append(rest)
    compared = [_compare(pair, metric, list(speeds.values()), wanted) for pair, speeds in relative.items()]
    return _judgement(launches, usual, slow, compared, wanted)


def judge_alone(launches: Sequence[Mapping[int, float]], metric: str) -> Judgement:
    """Which hosts are slow by themselves: `launches` has the speed of each host in each.

    Raises ValueError for fewer than three hosts.
    """
    hosts = sorted({host for launch in launches for host in launch})
    if len(hosts) < 3:
        raise ValueError(f"three hosts or more can be compared, but got {len(hosts)}")
    wanted = _confidence(len(hosts))
    usual = [median(launch.values()) for launch in launches]
    compared = [
        _compare((host,), metric, [each[host] / u for each, u in zip(launches, usual, strict=True)], wanted)
        for host in hosts
    ]
    slow = [each for each in compared if _certain(each, wanted, ALONE)]
    return _judgement(launches, usual, slow, compared, wanted)


def _judgement(
    launches: Sequence[object],
    usual: Sequence[float],
    slow: Sequence[Slow],
    compared: Sequence[Slow],
    wanted: float,
) -> Judgement:
    slowest = min(compared, key=lambda each: each.speed)
    return Judgement(median(usual), tuple(slow), slowest, wanted, len(launches))


def odd_ones(settings: Mapping[str, Mapping[str, object]]) -> list[tuple[str, str, object, object]]:
    """Hosts whose settings differ from those of most: host, setting, its value, the value of most.

    `settings` has the settings of each host. Where no value is that of more than half of the hosts, each
    host is listed beside None.
    """
    names = dict.fromkeys(name for of_host in settings.values() for name in of_host)
    found = []
    for name in names:
        values = {host: of_host.get(name) for host, of_host in settings.items()}
        usual, times = Counter(values.values()).most_common(1)[0]
        if times == len(values):
            continue
        most = times * 2 > len(values)
        found += [
            (host, name, value, usual if most else None)
            for host, value in values.items()
            if not (most and value == usual)
        ]
    return found


def _confidence(comparisons: int) -> float:
    """Of each comparison, so that all of them together have FAMILY."""
    return 1 - (1 - FAMILY) / comparisons


def _usual(launch: Mapping[Pair, float]) -> float:
    """The speed of the usual pair: the median of those that are left without as many as one host has."""
    degrees = [sum(host in pair for pair in launch) for host in {host for pair in launch for host in pair}]
    ranked = sorted(launch.values())
    return median(ranked[min(max(degrees), len(ranked) - 1) :])


def _best(relative: Mapping[Pair, Mapping[int, float]], host: int, launches: int) -> list[float]:
    """In each launch the upper quartile of a host's pairs: one slow link does not make its hosts slow."""
    own = [speeds for pair, speeds in relative.items() if host in pair]
    values = []
    for number in range(launches):
        ranked = sorted(speeds[number] for speeds in own if number in speeds)
        if ranked:
            values.append(ranked[ceil(0.75 * (len(ranked) - 1))])
    return values


def _compare(hosts: tuple[int, ...], metric: str, speeds: Sequence[float], wanted: float) -> Slow:
    """A host or link with the interval of its speed."""
    return Slow(hosts, metric, median(speeds), median_interval(speeds, wanted))


def _certain(found: Slow, wanted: float, limit: float) -> bool:
    """Whether the whole interval lies below the limit, and has the confidence."""
    return found.interval.confidence >= wanted and found.interval.high < limit
