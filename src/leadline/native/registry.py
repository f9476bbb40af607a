"""What benchmarks exist: their questions, sweeps and metrics, as the native code declares them.

The declarations live in `native/benchmarks/`, one file each; this module asks the built program for them, so
nothing about a benchmark is written twice.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any

from leadline.core.errors import LeadlineError, UsageError
from leadline.core.values import Value, counts, sizes, words

LIBRARY = "library"  # the choice of a library, among the names of algorithms


@dataclass(frozen=True)
class Sweep:
    """A coordinate of a benchmark's points, with the values it takes when the plan names none."""

    name: str
    unit: str  # "B" for sizes, "s" for times, "1" for counts and words
    kind: str  # "bytes", "count" or "choice"
    default: tuple[Value, ...]
    help: str
    choices: tuple[str, ...] = ()  # all the words that a "choice" may take; empty where any word may stand
    pattern: str = ""  # what such words look like, a regular expression; empty where that is not told

    def read(self, value: object) -> tuple[Value, ...]:
        """The values that a plan gives this sweep, from TOML; UsageError for what it cannot take."""
        if self.kind == "choice":
            return words(self.choices, self._check_word)(value)
        return {"bytes": sizes, "count": counts}[self.kind](value)

    def _check_word(self, value: str) -> None:
        """UsageError for a word that does not look like those of the sweep."""
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise UsageError(f"unknown word {value!r}; this is {self.help}")


@dataclass(frozen=True)
class Metric:
    """What a benchmark measures, in which SI unit, and which way is good."""

    name: str
    unit: str
    better: str  # "lower" or "higher"
    description: str
    difference: bool = False  # of two measured times: one sample may fall below zero


@dataclass(frozen=True)
class Benchmark:
    """One question, the points at which it can be asked, and what the answer is made of."""

    name: str
    question: str
    min_ranks: int
    max_ranks: int | None  # None: as many as there are
    sweeps: tuple[Sweep, ...]
    metrics: tuple[Metric, ...]


@dataclass(frozen=True)
class SweepContext:
    """What the default values of sweeps may depend on.

    `per_node` is how many ranks a node has cores for (None: for all of them), `hops` how far apart the
    farthest nodes are; 0 where the machine tells no hops.
    """

    ranks: int = 2
    per_node: int | None = None
    hops: int = 0


def parse(described: list[dict[str, Any]]) -> dict[str, Benchmark]:
    """The registry from the list that `leadline-describe` prints."""
    return {
        each["name"]: Benchmark(
            name=each["name"],
            question=each["question"],
            min_ranks=each["min_ranks"],
            max_ranks=each["max_ranks"],
            sweeps=tuple(
                Sweep(**{**s, "default": tuple(s["default"]), "choices": tuple(s["choices"])})
                for s in each["sweeps"]
            ),
            metrics=tuple(Metric(**m) for m in each["metrics"]),
        )
        for each in described
    }


@cache
def benchmarks(sweep_context: SweepContext = SweepContext()) -> dict[str, Benchmark]:
    """Every benchmark by name; the default values of sweeps are those for the sweep_context.

    Raises LeadlineError when the native code cannot be built or does not describe itself.
    """
    from leadline.native.build import build_describe  # noqa: PLC0415  (asks for a compiler only when it is needed)

    program = build_describe()
    asked = {
        "--ranks": sweep_context.ranks,
        "--per-node": sweep_context.per_node or sweep_context.ranks,
        "--hops": sweep_context.hops,
    }
    try:
        answer = subprocess.run(
            [program, *(str(word) for option in asked.items() for word in option)],
            check=True,
            capture_output=True,
            text=True,
            timeout=30,
        )
        return parse(json.loads(answer.stdout))
    except (subprocess.SubprocessError, OSError, ValueError, KeyError) as problem:
        raise LeadlineError(
            f"{program} does not describe its benchmarks ({problem}); run 'make clean' and build again"
        ) from problem


def algorithms(operation: str) -> list[str]:
    """The algorithms of a collective operation, by their names; raises LeadlineError as `benchmarks`."""
    sweeps = benchmarks()[operation].sweeps
    return [word for each in sweeps if each.name == "algorithm" for word in each.choices if word != LIBRARY]


def declared() -> list[dict[str, str]]:
    """Names and questions of the benchmarks where that takes no compiler: none where nothing is built yet."""
    from leadline.native.build import is_built  # noqa: PLC0415

    try:
        known = benchmarks() if is_built(None) else {}
    except LeadlineError:
        return []
    return [{"name": each.name, "question": each.question} for each in known.values()]
