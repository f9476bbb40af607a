"""Points drawn at random, none twice: what every other method must be better than."""

from leadline.tune.search._driver import Steps, Task
from leadline.tune.search._space import as_index

QUESTION = "What do points drawn blindly find?"

_BATCH = 16  # points that may be evaluated side by side
_TRIES = 100  # batches in a row without a new point, after which a space that cannot be written out is over


def search(task: Task) -> Steps:
    """All points of the space in a random order; of one too large to write out, new ones without end."""
    if task.space.enumerable:
        for place in task.rng.permutation(len(task.space.points)):
            yield [as_index(task.space.points[place])]
        return
    seen = set(task.known)
    tries = 0
    while tries < _TRIES:
        fresh = [each for each in dict.fromkeys(task.space.draw(task.rng, _BATCH)) if each not in seen]
        tries = 0 if fresh else tries + 1
        seen.update(fresh)
        if fresh:
            yield fresh
