"""The command itself: verbs found by file, help without heavy modules, one line for failures."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import leadline.cli
from leadline import __version__
from leadline.cli import main
from leadline.cli._group import LazyGroup, summary
from leadline.cli._guard import DEFECT, INTERRUPTED
from leadline.cli._table import plain, print_table, tell, to_json
from leadline.core.errors import LeadlineError, UsageError


def invoke(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command line."""
    result = CliRunner().invoke(main, words)
    return result.exit_code, result.stdout, result.stderr


def plant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **verbs: str) -> None:
    """Put verbs with these bodies beside the real ones."""
    for name, body in verbs.items():
        (tmp_path / f"{name}.py").write_text(
            '"""Planted."""\nimport click, sys, os\nfrom leadline.core.errors import *\n\n\n'
            f'@click.command()\ndef command():\n    """Do {name}."""\n    {body}\n'
        )
    monkeypatch.setattr(leadline.cli, "__path__", [str(tmp_path)])
    for name in verbs:
        monkeypatch.delitem(sys.modules, f"leadline.cli.{name}", raising=False)


def test_help_lists_every_verb_with_its_line() -> None:
    """Each file or folder is a verb; its line is that of its own help; `import_` is `import`."""
    code, out, _ = invoke("--help")
    assert code == 0
    here = Path(leadline.cli.__file__).parent
    verbs = [p.stem for p in (*here.glob("*.py"), *here.glob("[a-z]*/")) if not p.stem.startswith("_")]
    assert {"show", "list", "completion", "import_", "io", "tune"} <= set(verbs)
    words = " ".join(out.split())
    for stem in verbs:
        verb = stem.rstrip("_")
        command = main.get_command(click.Context(main), verb)
        assert command is not None
        told = " ".join((command.help or "").partition("\n\n")[0].split()).rstrip(".")
        assert told, f"{verb} has no help"
        assert f"{verb} {told}" in words
    assert "leadline run quick" in out  # where a newcomer begins


def test_help_loads_nothing_heavy() -> None:
    """Neither data frames nor mathematics nor drawing nor any verb: that is why help is quick."""
    code = (
        "import sys\nfrom leadline.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'polars', 'numpy', 'scipy', 'rich', 'jinja2', 'leadline.cli.show'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.splitlines()[-1] == "[]"


@pytest.mark.parametrize("verb", ["show", "list", "import", "completion"])
def test_verbs_help_themselves(verb: str) -> None:
    """Every verb of this list has --help with its usage."""
    code, out, _ = invoke(verb, "--help")
    assert code == 0
    assert out.startswith("Usage: ")


def test_version() -> None:
    """The package's own."""
    assert invoke("--version") == (0, f"leadline, version {__version__}\n", "")


def test_no_words_is_a_request_for_help() -> None:
    """Help on the standard error, and the exit code of what was not understood."""
    code, out, err = invoke()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["shwo"], "'show'"),
        (["tune", "colectives"], "'collectives'"),
        (["predict", "jacobbi"], "'jacobi'"),
        (["show", "--cvs"], "--cvs"),
        (["list", "benchmark"], "benchmarks"),
        (["list"], "benchmarks"),
        (["show", "--csv", "--json"], "leadline show --help"),
    ],
)
def test_what_is_not_understood_is_one_line_and_exit_code_2(words: list[str], says: str) -> None:
    """The line names what was wrong or what would do."""
    code, out, err = invoke(*words)
    assert (code, out) == (2, "")
    assert err.startswith("leadline: ")
    assert says in err
    assert err.count("\n") == 1


def moved() -> list[tuple[str, str]]:
    """(old, new) place of every command that moved."""
    tune = main.get_command(click.Context(main), "tune")
    assert isinstance(main, LazyGroup)
    assert isinstance(tune, LazyGroup)
    return [*main.moved.items(), *((f"tune {old}", new) for old, new in tune.moved.items())]


@pytest.mark.parametrize(("old", "new"), moved())
def test_old_words_work_with_a_note(old: str, new: str) -> None:
    """The command is that of the new place, the note on the standard error names it, the help has neither."""
    code, out, err = invoke(*old.split(), "--help")
    assert code == 0
    assert out.splitlines()[1:] == invoke(*new.split(), "--help")[1].splitlines()[1:]
    assert f"'leadline {new}'" in err
    *group, name = old.split()
    assert f"  {name} " not in invoke(*group, "--help")[1]


