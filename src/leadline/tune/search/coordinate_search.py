"""One parameter after another, those first that were seen to matter most.

Behzad et al. (2013) propose it in section 7, after their partial tuning: favour the sensitive parameters
first, then the other layers. From a point in the middle each parameter is set to its ends: how far that moves
the time is its influence. Then, the most influential first, each parameter is searched by steps that are
halved, the others staying at the best known; this is repeated until a whole pass changes nothing, and begun
again from a point at random for as long as anybody asks.
"""

import math
from collections.abc import Generator, Iterator

from leadline.tune.search._driver import Steps, Task
from leadline.tune.search._space import Index, as_index

QUESTION = "Which settings are best when the most influential are settled first?"

_RESTARTS = 200  # points at random to begin again from without one that is new, after which it is over


def search(task: Task) -> Steps:
    """Influence, then passes over the parameters; then again from elsewhere."""
    times = dict(task.known)
    order = list(range(len(task.space.shape)))
    here = min(times, key=lambda one: times[one]) if times else task.space.start or _middle(task)
    stale = 0
    while stale < _RESTARTS:
        before = len(times)
        yield from _learn(times, [here])
        if stale == 0:
            influence = yield from _screen(task, times, here)
            order = sorted(order, key=lambda axis: -influence[axis])
        yield from _climb(task, times, min(times, key=lambda one: times[one]) if stale == 0 else here, order)
        stale = 1 if len(times) > before else stale + 1
        fresh = next((each for each in task.space.draw(task.rng, 64) if each not in times), None)
        if fresh is None and task.space.enumerable:
            fresh = next((each for each in map(as_index, task.space.points) if each not in times), None)
        if fresh is None:
            return
        here = fresh


def _learn(times: dict[Index, float], points: list[Index]) -> Generator[list[Index], list[float], None]:
    """Have the times of points, asking for those that are not known."""
    unknown = list(dict.fromkeys(each for each in points if each not in times))
    if unknown:
        times.update(zip(unknown, (yield unknown), strict=True))


def _middle(task: Task) -> Index:
    """The valid point nearest to the middle of every parameter's values."""
    middle = [(size - 1) / 2 for size in task.space.shape]
    points: Iterator[Index] = (
        map(as_index, task.space.points) if task.space.enumerable else iter(task.space.draw(task.rng, 1000))
    )
    return min(points, key=lambda one: sum((a - b) ** 2 for a, b in zip(one, middle, strict=True)))


def _at(task: Task, here: Index, axis: int, place: int) -> Index | None:
    """The point with one parameter at another place; None where that is no point."""
    moved = task.space.canonical((*here[:axis], place, *here[axis + 1 :]))
    return moved if task.space.valid(moved) else None


def _screen(
    task: Task, times: dict[Index, float], here: Index
) -> Generator[list[Index], list[float], list[float]]:
    """The influence of each parameter: the range of the logarithm of the times when it goes to its ends."""
    ends = [
        [moved for place in (0, size - 1) if (moved := _at(task, here, axis, place)) is not None]
        for axis, size in enumerate(task.space.shape)
    ]
    yield from _learn(times, [each for pair in ends for each in pair])
    influence = []
    for pair in ends:
        seen = [math.log(times[each]) for each in (here, *pair) if math.isfinite(times[each])]
        failed = len(seen) < len(pair) + 1
        influence.append(math.inf if failed else max(seen) - min(seen))
    return influence


def _climb(
    task: Task, times: dict[Index, float], here: Index, order: list[int]
) -> Generator[list[Index], list[float], None]:
    """Passes over the parameters until one changes nothing."""
    while True:
        before = here
        for axis in order:
            here = yield from _line(task, times, here, axis)
        if here == before:
            return


def _line(
    task: Task, times: dict[Index, float], here: Index, axis: int
) -> Generator[list[Index], list[float], Index]:
    """The best place found for one parameter: all values of words, halved steps of what has an order."""
    size = task.space.shape[axis]
    if not task.space.axes[axis].ordered:
        every = [each for place in range(size) if (each := _at(task, here, axis, place)) is not None]
        yield from _learn(times, every)
        return min(every, key=lambda one: times[one])
    step = max(1, size // 4)
    while True:
        near = [_at(task, here, axis, here[axis] + way) for way in (-step, step)]
        inside = [each for each in near if each is not None]
        yield from _learn(times, inside)
        best = min([here, *inside], key=lambda one: times[one])
        if best != here:
            here = best
        elif step == 1:
            return here
        else:
            step //= 2
