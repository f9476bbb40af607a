"""A tuning from its first run of the default to the last comparison; every run goes through the journal.

The order is: the default several times (and against itself), a look at each parameter, the search with racing
and with the default in between, the best few against each other, the best against the default in turns, and
parts of the best alone and left out. All decisions rest on the answers, so that the journal can play them
again.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from statistics import median
from typing import Any

from leadline.core.errors import LeadlineError
from leadline.tune import search
from leadline.tune.io.analysis import deviation
from leadline.tune.io.evaluator import DEFAULT, LATE, Evaluator, Outcome, effective
from leadline.tune.io.journal import Journal, Line
from leadline.tune.io.parts import parts
from leadline.tune.io.spaces import allowed, without
from leadline.tune.search import Settings, Space, Value

BASELINE, SCREEN, SEARCH, FINALISTS, FINAL, PARTIAL, END = (
    "baseline",
    "screen",
    "search",
    "finalists",
    "final",
    "partial",
    "end",  # of the last line, which is no run: nothing more is to be run
)
ALL = "everything"  # the label of the look at all parameters together
FIRST_LIMIT = 300.0  # s, for the first run, of which nothing is known
SHORTEST_LIMIT = 10.0  # s: a start that is held up once must not count as a hang
SLOWER = 4.0  # times the default's time, after which a candidate is ended: it cannot win
CERTAINLY = 2.5  # deviations by which a candidate must be slower than the best to be given up
LEAST_NOISE = 0.01  # of the logarithm of a time: a few runs that happen to agree prove no less
BETWEEN = 8  # trials from one run of the default to the next
FINALIST_COUNT = 3
ASKED_IN_VAIN = 20  # points that are the same as others, for each of the budget, after which a search ends


@dataclass(frozen=True)
class Options:
    """How much is run."""

    budget: int = 40  # trials: settings that are tried
    method: str = "gp"
    seed: int = 1
    baselines: int = 8
    repeats: int = 3  # runs of a trial that may still win
    rounds: int = 4  # of the finalists
    pairs: int = 10  # of the final comparison
    parts: int = 6  # rounds of partial tuning: as many as an interval of 95 % takes
    limit: float | None = None  # s, of one run; None: by the default's time
    proven: bool = True  # of what a reader may see of unwritten data only where all is seen to be written


@dataclass(frozen=True)
class Progress:
    """How far a tuning is."""

    phase: str
    done: int
    of: int
    best: float | None  # speed-up over the default so far, as trials say


@dataclass(frozen=True)
class Step:
    """A run's place in a tuning; runs of the same turn of a phase are neighbours in time."""

    phase: str
    label: str
    done: int
    of: int
    turn: int = 0


@dataclass
class _Trial:
    """A point that was tried: what it sets, and the seconds of its runs."""

    settings: dict[str, Value]
    seconds: list[float] = field(default_factory=list)
    failed: bool = False

    @property
    def score(self) -> float | None:
        """Its seconds; None where it failed."""
        return None if self.failed or not self.seconds else median(self.seconds)