def test_errors_become_lines_and_codes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A failure is 1, a request that is not understood 2, an interruption 130; verbs may choose."""
    plant(
        monkeypatch,
        tmp_path,
        fails="raise LeadlineError('the disk is full')",
        misunderstands="raise UsageError('what?')",
        waits="raise KeyboardInterrupt",
        keeps="raise KeyboardInterrupt('nothing is lost')",
        chooses="click.get_current_context().exit(7)",
        works="click.echo('done')",
    )
    assert invoke("fails") == (1, "", "leadline: the disk is full\n")
    assert invoke("misunderstands") == (2, "", "leadline: what?\n")
    assert invoke("waits")[0] == INTERRUPTED
    assert invoke("waits")[2].strip().endswith("leadline: interrupted")
    assert invoke("keeps")[2].strip() == "leadline: interrupted; nothing is lost"
    assert invoke("chooses") == (7, "", "")
    assert invoke("works") == (0, "done\n", "")
    assert "  fails           Do fails" in invoke("--help")[1]


def test_a_defect_is_one_line_with_a_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The traceback is in a file that the line names; a variable brings it back for developers."""
    plant(monkeypatch, tmp_path, breaks="raise ZeroDivisionError('a bug')", panics="raise BaseException('p')")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for verb, what in (("breaks", "ZeroDivisionError: a bug"), ("panics", "BaseException: p")):
        code, out, err = invoke(verb)
        assert (code, out, err.count("\n")) == (DEFECT, "", 1)
        assert what in err
        report = Path(err.split()[-1])
        assert "Traceback" in report.read_text()
        assert f"leadline {verb}" in report.read_text()
    monkeypatch.setenv("LEADLINE_DEBUG", "1")
    assert isinstance(CliRunner().invoke(main, ["breaks"]).exception, ZeroDivisionError)


