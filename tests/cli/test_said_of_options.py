"""Options that would do nothing, or that have another name now, say so."""

import json
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.program.build import ProgramBuilder
from leadline.program.model import Kind, Operation
from leadline.run.replay import Replay, Value, remarks


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated run of one ping-pong."""
    place = tmp_path_factory.mktemp("said")
    (place / "plan.toml").write_text('[[measure]]\nbenchmark = "pingpong"\nbytes = 8\n')
    words = ["run", str(place / "plan.toml"), "--on", "bgp", "--ranks", "8", "-o", str(place / "run")]
    assert CliRunner().invoke(main, words).exit_code == 0
    return place / "run"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["show", "{run}", "--earlier", "{run}"], 2, "at least 3 runs"),
        (["show", "{run}", "--skipped"], 0, "Every point has a value."),
        (["show", "{run}", "--where", "foo=1"], 2, "known are: run, "),
        (["compare", "{run}"], 2, "but got {run}"),
        (["figure", "{run}"], 2, "run has pingpong"),
        (["list", "plans", "foo"], 2, "'leadline list keys' take a name, but got 'leadline list plans foo'"),
        (["list", "nonsense"], 2, "list' takes no 'nonsense'; known are: benchmarks, keys,"),
        (
            ["run", "quick", "--on", "bgp", "--ranks", "abc"],
            2,
            "this is a whole number, 1 or more, but got 'abc'",
        ),
        (
            ["run", "quick", "--on", "bgp", "--ranks", "0"],
            2,
            "this is a whole number, 1 or more, but got '0'",
        ),
        (["compare", "{run}", "--across", "mpi"], 2, "it has 1: bgp"),
        (["run", "latency", "--submit", "slurm", "--time", "2:00"], 2, "2:00:00 (hours:minutes:seconds)"),
        (["run", "latency", "--on", "bgp", "--mapping", "", "-o", "{run}-2"], 2, "there is no file ''"),
        (["run", "latency", "--on", "bgp", "--mapping", "QWE", "-o", "{run}-2"], 2, "leadline: mapping: "),
        (
            ["run", "latency", "--agent", "foo", "-o", "{run}-3"],
            2,
            "--agent needs --hosts, or hosts in the plan",
        ),
        (["watch", "run", "latency", "--agent", "foo", "--history", "{run}-3"], 2, "--agent needs --hosts"),
        (["run", "io", "--directory", "/nosuch/x", "-o", "{run}-3"], 2, "--directory: there is no /nosuch/x"),
        (["run", "latency", "--hosts", "a", "--agent", "/no/agent", "-o", "{run}-3"], 2, "'/no/agent'"),
    ],
)
def test_one_sentence(run: Path, words: list[str], code: int, said: str) -> None:
    """With what was got, or what would do."""
    done = CliRunner().invoke(main, [word.format(run=run) for word in words])
    assert said.format(run=run) in done.output or said.format(run=run) in str(done.exception)
    assert (done.exit_code != 0) == (code != 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["watch"], "PLAN --history DIR | COMMAND"),
        (["run"], "With --against or --uncertainty: print their answer as JSON"),
        (["profile"], "100 % is the sum of the ranks' own times"),
        (["import"], "Default: runs/SUITE-FILE"),
        (["program", "import"], "[default: 1e9; x>0]"),
        (["program", "export"], "[default: 1e9; x>0]"),
        (["predict", "ring"], "needed without --from"),
        (["predict", "sum3d"], "needed without --from"),
        (["tune", "mapping"], "'leadline run --mapping' reads it with --form seats"),
    ],
)
def test_help_says_what_an_option_needs_and_gives(words: list[str], said: str) -> None:
    """Line ends aside."""
    assert said in " ".join(CliRunner().invoke(main, [*words, "--help"]).output.split())


def test_the_old_name_of_uncertainty_is_told(run: Path) -> None:
    """And means the same: bgp's constants have intervals, or it says that none has one."""
    plan = str(run.parent / "plan.toml")
    outputs = []
    for number, option in enumerate(("--sensitivity", "--uncertainty")):
        words = ["run", plan, "--on", "bgp", "--ranks", "8", option, "-o", f"{run}-u{number}"]
        outputs.append(CliRunner().invoke(main, words))
    assert "is now 'run --uncertainty'" in outputs[0].output
    assert "is now 'run --uncertainty'" not in outputs[1].output
    assert type(outputs[0].exception) is type(outputs[1].exception)


def test_a_replay_says_what_it_does_otherwise() -> None:
    """Sums of windows are named where a program has them, and only there; locks exclude others."""
    builder = ProgramBuilder(1)
    kinds = (Kind.WIN, Kind.LOCK, Kind.ACCUMULATE, Kind.UNLOCK, Kind.WIN_FREE)
    builder.add(0, [Operation(int(kind), extra=1, bytes=8) for kind in kinds])
    assert remarks(builder.build(), None) == ["accumulating is executed as a put, without its sums"]
    builder = ProgramBuilder(1)
    builder.add(0, [Operation(int(kind), extra=1) for kind in (Kind.WIN, Kind.FENCE, Kind.WIN_FREE)])
    assert remarks(builder.build(), None) == []


@pytest.mark.parametrize(
    ("mapping", "said"), [("", "there is no file ''"), ("0 0 0 0\n" * 5, "has 5 lines"), ("0\n", "line 1")]
)
def test_a_replay_refuses_a_mapping_before_it_begins(tmp_path: Path, mapping: str, said: str) -> None:
    """An empty word, a file of more lines than the partition has ranks, and one for another machine."""
    builder = ProgramBuilder(1)
    builder.add(0, [Operation(int(Kind.NOP))])
    builder.build().write(tmp_path / "alone.program")
    (tmp_path / "seats").write_text(mapping)
    word = str(tmp_path / "seats") if mapping else ""
    done = CliRunner().invoke(
        main, ["replay", str(tmp_path / "alone.program"), "--on", "bgp", "--mapping", word]
    )
    assert done.exit_code == 2
    assert said in done.output


def test_a_replay_says_that_it_was_disturbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a run marks its values; and of a program without messages it names no network model."""
    builder = ProgramBuilder(1)
    builder.add(0, [Operation(int(Kind.NOP))], before=[1e-3])
    builder.build().write(tmp_path / "alone.program")
    told = Replay(Value(1.0), Value(0.0), "", 6, oversubscribed=False, disturbance="others were busy")
    monkeypatch.setattr(import_module("leadline.run.replay"), "replay", lambda *_, **__: told)
    words = ["replay", str(tmp_path / "alone.program"), "--on", "bgp"]
    said = CliRunner().invoke(main, words).output
    assert "others were busy" in said
    assert "network model" not in said
    row = json.loads(CliRunner().invoke(main, [*words, "--json"]).output)
    assert row[0]["disturbance"] == "others were busy"
