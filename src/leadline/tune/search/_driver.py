"""A search under way: what was asked, what was told, and the method's generator between them."""

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from leadline.core.errors import LeadlineError, UsageError
from leadline.tune.search._space import Index, Settings, Space

Steps = Generator[list[Index], list[float], None]


@dataclass(frozen=True)
class Result:
    """A point that was evaluated: its settings, and the seconds it took; None where it failed."""

    settings: Settings
    seconds: float | None


@dataclass(frozen=True)
class Task:
    """What a method has to go by: the space, its own random numbers, and what was known beforehand.

    `known` has the seconds of points, infinite for failures; `repeat` says whether asking twice is answered
    by a new evaluation. Without it the same answer comes again, so that a method which asks for known points
    for ever would never end.
    """

    space: Space
    rng: np.random.Generator
    known: dict[Index, float]
    repeat: bool


class Search:
    """A method on a space; see the package's docstring for what `ask` and `tell` promise."""

    def __init__(
        self,
        method: Callable[[Task], Steps],
        space: Space,
        seed: int,
        repeat: bool,
        known: tuple[Result, ...],
    ) -> None:
        """A search that has asked nothing; UsageError for known results that are no points of the space."""
        self.space = space
        self.repeat = repeat
        self.told: list[Result] = []
        self._first: dict[Index, float] = {}  # the first answer to each point, told or known
        for each in known:
            self._first.setdefault(space.index(each.settings), _seconds(each.seconds))
        self._known = list(known)
        self._task = Task(space, np.random.default_rng(seed), dict(self._first), repeat)
        self._steps = method(self._task)
        self._batch: list[Index] = []
        self._answers: list[float | None] = []  # to the batch, None where there is none yet
        self._asked: list[bool] = []
        self._early: dict[
            Index, list[float]
        ] = {}  # with `repeat`: told and not yet asked for, as in a replay
        self._begun = self._over = False

    @property
    def finished(self) -> bool:
        """Whether the method has nothing more to ask, whatever it is told."""
        self._advance()
        return self._over

    @property
    def best(self) -> Result | None:
        """The fastest result told or known that did not fail; the mean of several of one point."""
        times: dict[Index, list[float]] = {}
        for each in (*self._known, *self.told):
            if each.seconds is not None:
                times.setdefault(self.space.index(each.settings), []).append(each.seconds)
        if not times:
            return None
        index = min(times, key=lambda one: sum(times[one]) / len(times[one]))
        return Result(self.space.settings(index), sum(times[index]) / len(times[index]))

    def ask(self) -> dict[str, int | str | bool] | None:
        """Settings to evaluate; None where there is nothing to ask now (see `finished`)."""
        self._advance()
        for place, index in enumerate(self._batch):
            if self._answers[place] is None and not self._asked[place]:
                self._asked[place] = True
                if not self.space.valid(index):
                    raise LeadlineError(f"a search method asked for {index}, no point of {self.space.name}")
                return self.space.settings(index)
        return None

    def tell(self, settings: Settings, seconds: float | None) -> None:
        """What came of some settings: their seconds, or None for a failure.

        Raises UsageError for settings that are no point of the space and for seconds of nothing or less.
        """
        if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
            raise UsageError(f"a run takes more than 0 s, but got {seconds}; a failure is told as None")
        index, worth = self.space.index(settings), _seconds(seconds)
        self.told.append(Result(dict(settings), seconds))
        self._first.setdefault(index, worth)
        for place, each in enumerate(self._batch):
            if each == index and self._answers[place] is None:
                self._answers[place] = worth
                if self.repeat:
                    return
        if self.repeat:
            self._early.setdefault(index, []).append(worth)

    def _advance(self) -> None:
        """Let the method go on while everything that it asked for is answered."""
        while not self._over:
            self._look_up()
            if self._begun and any(answer is None for answer in self._answers):
                return
            try:
                if self._begun:
                    answers = [answer for answer in self._answers if answer is not None]
                    self._batch = self._steps.send(answers)
                else:
                    self._begun, self._batch = True, next(self._steps)
            except StopIteration:
                self._over, self._batch = True, []
            self._answers = [None] * len(self._batch)
            # A point that stands in a batch twice is evaluated once, unless repetition is wished.
            self._asked = [
                not self.repeat and index in self._batch[:place] for place, index in enumerate(self._batch)
            ]

    def _look_up(self) -> None:
        """Answer what was told before it was asked for."""
        for place, index in enumerate(self._batch):
            if self._answers[place] is None:
                if not self.repeat:
                    self._answers[place] = self._first.get(index)
                elif self._early.get(index) and not self._asked[place]:
                    self._answers[place] = self._early[index].pop(0)


def _seconds(seconds: float | None) -> float:
    """Seconds as methods see them: infinite for a failure."""
    return math.inf if seconds is None else seconds
