"""What a tuning found, out of its journal alone; one that is not finished tells what is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from leadline.tune.io import files as io_files
from leadline.tune.io import journal as io_journal
from leadline.tune.io.analysis import (
    FASTER,
    UNCONFIRMED,
    Gain,
    Noise,
    Weight,
    doubt,
    gained,
    importance,
    noise,
)
from leadline.tune.io.files import Array
from leadline.tune.io.journal import Line
from leadline.tune.io.runner import ALL, BASELINE, END, FINAL, PARTIAL, SCREEN, SEARCH, idle, outcome_of
from leadline.tune.search import Settings


@dataclass
class Trial:
    """A point that was tried."""

    number: int
    settings: Settings
    seconds: list[float] = field(default_factory=list)
    reason: str | None = None  # of its failure

    @property
    def score(self) -> float | None:
        """Its seconds; None where it failed."""
        return None if self.reason or not self.seconds else median(self.seconds)


@dataclass(frozen=True)
class Ablation:
    """Settings that were run in turns with the default, under a name."""

    name: str
    settings: Settings
    gain: Gain | None  # None where a run of it failed, or no turn had both
    reason: str | None = None  # of its last failure


@dataclass(frozen=True)
class Results:
    """A tuning, as far as it is."""

    facts: Line
    runs: int
    default: list[float]  # s, of every run of the default
    noise: Noise | None
    idle: list[str]  # parameters that change nothing that is done to files
    looked_at: list[str]  # all that were looked at
    trials: list[Trial]
    best: Settings | None
    gain: Gain | None  # of the best over the default; None before all pairs are there, and where a run failed
    parts: list[Ablation]
    weights: list[Weight]
    finished: bool
    arrays: tuple[Array, ...] = ()  # that the program creates
    ranks: int = 1
    failure: str | None = None  # of a run of the final comparison, of either
    access_pattern: Mapping[str, Any] | None = None  # what the program writes; None where no run told

    @property
    def verdict(self) -> str:
        """One word or few about the gain."""
        if self.failure is not None:
            return f"a run of the final comparison failed: {self.failure}"
        if self.gain is None:
            if not self.finished:
                return "not finished"
            if not self.trials:
                return "nothing to tune: no setting changes what the program does to its files"
            return "each of the settings tried made the program fail"
        return UNCONFIRMED if self.doubt else self.gain.verdict

    @property
    def doubt(self) -> str | None:
        """Why the final comparison's gain does not stand; None where it stands, or there is none."""
        if self.gain is None:
            return None
        again = next((each.gain for each in self.parts if each.name == "best"), None)
        return doubt(self.gain, self.noise.resolution if self.noise else None, again)

    @property
    def rate(self) -> bool:
        """Whether the objective is a rate that the program prints: `seconds` are its reciprocals then."""
        return self.facts.get("maximize") is not None

    @property
    def layers(self) -> dict[str, str]:
        return dict(self.facts.get("layers", {}))

    @property
    def settings_file(self) -> str | None:
        """The text of the preloaded library's file for the settings found; None where no gain is certain.

        It is empty where they are variables of the environment alone.
        """
        if self.best is None or self.verdict != FASTER:
            return None
        return io_files.toml(self.best, self.layers, self.arrays, self.ranks)


def load(directory: Path) -> Results:
    """The results of a tuning's directory. Raises UsageError where it holds none."""
    facts, lines = io_journal.read(directory)
    return results(facts, lines)


def results(facts: Line, lines: Sequence[Line]) -> Results:
    """The results that lines of a journal tell."""
    finished = bool(_of(lines, END))
    lines = [line for line in lines if line["phase"] != END]
    exact = bool(facts.get("exact"))
    pairs = int(facts.get("options", {}).get("pairs", 10))
    baseline = [line["seconds"] for line in _of(lines, BASELINE) if line["seconds"] is not None]
    default = [line["seconds"] for line in lines if not line["settings"] and line["seconds"] is not None]
    looks = _of(lines, SCREEN)
    first: Line = next((line.get("facts") or {} for line in _of(lines, BASELINE)), {})
    trials = _trials(_of(lines, SEARCH))
    final = _of(lines, FINAL)
    chosen = next((each for each in _parts(final, exact) if each.name == "best"), None)
    failure = next((str(line["reason"]) for line in final if line["seconds"] is None), None)
    whole = finished or bool(_of(lines, PARTIAL)) or len(final) == 2 * pairs
    scored = [(each.settings, score) for each in trials if (score := each.score) is not None]
    if baseline:
        scored.append(({}, median(baseline)))
    return Results(
        facts=facts,
        runs=len(lines),
        default=default,
        noise=noise(baseline, pairs) if baseline else None,
        idle=_idle(_of(lines, BASELINE), looks),
        looked_at=list(dict.fromkeys(line["label"] for line in looks if line["label"] != ALL)),
        trials=trials,
        best=chosen.settings if chosen else None,
        gain=chosen.gain if chosen and whole and failure is None else None,
        parts=[each for each in _parts(_of(lines, PARTIAL), exact) if each.name != "default"],
        weights=importance(scored),
        finished=finished,
        arrays=io_files.arrays_of(first),
        ranks=int(first.get("ranks") or 1),
        failure=failure,
        access_pattern=first.get("motif"),
    )


def _of(lines: Sequence[Line], phase: str) -> list[Line]:
    return [line for line in lines if line["phase"] == phase]


def _idle(baseline: Sequence[Line], looks: Sequence[Line]) -> list[str]:
    """The parameters that did nothing, as far as they were looked at."""
    whole = next((line for line in looks if line["label"] == ALL and line["seconds"] is not None), None)
    if whole is None:
        return []
    looked = [(line["label"], line["settings"], outcome_of(line)) for line in looks if line["label"] != ALL]
    return idle(looked, baseline[0]["fingerprint"], whole["fingerprint"])


def _trials(lines: Sequence[Line]) -> list[Trial]:
    found: dict[str, Trial] = {}
    for line in lines:
        if not line["settings"]:
            continue
        label = line["label"]
        trial = found.setdefault(label, Trial(int(label.rpartition(" ")[2]), line["settings"]))
        if line["seconds"] is None:
            trial.reason = line["reason"]
        else:
            trial.seconds.append(line["seconds"])
    return list(found.values())


def _parts(lines: Sequence[Line], exact: bool) -> list[Ablation]:
    """Each of several settings against the default of the same turn."""
    by_name: dict[str, dict[int, Line]] = {}
    for line in lines:
        by_name.setdefault(line["label"], {})[line["turn"]] = line
    default = by_name.get("default", {})
    found = []
    for name, turns in by_name.items():
        both = [
            (default[turn]["seconds"], line["seconds"])
            for turn, line in sorted(turns.items())
            if turn in default and default[turn]["seconds"] is not None and line["seconds"] is not None
        ]
        failures = [line["reason"] for line in turns.values() if line["seconds"] is None]
        gain = None if failures else gained([one for one, _ in both], [other for _, other in both], exact)
        settings = next(iter(turns.values()))["settings"]
        found.append(Ablation(name, settings, gain, failures[-1] if failures else None))
    return found