def test_files_that_cannot_be_read_are_no_defect(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An error of the operating system that nothing caught names its file; the exit code is 1."""
    plant(monkeypatch, tmp_path, reads="open('/nowhere/at/all')")
    code, _, err = invoke("reads")
    assert (code, err.count("\n")) == (1, 1)
    assert "/nowhere/at/all" in err


def test_the_line_of_help_needs_no_import(tmp_path: Path) -> None:
    """Read from the text: the docstring of `command`, or of the file where `command` is made otherwise."""
    verb = tmp_path / "verb.py"
    verb.write_text(
        '"""About the file."""\nimport nothing_of_this_name\n'
        'def command():\n    """Do it\n    all.\n\n    More."""\n'
    )
    assert summary(verb) == "Do it all"
    verb.write_text('"""About the file."""\ncommand = make()\n')
    assert summary(verb) == "About the file"


def python_with(body: str) -> list[str]:
    """A Python process that runs `leadline many`, whose body is given."""
    code = (
        f"import click\nfrom leadline.cli import main\n@main.command()\ndef many():\n    {body}\n"
        "main.get_command = lambda ctx, name: many\n"
        "main.resolve_command = lambda ctx, words: ('many', many, [])\nmain(['many'])"
    )
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    "body",
    ["click.echo('x')", "[click.echo('x' * 50) for _ in range(100_000)]", "print('x' * 10**6)", "print('x')"],
)
def test_a_reader_that_leaves_is_no_error(body: str) -> None:
    """`leadline ... | head` ends quietly, whether the pipe breaks while printing or at the end."""
    reading, writing = os.pipe()
    process = subprocess.Popen(python_with(body), stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    os.close(reading)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


def test_an_interrupt_from_the_keyboard() -> None:
    """SIGINT while a verb works: one line, exit code 130."""
    body = "click.echo('ready'); __import__('time').sleep(60)"
    process = subprocess.Popen(python_with(body), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert err.strip() == "leadline: interrupted"


def test_completion_completes(tmp_path: Path) -> None:
    """The protocol that the printed scripts speak: verbs by their beginning, runs by their names."""
    (tmp_path / "runs" / "monday").mkdir(parents=True)
    (tmp_path / "runs" / "monday" / "provenance.json").write_text("{}")

    def complete(line: str, word: int) -> list[str]:
        environment = {
            **os.environ,
            "_LEADLINE_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(word),
        }
        code = "from leadline.cli import main; main(prog_name='leadline')"
        out = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        return [each.partition(",")[2] for each in out.splitlines()]

    assert complete("leadline sho", 1) == ["show"]
    assert complete("leadline show mon", 2) == ["monday"]
    assert complete("leadline list ", 2) == ["benchmarks", "plans", "mpis", "machines", "keys", "metrics"]
    assert complete("leadline show machine orfeo-t", 3) == ["orfeo-thin"]
    assert "--parquet" in complete("leadline show --p", 2)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str) -> None:
    """Each script calls back with the variable of its shell."""
    code, out, _ = invoke("completion", shell)
    assert code == 0
    assert f"_LEADLINE_COMPLETE={shell}_complete" in out


def test_tables_are_lined_up_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Plain text has only the named columns, JSON all keys, infinities as null."""
    rows: list[dict[str, object]] = [
        {"a": 1, "b": [1, 2], "c": float("inf")},
        {"a": "long", "b": None, "c": 0.5},
    ]
    print_table(rows, {"a": "A", "b": "B"})
    assert capsys.readouterr().out == "A     B\n1     1, 2\nlong\n"
    print_table(rows, {"a": "A"}, as_json=True)
    assert json.loads(capsys.readouterr().out) == [
        {"a": 1, "b": [1, 2], "c": None},
        {"a": "long", "b": None, "c": 0.5},
    ]
    assert json.loads(to_json([])) == []
    assert plain(["x"], []) == ["x"]


def test_a_number_stays_with_its_unit() -> None:
    """Where a cell wraps."""
    lines = plain(["point", "A"], [["pingpong, latency, 64 KiB, 12 %", "5.71 µs"]], 30)
    assert max(map(len, lines)) <= 30
    assert any("64 KiB" in line for line in lines) and any("12 %" in line for line in lines)


@pytest.mark.parametrize(("columns", "width"), [("", 100), ("60", 60), ("300", 300)])
def test_output_to_a_pipe_has_a_width_too(
    columns: str, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 columns, or what COLUMNS says; a message on the standard error stays one line."""
    monkeypatch.setenv("COLUMNS", columns)
    print_table([{"a": "word " * 30, "b": "word " * 80}], {"a": "A", "b": "B"})
    tell("word " * 200)
    tell("word " * 200, err=True)
    told = capsys.readouterr()
    assert width - 30 < max(map(len, told.out.splitlines())) <= width
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize("width", [24, 40, 80, 100, 160])
def test_tables_are_no_wider_than_the_terminal(width: int) -> None:
    """Cells wrap between words; where the terminal is too narrow even so, each row is a block. No word is
    lost.
    """
    cells = [["openmpi-4.1.4", "0.31 µs [0.30, 0.32]", "needs two hosts " * 9], ["mpich-4.0.2", "1 s", ""]]
    lines = plain(["mpi", "latency at 8 B", "remark"], cells, width)
    assert max(map(len, lines)) <= width
    for word in ("openmpi-4.1.4", "mpich-4.0.2", "µs", "latency"):
        assert any(word in line for line in lines)
    assert " ".join(lines).count("hosts") == 9
    if width == 80:  # a sentence has the width of the terminal, not what is left of it
        assert len(lines) == 5
    assert not [line for line in lines if "[" in line and "]" not in line and width > 40]


@pytest.mark.parametrize("words", [[], ["run"], ["io"], ["io", "tune"]])
def test_help_may_be_asked_for_first(words: list[str]) -> None:
    """`leadline help run` is `leadline run --help`; a word that is no command is said."""
    told, asked = (CliRunner().invoke(main, each) for each in (["help", *words], [*words, "--help"]))
    assert told.exit_code == 0
    assert told.output == asked.output
    wrong = CliRunner().invoke(main, ["help", *words, "rum"])
    assert wrong.exit_code == 2
    assert "rum" in wrong.output


def test_help_may_name_what_a_command_is_about() -> None:
    """`leadline help list keys` is `leadline list --help`."""
    told, asked = (CliRunner().invoke(main, each) for each in (["help", "list", "keys"], ["list", "--help"]))
    assert (told.exit_code, told.output) == (0, asked.output)


def test_a_run_is_no_program_and_a_measured_run_no_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was named is of another kind: the sentence says what is for that."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "monday").mkdir(parents=True)
    code, _, said = invoke("profile", "monday")
    assert (code, "leadline show monday" in said) == (2, True)
    (tmp_path / "a.program").write_text("whatever")
    code, _, said = invoke("show", "a.program")
    assert code != 0
    assert "leadline profile" in said


def test_usage_errors_are_failures_too() -> None:
    """Whoever catches LeadlineError has them all."""
    assert issubclass(UsageError, LeadlineError)
    assert (LeadlineError.exit_code, UsageError.exit_code) == (1, 2)