class Tuning:
    """One tuning; `run` does it all and returns nothing: the journal has every answer."""

    def __init__(
        self,
        evaluator: Evaluator,
        space: Space,
        journal: Journal,
        options: Options,
        show: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """`show` is told after each run."""
        self.evaluator = evaluator
        self.space = space
        self.journal = journal
        self.options = options
        self.show = show
        self.random = random.Random(options.seed)
        self.default: list[float] = []  # s, of every run of the default
        self.walls: list[float] = []  # s, of the whole commands of those
        self.trials: dict[tuple[tuple[str, Value], ...], _Trial] = {}
        self.fingerprint: str | None = None  # of the default

    def run(self) -> None:
        """Everything; LeadlineError where the program does not run as it is."""
        self._runs()
        end: Line = {"phase": END, "label": END, "turn": 0, "settings": {}}
        if self.journal.answered(end) is None:
            self.journal.append({**end, "seconds": None})

    def _runs(self) -> None:
        """Every run, in the order of the phases."""
        self._baselines()
        self._screen()
        self._search()
        best = self._finalists()
        if best is None:
            return
        self._in_turns(
            FINAL, {"default": {}, "best": best}, 1 if self.evaluator.exact else self.options.pairs
        )
        variants = {"default": {}, "best": best, **parts(self.space, best)}
        self._in_turns(PARTIAL, variants, 1 if self.evaluator.exact else self.options.parts)

    # ----------------------------------------------------------------------------------------- single runs

    def _once(self, step: Step, settings: Settings) -> Outcome:
        """One run, out of the journal or really."""
        key = {"phase": step.phase, "label": step.label, "turn": step.turn, "settings": dict(settings)}
        line = self.journal.answered(key)
        if line is None:
            began = datetime.now(UTC)
            outcome = self.evaluator.run(settings, self._limit())
            line = {**key, **asdict(outcome), "at": began.isoformat(timespec="milliseconds")}
            self.journal.append(line)
        outcome = outcome_of(line)
        if not settings and outcome.seconds is not None:
            self.default.append(outcome.seconds)
            self.walls.append(outcome.wall)
        self.show(Progress(step.phase, step.done, step.of, self._gain()))
        return outcome

    def _limit(self) -> float:
        """How long, in s, a run may take now."""
        if self.options.limit is not None:
            return self.options.limit
        return max(SHORTEST_LIMIT, SLOWER * max(self.walls)) if self.walls else FIRST_LIMIT

    def _gain(self) -> float | None:
        """The speed-up of the best trial so far."""
        scores = [score for each in self.trials.values() if (score := each.score) is not None]
        return median(self.default) / min(scores) if scores and self.default else None

    # ---------------------------------------------------------------------------------------------- phases

    def _baselines(self) -> None:
        """The default; a program that fails without any settings cannot be tuned."""
        count = 1 if self.evaluator.exact else self.options.baselines
        for place in range(count):
            outcome = self._once(Step(BASELINE, "default", place + 1, count), {})
            if outcome.seconds is None:
                # The reason may be the end of what the program printed.
                why = (outcome.reason or "no reason is known").rstrip(" .:;,")
                raise LeadlineError(
                    f"the program fails with its default settings: {why}; {self._remedy(outcome)}"
                )
            if place == 0:
                self.fingerprint = outcome.fingerprint
                self.evaluator.learn(outcome.facts)
                if outcome.facts.get("met") is False:
                    raise LeadlineError(
                        "there is nothing to tune: the program opened no file through HDF5 or MPI-IO; see "
                        "'leadline io doctor PROGRAM'"
                    )
            elif outcome.fingerprint != self.fingerprint:
                self.fingerprint = None  # it does not do the same twice: nothing can be told by that
        if self.options.proven and not self.evaluator.proves():
            self.space = allowed(self.space, "layout")

    def _remedy(self, outcome: Outcome) -> str:
        """What would do where the default fails."""
        if self.options.limit is None and (outcome.reason or "").startswith(LATE):
            return "tune again into another directory, with --limit SECONDS"
        return "correct that, and tune again into another directory"

    def _screen(self) -> None:
        """Look at each parameter: what changes nothing that is done to files is left out.

        Each is set alone, and left out where all others are set: a setting may matter only beside another.
        """
        if self.fingerprint is None:
            return
        for place in (-1, 0):
            full = everything(self.space, place)
            whole = self._once(Step(SCREEN, ALL, 1, 1), full)
            if whole.seconds is not None:
                break
        else:
            return
        looks = list(looks_at(self.space, full))
        looked = [
            (name, settings, self._once(Step(SCREEN, name, done, len(looks)), settings))
            for done, (name, settings) in enumerate(looks, 1)
        ]
        self.space = without(self.space, set(idle(looked, self.fingerprint, whole.fingerprint)))

    def _search(self) -> None:
        """Trials until the budget is spent or there is nothing more to ask."""
        if not self.space.parameters:
            return
        method = search.start(self.options.method, self.space, self.options.seed)
        vain = 0
        while len(self.trials) < self.options.budget and vain < ASKED_IN_VAIN * self.options.budget:
            asked = method.ask()
            if asked is None:
                return
            settings = effective(asked)
            key = tuple(sorted(settings.items()))
            if not settings:
                method.tell(asked, median(self.default))
                vain += 1
            elif key in self.trials:
                method.tell(asked, self.trials[key].score)
                vain += 1
            else:
                method.tell(asked, self._trial(key, settings).score)

    def _trial(self, key: tuple[tuple[str, Value], ...], settings: dict[str, Value]) -> _Trial:
        """Race one point: it is run again only as long as it may still be the best."""
        made = _Trial(settings)
        done = len(self.trials) + 1
        if done % BETWEEN == 0 and not self.evaluator.exact:
            self._once(Step(SEARCH, "default", done - 1, self.options.budget), {})
        scores = [score for each in self.trials.values() if (score := each.score) is not None]
        best = min([median(self.default), *scores])
        worst = best * (1 + CERTAINLY * max(LEAST_NOISE, deviation(self.default)))
        for _ in range(1 if self.evaluator.exact else self.options.repeats):
            outcome = self._once(Step(SEARCH, f"trial {done}", done, self.options.budget), settings)
            if outcome.seconds is None:
                made.failed = True
                break
            made.seconds.append(outcome.seconds)
            if outcome.seconds > worst:
                break
        self.trials[key] = made
        return made

    def _finalists(self) -> dict[str, Value] | None:
        """The best of the few best, judged by runs in which none was chosen for its luck."""
        good = [each for each in self.trials.values() if each.score is not None]
        first = sorted(good, key=lambda each: each.score or 0.0)[:FINALIST_COUNT]
        if not first:
            return None
        if len(first) == 1 or self.evaluator.exact:
            return first[0].settings
        named = {
            "default": {},
            **{f"finalist {place + 1}": each.settings for place, each in enumerate(first)},
        }
        seconds = self._in_turns(FINALISTS, named, self.options.rounds)
        rounds = self.options.rounds  # what fails at times is not chosen
        ran = {name: each for name, each in seconds.items() if name != "default" and len(each) == rounds}
        if not ran:
            return None
        return dict(named[min(ran, key=lambda name: median(ran[name]))])

    def _in_turns(self, phase: str, named: Mapping[str, Settings], rounds: int) -> dict[str, list[float]]:
        """Run each of several settings once a round, in a new order each time; their seconds."""
        seconds: dict[str, list[float]] = {name: [] for name in named}
        of = rounds * len(named)
        for turn in range(rounds):
            order = list(named)
            self.random.shuffle(order)
            for place, name in enumerate(order):
                step = Step(phase, name, turn * len(order) + place + 1, of, turn)
                outcome = self._once(step, named[name])
                if outcome.seconds is not None:
                    seconds[name].append(outcome.seconds)
        return seconds


def everything(space: Space, place: int) -> dict[str, Value]:
    """Each parameter set: to its last value, or for place 0 to the first that is not the default."""
    own = [[value for value in each.values if value != DEFAULT] for each in space.axes]
    index = tuple(each.values.index(some[place]) for each, some in zip(space.axes, own, strict=True))
    return effective(space.settings(space.canonical(index)))


def looks_at(space: Space, full: Settings) -> Iterator[tuple[str, dict[str, Value]]]:
    """Each parameter left out of everything, and each alone at its first and its last value."""
    for each in space.axes:
        if each.name in full:
            yield each.name, {name: value for name, value in full.items() if name != each.name}
        values = [value for value in each.values if value != DEFAULT]
        for value in dict.fromkeys((*values[:1], *values[-1:])):
            needed = {name: wanted[0] for name, wanted in each.when.items()}
            yield each.name, effective({**needed, each.name: value})


def idle(
    looked: Iterable[tuple[str, Settings, Outcome]], default: str | None, whole: str | None
) -> list[str]:
    """The parameters that did nothing: alone as the default does, left out as everything together does.

    `default` and `whole` are the fingerprints of those two; `looked` has each parameter looked at, what was
    set, and what came of it.
    """
    same: dict[str, bool] = {}
    for name, settings, came in looked:
        alike = came.seconds is not None and came.fingerprint == (default if name in settings else whole)
        same[name] = same.get(name, True) and alike
    return [name for name, alike in same.items() if alike]


def outcome_of(line: Mapping[str, Any]) -> Outcome:
    """The outcome that a line of the journal tells."""
    taken: dict[str, Any] = {name: line.get(name) for name in ("seconds", "reason", "wall", "fingerprint")}
    return Outcome(**taken, facts=line.get("facts") or {})
