"""What a tuning says and leaves: settings where a gain is certain, nothing else; reading writes nothing."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.cli.io.tune import _conclude
from leadline.core.paths import mount
from leadline.report import write_tuning
from leadline.report.tuning import verdict
from leadline.tune.io import log as io_log
from leadline.tune.io import output as io_output
from leadline.tune.io import patterns as io_patterns
from leadline.tune.io import results as io_results
from leadline.tune.io.evaluator import Outcome
from leadline.tune.search import Settings

from .test_io_runner import SMALL, Fake, tuned


def certain(path: Path, gain: float = 8.0) -> io_results.Results:
    """A tuning without noise, whose best settings are so many times as fast."""
    return tuned(path, Fake(gain=gain, noise=0.001))


def files(directory: Path) -> dict[str, bytes]:
    """What a directory holds."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_a_certain_gain_is_written_and_shown(tmp_path: Path) -> None:
    """The page has the text of the file."""
    found = certain(tmp_path / "t")
    paths = io_output.write(found, tmp_path / "t")
    assert paths[0].read_text() == found.settings_file
    page = write_tuning(found, "t", tmp_path / "t.html").read_text()
    assert "The file for the preloaded library" in page
    assert "[hdf5]" in page


def test_where_there_is_no_gain_no_file_is_spoken_of(tmp_path: Path) -> None:
    """None is written, and the page does not say that one is there."""
    found = tuned(tmp_path / "t", Fake(gain=1.0, noise=0.1))
    assert found.settings_file is None
    assert io_output.write(found, tmp_path / "t") == []
    page = write_tuning(found, "t", tmp_path / "t.html").read_text()
    assert "no file of settings is written" in page
    assert "The file for the preloaded library" not in page


def test_what_is_certainly_slower_is_called_so(tmp_path: Path) -> None:
    """Every setting costs half as much again: that is no gain, and more than the lack of one."""

    class Slow(Fake):
        def run(self, settings: Settings, limit: float) -> Outcome:
            outcome = super().run(settings, limit)
            if not settings or outcome.seconds is None:
                return outcome
            return replace(outcome, seconds=1.5 * outcome.seconds)

    found = tuned(tmp_path / "t", Slow(gain=1.0, noise=0.001))
    assert found.verdict == "slower"
    assert "certainly slower" in verdict(found)
    assert "No significant gain" not in verdict(found)
    assert io_output.write(found, tmp_path / "t") == []


def test_few_pairs_are_told_with_what_they_reach(tmp_path: Path) -> None:
    """Four pairs reach 88 %, which certifies nothing, however far from 1 they are."""
    found = tuned(tmp_path / "t", Fake(noise=0.001), replace(SMALL, pairs=4))
    assert found.settings_file is None
    assert verdict(found).startswith("Too few pairs to tell: 8")
    assert "at 88 %" in verdict(found)


def test_a_page_of_a_tuning_only_reads_it(tmp_path: Path) -> None:
    """`leadline report` leaves a tuning as it is, also one whose files were taken away or changed."""
    where = tmp_path / "t"
    found = certain(where)
    io_output.write(found, where)
    (where / "settings.toml").write_text("# mine now\n")
    (where / "prolog.sh").unlink()
    before = files(where)
    result = CliRunner().invoke(main, ["report", str(where), "-o", str(tmp_path / "page.html")])
    assert result.exit_code == 0, result.output
    assert files(where) == before


RECORD = [
    {"kind": "library", "process": 1, "rank": 0, "hdf5": "1.10.8"},
    {"kind": "dataset", "process": 1, "rank": 3, "file": "a.h5", "dataset": "/x", "lengths": [8]},
    {
        "kind": "observed",
        "process": 1,
        "rank": 3,
        "writes": 7,
        "bytes_written": 2**40,
        "write_sizes": {"77": 7},
    },
]


class Traced(Fake):
    """One whose first run told what it writes."""

    def run(self, settings: Settings, limit: float) -> Outcome:
        """With the facts of a record."""
        seen = io_log.Seen(tuple(RECORD))
        return replace(super().run(settings, limit), facts=seen.facts(settings))


@pytest.mark.parametrize(("gain", "known"), [(8.0, True), (1.0, False)])
def test_advice_has_what_was_found_with_a_certain_gain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gain: float, known: bool
) -> None:
    """Without being told where; once, however often a tuning ends."""
    monkeypatch.setattr(io_patterns, "database", lambda: tmp_path / "state" / "motifs.sqlite")
    found = tuned(tmp_path / "t", Traced(gain=gain, noise=0.02))
    for _ in range(2):
        assert io_output.remember(found, "t", io_patterns.database()) == known
    log = tmp_path / "log.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in RECORD))
    said = CliRunner().invoke(main, ["io", "advise", str(log), "--json"], catch_exceptions=False).output
    told = json.loads(said)
    assert ("fake, t" in [each["source"] for each in told]) == known
    if known:
        assert (told[0]["source"], told[0]["distance"]) == ("fake, t", 0)
        assert found.best is not None  # no rank of the record used MPI-IO, so that its hints are no advice
        assert told[0]["settings"] == {name: v for name, v in found.best.items() if name != "cb_nodes"}
        assert told[0]["speedup"] == pytest.approx(8, rel=0.1)
        assert told[1]["source"] != "fake, t"


def test_a_simulated_gain_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It tells of a model."""
    monkeypatch.setattr(io_patterns, "database", lambda: tmp_path / "motifs.sqlite")
    words = ["--kernel", "vpic", "--on", "hopper", "--ranks", "128", "--search", "random", "--budget", "9"]
    result = CliRunner().invoke(main, ["tune", "io", *words, "-o", str(tmp_path / "t")])
    assert result.exit_code == 0, result.output
    assert "as fast as the default" in result.output
    assert (tmp_path / "t" / "settings.toml").exists()
    assert not io_patterns.database().exists()


def test_an_answer_that_cannot_be_kept_is_told_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files are written and the verdict is printed; one more line says why advice will not have it."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(io_patterns, "database", lambda: tmp_path / "file" / "motifs.sqlite")
    tuned(tmp_path / "t", Traced(noise=0.001))
    _conclude(tmp_path / "t")
    said = capsys.readouterr()
    assert "as fast as the default" in said.out
    assert "cannot keep the access pattern" in said.err
    assert (tmp_path / "t" / "settings.toml").exists()


@pytest.mark.parametrize("gain", [8.0, 1.0])
def test_the_last_lines_are_the_answer(tmp_path: Path, gain: float) -> None:
    """The verdict names the speed-up in either case."""
    assert "as fast as the default" in verdict(certain(tmp_path / "t", gain))


def test_the_page_names_the_software_and_the_file_system(tmp_path: Path) -> None:
    """Versions from the record of the runs, the mount point from the directory that was written to."""
    found = certain(tmp_path / "t")
    where = mount(tmp_path)
    assert tmp_path.resolve().is_relative_to(where["mount"])
    access_pattern = {"hdf5": "1.10.8", "mpi": "MPICH 4.0.2"}
    known = replace(found, access_pattern=access_pattern, facts={**found.facts, "storage": where})
    page = write_tuning(known, "t", tmp_path / "t.html").read_text()
    for text in ("1.10.8", "MPICH 4.0.2", f"{where['type']} at {where['mount']}"):
        assert text in page
