"""What to try next: spaces of settings, and methods that search them by asking and being told.

A **space** (`Space`, a TOML file: those of `spaces/` by name, others by path) is what may be set and to which
values. A **method** is one file of this package; it knows nothing of machines, files or time, and is driven
like this:

    space = search.load("lustre", {"ranks": 2048, "targets": 156})
    method = search.start("gp", space, seed=1)
    while (settings := method.ask()) is not None:        # {"striping_factor": 64, "cb_nodes": 32, ...}
        method.tell(settings, seconds_of_a_run_with(settings))        # None: it failed, hung or was wrong
        if enough:
            break
    method.best                                          # the best Result, None where nothing succeeded

What every method keeps (`tests/tune/search/test_contract.py` holds each to it):

- `ask` gives valid points of the space only, and the same ones for the same seed and the same answers;
- it never asks for what it was told already, unless it was started with `repeat=True`;
- it may be asked again before it was told: it gives another point, or None where it must hear first.
  `finished` says whether None is for good;
- a failure is an answer like any other: the search goes on, elsewhere;
- it is resumed by starting it anew (same space, seed and `known`) and telling it all results again, in any
  order of those that were asked side by side; what was asked and never told is asked again.

`known` are results of earlier searches to start from: they are believed and not asked for again. Results that
the method did not ask for (a baseline) may be told at any time.

A module whose name has no leading underscore is a method; it has

    QUESTION: str                                                    how it searches, one line
    def search(task: Task) -> Generator[list[Index], list[float], None]

and its name is the module's. The generator yields points that may be evaluated side by side and is sent their
seconds, infinite for failures, in that order; when it returns, the search is over. Everything above is
`Search`'s work (`_driver`), so that a method is its mathematics alone. Adding one edits no other file.
"""

from collections.abc import Iterable

from leadline.core.plugins import Plugins
from leadline.tune.search._driver import Result, Search, Task
from leadline.tune.search._read import SAFETY, load, needed, spaces
from leadline.tune.search._space import Index, Parameter, Settings, Space, Value

__all__ = [
    "SAFETY",
    "Index",
    "Parameter",
    "Result",
    "Search",
    "Settings",
    "Space",
    "Task",
    "Value",
    "load",
    "names",
    "needed",
    "question",
    "spaces",
    "start",
]


_METHODS = Plugins(__name__, "unknown search method {}", {"layers": "coordinate_search"})


def names() -> list[str]:
    """The names of all methods."""
    return _METHODS.names()


def question(name: str) -> str:
    """How the method of that name searches. Raises UsageError for a name that is none."""
    return str(_METHODS.find(name).QUESTION)


def start(
    name: str, space: Space, seed: int = 0, *, repeat: bool = False, known: Iterable[Result] = ()
) -> Search:
    """A search of `space` by the method of that name; UsageError for a name that is none.

    With `repeat`, points may be asked for several times, as many as the method wishes.
    """
    return Search(_METHODS.find(name).search, space, seed, repeat, tuple(known))
