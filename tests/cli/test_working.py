"""A person at a terminal is told what goes on once it takes a while; nobody else is told anything."""

import io
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from analysis.fits.known import loggp
from leadline.cli import _working, main
from leadline.cli._working import working
from leadline.mpi import install
from leadline.native import registry
from leadline.run import store
from leadline.targets.local import doctor


class Terminal(io.StringIO):
    """A standard error that is a terminal."""

    def isatty(self) -> bool:
        """It is."""
        return True


def a_terminal(monkeypatch: pytest.MonkeyPatch, delay: float = 0.0) -> Terminal:
    """The standard error, as a terminal that can move its cursor.

    No fixture: pytest sets its own standard error again before each test's call.
    """
    monkeypatch.setattr(_working, "DELAY", delay)
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    return made


def until_shown(terminal: Terminal, words: str) -> None:
    """Wait until the line says so; a minute without it are a failure."""
    deadline = time.monotonic() + 60
    while words not in terminal.getvalue():
        assert time.monotonic() < deadline, terminal.getvalue()
        time.sleep(0.01)


def test_a_terminal_sees_what_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first words, then the others, brackets and all; and the cursor is shown again at the end."""
    terminal = a_terminal(monkeypatch)
    with working("reading [runs]") as say:
        until_shown(terminal, "reading [runs] ...")
        say("fitting")
        until_shown(terminal, "fitting ...")
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("fitting")


def test_a_failure_takes_the_line_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sentence must stand alone, with nothing drawn over it."""
    terminal = a_terminal(monkeypatch)
    with pytest.raises(ValueError, match="broken"), working("reading"):
        until_shown(terminal, "reading")
        raise ValueError("broken")
    said = terminal.getvalue()
    time.sleep(0.2)  # two turns of the spinner
    assert terminal.getvalue() == said


def test_quick_work_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that only flashes disturbs."""
    terminal = a_terminal(monkeypatch, delay=60.0)
    with working("reading") as say:
        say("fitting")
    assert terminal.getvalue() == ""


def test_elsewhere_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log file gets neither words nor control characters, however long it takes."""
    monkeypatch.setattr(_working, "DELAY", 0.0)
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    with working("reading") as say:
        say("fitting")
        time.sleep(0.2)
    assert log.getvalue() == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["fit", "a.parquet"], ["reading records", "fitting"]),
        (["compare", "a.parquet", "a.parquet"], ["reading records", "comparing"]),
        (["report", "a.parquet", "-o", "page.html"], ["reading records", "writing page.html"]),
        (["import", "osu", "osu.out", "-o", "old"], ["reading tables of osu", "writing old"]),
        (["list", "benchmarks"], ["listing benchmarks"]),
        (["doctor"], ["checking", "checking tools"]),
        (["doctor", "--install", "mpich"], ["checking", "installing mpich"]),
    ],
)
def test_every_verb_that_may_take_long_says_what_it_does(
    words: list[str], told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order in which it does it."""
    monkeypatch.chdir(tmp_path)
    store.write_parquet(loggp(), Path("a.parquet"), {})
    Path("osu.out").write_text(
        "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n0   0.25\n8   0.26\n"
    )
    monkeypatch.setattr(registry, "benchmarks", lambda ranks=2: {})
    monkeypatch.setattr(doctor, "CHECKS", {"tools": list})
    monkeypatch.setattr(install, "install", lambda name: SimpleNamespace(id=name))
    monkeypatch.setattr(doctor, "examine", lambda mpi: doctor.Finding("a", doctor.OK, "there"))
    heard: list[str] = []

    @contextmanager
    def recorded(words: str) -> Iterator[Callable[[str], None]]:
        heard.append(words)
        yield heard.append

    name = "import_" if words[0] == "import" else words[0]
    monkeypatch.setattr(import_module(f"leadline.cli.{name}"), "working", recorded)
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert heard[: len(told)] == told
