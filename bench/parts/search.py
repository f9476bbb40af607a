"""How many evaluations do search methods need, beside the paper's genetic algorithm?

On the described machines the best of the whole space is known, since the model answers for all of it
(`leadline.tune.storage`). Each method searches each machine and kernel on 2,048 ranks from 30 seeds; a run
has 10
% of noise. What is counted is the first evaluation whose time without noise is within 5 % of the best; a
search that does not come there in 600 evaluations, the paper's limit, counts as 600. `gp` and
`coordinate_search` are asked twice: from the start point of the space's file, and without it ("blind"). The
genetic algorithm begins with points at random, as the paper's does. This is arithmetic with seeds: the load
of the machine does not matter.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import geometric_mean, median

import numpy as np

from found import Found, at_most
from leadline.core.statistics import median_interval
from leadline.tune import search, storage
from leadline.tune.search import Index, Space
from leadline.tune.storage import Job

SEEDS = int(os.environ.get("BENCH_SEEDS", "30"))
RANKS = 2048
NOISE = 0.1  # deviation of the logarithm of a run's time
NEAR = 1.05  # of the best time
MOST = 600  # evaluations: 40 generations of 15
MACHINES = ("hopper", "intrepid", "stampede")
PAPER = "ga"
WAYS = ("ga", "random", "gp", "gp blind", "coordinate_search", "coordinate_search blind")
TARGET = 0.1  # of the paper's evaluations

Counts = dict[tuple[str, str], list[int]]


def measure() -> Iterator[Found]:
    """A row for each method and case, and two for each method over all cases against the genetic
    algorithm."""
    jobs = {(m, k): storage.job(m, k, RANKS) for m in MACHINES for k in storage.kernels()}
    answers = {key: _answers(job) for key, job in jobs.items()}
    counts: dict[str, Counts] = {}
    for way in WAYS:
        counts[way] = {}
        for (machine, kernel), job in jobs.items():
            space = _blind(job.space) if "blind" in way else job.space
            name = way.removesuffix(" blind")
            every = [evaluations(name, space, answers[machine, kernel], seed) for seed in range(SEEDS)]
            counts[way][machine, kernel] = every
            yield _row(way, machine, kernel, every)
    for way in WAYS:
        if way not in (PAPER, "random"):
            yield from _against(way, counts)


def _blind(space: Space) -> Space:
    """The space without advice where to start."""
    return replace(space, parameters=tuple(replace(each, start=None) for each in space.parameters))


def _answers(job: Job) -> Callable[[Index], float]:
    """The time of a point over the best, without noise."""
    places = {tuple(row.tolist()): place for place, row in enumerate(job.space.points)}
    relative = job.exhaustive / job.exhaustive.min()
    return lambda index: float(relative[places[index]])


def evaluations(name: str, space: Space, answer: Callable[[Index], float], seed: int) -> int:
    """How many evaluations until one is within 5 % of the best."""
    method, rng = search.start(name, space, seed), np.random.default_rng([seed, 1])
    for count in range(1, MOST + 1):
        settings = method.ask()
        if settings is None:
            return MOST
        exact = answer(space.index(settings))
        if exact <= NEAR:
            return count
        method.tell(settings, exact * float(np.exp(NOISE * rng.standard_normal())))
    return MOST


def _row(name: str, machine: str, kernel: str, every: list[int]) -> Found:
    """The median of one method in one case."""
    short = sum(each == MOST for each in every)
    note = f"{short} of {len(every)} seeds not within {MOST}" if short else ""
    value, interval = median(every), median_interval([float(each) for each in every])
    what = f"search {name}, {kernel} on {machine}: evaluations to within 5 % of the best"
    return Found(what, value, "1", interval, "", lambda _: True, note)


def _against(way: str, counts: dict[str, Counts]) -> Iterator[Found]:
    """A method's medians over the genetic algorithm's: of all cases together, and in the geometric mean."""
    ours, theirs = ([median(counts[each][case]) for case in counts[each]] for each in (way, PAPER))
    ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
    reached = sum(ratio <= TARGET for ratio in ratios)
    note = f"{reached} of {len(ratios)} cases at most {TARGET:g}, worst {max(ratios):.2f}"
    told = (
        f"search {way}: evaluations over the genetic algorithm's, ",
        f"at most {TARGET:g}",
        at_most(TARGET),
    )
    yield Found(f"{told[0]}all cases together", sum(ours) / sum(theirs), "1", None, *told[1:], note)
    yield Found(f"{told[0]}geometric mean", geometric_mean(ratios), "1", None, *told[1:], note)
