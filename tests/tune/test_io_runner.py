"""The order of a tuning, its racing and its answers, on evaluators whose every time is known."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leadline.core.errors import LeadlineError
from leadline.tune.io import journal as io_journal
from leadline.tune.io import results as io_results
from leadline.tune.io.evaluator import Outcome
from leadline.tune.io.journal import Journal
from leadline.tune.io.runner import Options, Tuning, idle
from leadline.tune.search import Parameter, Settings, Space

SPACE = Space(
    "small",
    "a small space",
    (
        Parameter("chunk", "hdf5", "word", ("default", "blocks", "slabs", "rows"), safety="layout"),
        Parameter("fill_time", "hdf5", "word", ("default", "never"), safety="semantics"),
        Parameter("cb_nodes", "mpi-io", "count", (1, 2, 4)),
        Parameter("idle", "mpi-io", "count", (1, 2)),
    ),
)
SMALL = Options(budget=20, method="random", pairs=8, parts=4)


class Fake:
    """Blocks with fill never are eight times as fast, alone not at all; rows fail; noise of some percent."""

    exact = False

    def __init__(self, gain: float = 8.0, noise: float = 0.02, ends_after: int | None = None) -> None:
        """`ends_after` runs it is killed, as a machine that goes down."""
        self.gain, self.noise, self.ends_after = gain, noise, ends_after
        self.random = random.Random(5)
        self.runs = 0

    def facts(self) -> dict[str, Any]:
        """A title."""
        return {"command": ["fake"], "title": "fake"}

    def learn(self, facts: Mapping[str, Any]) -> None:
        """Nothing."""

    def proves(self) -> bool:
        """Everything is written."""
        return True

    def run(self, settings: Settings, limit: float) -> Outcome:
        """What is known of the settings, with noise."""
        if self.runs == self.ends_after:
            raise KeyboardInterrupt
        self.runs += 1
        if settings.get("chunk") == "rows":
            return Outcome(None, "exit status 3: planted")
        fast = settings.get("chunk") == "blocks" and settings.get("fill_time") == "never"
        seconds = (1 / self.gain if fast else 1.0) * self.random.lognormvariate(0, self.noise)
        shown = {name: value for name, value in settings.items() if name != "idle"}
        return Outcome(seconds, None, seconds, json.dumps(shown, sort_keys=True))


def tuned(path: Path, fake: Fake, options: Options = SMALL) -> io_results.Results:
    """A tuning from its beginning, or gone on with, to its end."""
    facts = {**fake.facts(), "options": vars(options)}
    journal = Journal.reopen(path) if path.exists() else Journal.create(path, facts)
    with journal:
        Tuning(fake, SPACE, journal, options).run()
    return io_results.load(path)


def test_it_finds_two_settings_that_matter_together_only(tmp_path: Path) -> None:
    """The gain, its interval round the truth, and that neither of the two has it alone."""
    found = tuned(tmp_path / "t", Fake())
    assert found.gain
    assert found.gain.low < 8 * 1.02
    assert found.gain.high > 8 * 0.98
    assert found.verdict == "faster"
    assert found.best
    assert found.best["chunk"] == "blocks"
    parts = {each.name: each.gain for each in found.parts}
    alone = parts["only chunk"]
    assert alone
    assert alone.high < 1.2
    assert found.idle == ["idle"]
    assert not any("idle" in trial.settings for trial in found.trials)
    assert any(trial.reason == "exit status 3: planted" for trial in found.trials)


def test_where_nothing_matters_it_says_so(tmp_path: Path) -> None:
    """Noise of 10 % and no gain at all: the luckiest trial is not believed."""
    found = tuned(tmp_path / "t", Fake(gain=1.0, noise=0.1))
    assert found.verdict == "no significant gain"
    assert found.gain
    assert found.gain.low < 1 < found.gain.high


def test_idle_is_what_changes_nothing_alone_nor_left_out() -> None:
    """As the search leaves it out and as the page tells it; a look that failed shows nothing."""

    def looked(name: str, alone: bool, fingerprint: str, seconds: float | None = 1.0) -> Any:
        settings: Settings = {name: 1} if alone else {"other": 1}
        return name, settings, Outcome(seconds, None, 1.0, fingerprint)

    looks = [
        *(looked("idle", False, "whole"), looked("idle", True, "default")),
        *(looked("matters", False, "another"), looked("matters", True, "default")),
        *(looked("alone", False, "whole"), looked("alone", True, "another")),
        *(looked("failed", False, "whole"), looked("failed", True, "default", None)),
    ]
    assert idle(looks, "default", "whole") == ["idle"]


def test_the_page_and_the_search_leave_out_the_same(tmp_path: Path) -> None:
    """Also where the first look at everything failed and another one did not."""
    evaluator = Fake()
    with Journal.create(tmp_path / "t", {**evaluator.facts(), "options": vars(SMALL)}) as journal:
        tuning = Tuning(evaluator, SPACE, journal, SMALL)
        tuning.run()
    found = io_results.load(tmp_path / "t")
    left = {each.name for each in tuning.space.parameters}
    assert {each.name for each in SPACE.parameters} - left == set(found.idle) == {"idle"}


def test_a_bad_trial_is_run_once(tmp_path: Path) -> None:
    """Those eight times as slow as the best known are given up after one run, the best is not."""
    found = tuned(tmp_path / "t", Fake(noise=0.001))
    runs = [len(trial.seconds) for trial in found.trials if not trial.reason]
    assert 1 in runs
    assert max(runs) == SMALL.repeats


@pytest.mark.parametrize("ends_after", [0, 3, 9, 30, 60, 100])
def test_one_that_was_killed_goes_on_where_it_was(tmp_path: Path, ends_after: int) -> None:
    """Nothing is run twice, and the journal is that of a tuning which was never killed."""
    whole = Fake(noise=0.0)
    tuned(tmp_path / "whole", whole)
    first = Fake(noise=0.0, ends_after=ends_after)
    with pytest.raises(KeyboardInterrupt):
        tuned(tmp_path / "t", first)
    with (tmp_path / "t" / io_journal.NAME).open("a") as file:
        file.write('{"phase": "sea')  # a line that was not finished
    second = Fake(noise=0.0)
    tuned(tmp_path / "t", second)
    assert first.runs + second.runs == whole.runs
    lines = [[{**line, "at": ""} for line in io_journal.read(tmp_path / name)[1]] for name in ("whole", "t")]
    assert lines[0] == lines[1]


def test_a_program_that_fails_as_it_is_ends_at_once(tmp_path: Path) -> None:
    """One run, one sentence, and the journal has it."""

    class Broken(Fake):
        def run(self, settings: Settings, limit: float) -> Outcome:
            self.runs += 1
            return Outcome(None, "exit status 2: no such input:;")

    broken = Broken()
    with pytest.raises(LeadlineError, match="exit status 2: no such input; correct"):
        tuned(tmp_path / "t", broken)
    assert broken.runs == 1
    assert len(io_journal.read(tmp_path / "t")[1]) == 1


def test_settings_that_fail_at_times_have_no_gain(tmp_path: Path) -> None:
    """Fast where they run, and one run of the final comparison fails: that is the answer."""

    class Flaky(Fake):
        def run(self, settings: Settings, limit: float) -> Outcome:
            lines = io_journal.read(tmp_path / "t")[1]
            if settings and sum(line["phase"] == "final" for line in lines) in (6, 7):  # of the fourth pair
                return Outcome(None, "the data are wrong")
            return super().run(settings, limit)

    found = tuned(tmp_path / "t", Flaky())
    assert found.gain is None
    assert found.finished
    assert found.verdict == "a run of the final comparison failed: the data are wrong"


def test_what_fails_in_a_round_is_no_finalist_that_wins(tmp_path: Path) -> None:
    """Blocks are the fastest by far, and run in trials only."""

    class Tired(Fake):
        def run(self, settings: Settings, limit: float) -> Outcome:
            outcome = super().run(settings, limit)
            turns = [
                line["turn"] for line in io_journal.read(tmp_path / "t")[1] if "finalist" in line["label"]
            ]
            fast = outcome.seconds is not None and outcome.seconds < 0.5
            return Outcome(None, "exit status 9") if fast and turns else outcome

    options = replace(SMALL, budget=40)
    found = tuned(tmp_path / "t", Tired(), options)
    lines = io_journal.read(tmp_path / "t")[1]
    assert any(line["phase"] == "finalists" and line["reason"] == "exit status 9" for line in lines)
    assert found.best is None or (found.best.get("chunk"), found.best.get("fill_time")) != ("blocks", "never")
    assert found.finished


def test_a_part_of_the_final_comparison_has_no_gain(tmp_path: Path) -> None:
    """Until all pairs are there it is not finished; the last line is no run."""
    whole = Fake(noise=0.0)
    found = tuned(tmp_path / "t", whole)
    facts, lines = io_journal.read(tmp_path / "t")
    assert lines[-1]["phase"] == "end"
    assert found.runs == whole.runs == len(lines) - 1
    last = max(place for place, line in enumerate(lines) if line["phase"] == "final")
    cut = io_results.results(facts, lines[:last])
    assert cut.gain is None
    assert cut.verdict == "not finished"
    assert io_results.results(facts, lines[: last + 1]).verdict == "faster"


def test_where_nothing_runs_but_the_default_it_is_finished(tmp_path: Path) -> None:
    """Every trial fails: so it is said, and it is not asked for more."""

    class Stubborn(Fake):
        def run(self, settings: Settings, limit: float) -> Outcome:
            return Outcome(None, "exit status 1") if settings else super().run(settings, limit)

    found = tuned(tmp_path / "t", Stubborn())
    assert found.finished
    assert "made the program fail" in found.verdict


def test_two_processes_do_not_share_a_journal(tmp_path: Path) -> None:
    """The second is refused while the first has it."""
    with (
        Journal.create(tmp_path / "t", {"command": []}),
        pytest.raises(LeadlineError, match="another process"),
    ):
        Journal.reopen(tmp_path / "t")


def test_the_page_shows_what_was_found(tmp_path: Path) -> None:
    """Default, best, interval and partial tuning stand on it."""
    from leadline.report import write_tuning  # noqa: PLC0415

    found = tuned(tmp_path / "t", Fake())
    page = write_tuning(found, "t", tmp_path / "t.html").read_text()
    for words in (
        "times as fast as the default",
        "only chunk",
        "all but fill_time",
        "trial",
        "Without any effect",
    ):
        assert words in page
