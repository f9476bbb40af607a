"""What tells how good settings are: a command that is run with them, or a model that knows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from leadline.tune.search import Settings, Value

DEFAULT = "default"  # the value that leaves a setting as it is
LATE = "it did not end within"  # begins the reason of a run that took too long


@dataclass(frozen=True)
class Outcome:
    """What came of one run."""

    seconds: float | None  # what is made small; None where the run failed
    reason: str | None = None  # of a failure, one sentence
    wall: float = 0.0  # s, of the whole command
    fingerprint: str | None = None  # of what it did to its files; equal where settings made no difference
    facts: Mapping[str, object] = field(
        default_factory=dict
    )  # what the preloaded library and the program said


class Evaluator(Protocol):
    """Something that runs with settings."""

    exact: bool  # whether the same settings always take the same time

    def facts(self) -> dict[str, object]:
        """What a resumed tuning must have in common with the one that it goes on with."""

    def learn(self, facts: Mapping[str, object]) -> None:
        """Take what the first run of the default told, also one that is played again."""

    def proves(self) -> bool:
        """Whether it is known that every byte of the file is written, so that no fill value is ever seen."""

    def run(self, settings: Settings, limit: float) -> Outcome:
        """One run, for `limit` s at most. A failure is an outcome; LeadlineError: nobody can run it."""


class Simulated:
    """A model in place of runs: `seconds` gives those of some settings, None where they cannot be."""

    exact = True

    def __init__(self, title: str, seconds: Callable[[Settings], float | None]) -> None:
        """`title` says what is simulated where."""
        self.title = title
        self.seconds = seconds

    def facts(self) -> dict[str, object]:
        """The title, and that its times have no noise."""
        return {"command": [], "title": self.title, "exact": True}

    def learn(self, facts: Mapping[str, object]) -> None:
        """Nothing: a model knows."""

    def proves(self) -> bool:
        """Patterns of kernels are written whole."""
        return True

    def run(self, settings: Settings, limit: float) -> Outcome:
        seconds = self.seconds(settings)
        reason = None if seconds is not None else "the model refuses these settings"
        return Outcome(seconds, reason)


def effective(settings: Settings) -> dict[str, Value]:
    """The settings that change anything: without those at `DEFAULT`."""
    return {name: value for name, value in settings.items() if value != DEFAULT}
