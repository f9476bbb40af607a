"""The genetic algorithm of Behzad et al., "Taming parallel I/O complexity with auto-tuning" (2013), 3.1.

A population of 15 goes through 40 generations, so at most 600 runs; the fitness is the run time; the fastest
("elite") members are considered for the next generation; the other members come of crossover and mutation;
the rate of mutation is 15 %: "15 % of the population undergoes mutation", so each child with that
probability, in one parameter. What the paper leaves open is as its library has it (Pyevolve 0.6,
`Consts.py`): crossover of one point by 90 % of the couples, fitness scaled linearly to 1.2 times the mean,
and one elite, which takes the place of the worst child. Parents come from a roulette wheel: the library's
default takes the best member for both every time, which contradicts the paper's "the entire current
population undergoes a series of mutations and crossovers".

A child that exceeds a limit of the space, which the paper's had none of, is drawn anew.
"""

import math

import numpy as np

from leadline.tune.search._driver import Steps, Task
from leadline.tune.search._space import Floats, Index

QUESTION = "What does the paper's genetic algorithm find, population 15, 40 generations?"

POPULATION = 15
GENERATIONS = 40
CROSSOVER = 0.9
MUTATION = 0.15
_TRIES = 50  # couples that are tried before a child without a valid form becomes a point at random


def search(task: Task) -> Steps:
    """Forty generations; members that are known already cost no run."""
    members = task.space.draw(task.rng, POPULATION)
    times = yield members
    for _ in range(GENERATIONS - 1):
        elite = min(range(POPULATION), key=lambda one: times[one])
        children = _children(task, members, _chances(times))
        after = yield children
        worst = max(range(POPULATION), key=lambda one: after[one])
        if times[elite] < after[worst]:
            children[worst], after[worst] = members[elite], times[elite]
        members, times = children, after


def _children(task: Task, members: list[Index], chances: Floats) -> list[Index]:
    """As many children of couples as there are members."""
    children: list[Index] = []
    while len(children) < POPULATION:
        children += _couple(task, members, chances)
    return children[:POPULATION]


def _chances(times: list[float]) -> Floats:
    """The roulette wheel: how probable each member is as a parent.

    Fitness is 1 / time, scaled linearly so that the mean keeps its worth and the best counts 1.2 times the
    mean, unless the worst would fall below nothing. A failure has the fitness 0.
    """
    raw = np.array([0.0 if math.isinf(time) else 1 / time for time in times])
    mean, best, worst = raw.mean(), raw.max(), raw.min()
    if best <= mean * (1 + 1e-12) or mean == 0:
        return np.full(len(times), 1 / len(times))
    slope = 0.2 * mean / (best - mean)
    if mean + slope * (worst - mean) < 0:
        slope = mean / (mean - worst)
    scaled = np.maximum(0.0, mean + slope * (raw - mean))
    return np.asarray(scaled / scaled.sum())


def _couple(task: Task, members: list[Index], chances: Floats) -> list[Index]:
    """Two children, each valid."""
    for _ in range(_TRIES):
        one, two = (members[place] for place in task.rng.choice(len(members), size=2, p=chances))
        if len(one) > 1 and task.rng.random() < CROSSOVER:
            cut = int(task.rng.integers(1, len(one)))
            one, two = (*one[:cut], *two[cut:]), (*two[:cut], *one[cut:])
        children = [task.space.canonical(_mutated(task, each)) for each in (one, two)]
        if all(map(task.space.valid, children)):
            return children
    return task.space.draw(task.rng, 2)


def _mutated(task: Task, member: Index) -> Index:
    """The member, or with the probability of mutation one that has another value of one parameter."""
    if task.rng.random() >= MUTATION:
        return member
    axis = int(task.rng.integers(len(member)))
    others = [place for place in range(task.space.shape[axis]) if place != member[axis]]
    if not others:
        return member
    return (*member[:axis], int(task.rng.choice(others)), *member[axis + 1 :])
