"""A program's first run is recorded; the next ones take what is known of programs that write like it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from h5programs import LAUNCHER_QUIET, PATIENCE, needs
from leadline.cli import main
from leadline.core.errors import LeadlineError
from leadline.tune.io import patterns as io_patterns
from leadline.tune.io import profiles as io_profiles
from tune.test_io_patterns import RECORD, written

COMMAND = ("mpirun", "-n", "4", "./app", "input")
LAYOUT: dict[str, int | str | bool] = {"alignment": "1,65536", "meta_block_size": 8192}
DARING: dict[str, int | str | bool] = {"fill_time": "never"}


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test for what is traced."""
    monkeypatch.setattr(io_profiles, "folder", lambda: tmp_path / "traced")
    return tmp_path / "traced"


def known(tmp_path: Path, log: Path, settings: dict[str, int | str | bool]) -> Path:
    """A database that knows these settings for just what the log tells of."""
    path = tmp_path / "motifs.sqlite"
    io_patterns.remember(io_patterns.read(log), settings, "a tuning", 2.0, path)
    return path


def test_a_record_is_found_by_the_commands_words_and_by_its_program(tmp_path: Path) -> None:
    """The same words find it; other words are another command; any path of the program's name will do."""
    log = written(tmp_path, RECORD)
    assert io_profiles.keep(COMMAND, log)
    assert io_profiles.log_of(COMMAND).read_bytes() == log.read_bytes()
    assert not io_profiles.log_of((*COMMAND, "more")).exists()
    assert io_profiles.last_of("elsewhere/app") == io_profiles.log_of(COMMAND)
    assert io_profiles.last_of("other") is None


def test_what_wrote_nothing_is_not_kept(tmp_path: Path) -> None:
    """Neither a record without a written byte, nor none at all."""
    assert not io_profiles.keep(COMMAND, written(tmp_path, RECORD[:2]))
    assert not io_profiles.keep(COMMAND, tmp_path / "none.jsonl")
    assert io_profiles.last_of("app") is None


def test_only_so_many_commands_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for three, the last three of five."""
    monkeypatch.setattr(io_profiles, "MOST", 3)
    log = written(tmp_path, RECORD)
    for number in range(5):
        io_profiles.keep((f"app{number}",), log)
    assert sum(io_profiles.last_of(f"app{number}") is not None for number in range(5)) == 3


def test_a_full_disk_is_told_in_a_sentence(tmp_path: Path, kept: Path) -> None:
    """A file where the folder should be."""
    kept.write_text("")
    with pytest.raises(LeadlineError, match="cannot write the access pattern"):
        io_profiles.keep(COMMAND, written(tmp_path, RECORD))


def test_settings_are_those_of_the_nearest_without_what_nothing_proves(tmp_path: Path) -> None:
    """At a distance of nought all but `fill_time`, which is right only where all is written."""
    log = written(tmp_path, RECORD)
    chosen = io_profiles.choose(log, known(tmp_path, log, LAYOUT | DARING | {"OMPI_MCA_io": "ompio"}))
    assert chosen is not None
    assert (chosen.advice.distance, chosen.left_out) == (0, ("fill_time",))
    assert "meta_block_size = 8192" in chosen.text
    assert "fill_time" not in chosen.text
    assert "OMPI" not in chosen.text


def test_chunks_are_those_of_the_programs_own_arrays(tmp_path: Path) -> None:
    """Slabs of an array of 8 among four ranks are 2 long, by the arrays of the record."""
    log = written(tmp_path, RECORD)
    chosen = io_profiles.choose(log, known(tmp_path, log, {"chunk": "slabs"}))
    assert chosen is not None
    assert "hdf5.chunk = [2]" in chosen.text


@pytest.mark.parametrize("settings", [DARING, {"OMPI_MCA_io": "ompio"}])
def test_nothing_is_chosen_where_nothing_is_left(
    tmp_path: Path, settings: dict[str, int | str | bool]
) -> None:
    """Daring settings alone, or variables alone, which no file of the library has."""
    log = written(tmp_path, RECORD)
    assert io_profiles.choose(log, known(tmp_path, log, settings)) is None


def test_what_is_far_off_is_not_used(tmp_path: Path) -> None:
    """An access pattern 16 times 16 as large in every size is farther than a step of 1."""
    near, far = tmp_path / "near", tmp_path / "far"
    near.mkdir()
    far.mkdir()
    large = [line | ({"bytes_written": 2**31} if "bytes_written" in line else {}) for line in RECORD]
    database = known(tmp_path, written(far, large), LAYOUT)
    assert io_profiles.choose(written(near, RECORD), database) is None


def run(*words: str) -> Result:
    """What `leadline io run` does."""
    return CliRunner().invoke(main, ["io", "run", *words])


def test_the_second_run_of_a_program_is_given_settings(
    tmp_path: Path, compiled: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    """An unmodified program: seen, then aligned by what is known of it, its output the same both times."""
    program, database = compiled("serial.c"), tmp_path / "motifs.sqlite"
    words = ["--database", str(database), "--", str(program), str(tmp_path / "out.h5")]
    first = run(*words)
    assert first.exit_code == 0, first.output
    assert "first run" in first.output
    plain, size = capfd.readouterr().out, (tmp_path / "out.h5").stat().st_size
    log = io_profiles.last_of(program.name)
    assert log is not None
    known(tmp_path, log, LAYOUT)
    second = run(*words)
    assert "settings of a tuning" in second.output
    assert capfd.readouterr().out == plain
    assert (tmp_path / "out.h5").stat().st_size > size  # aligned to 64 KiB
    advised = CliRunner().invoke(main, ["io", "advise", program.name, "--database", str(database), "--json"])
    assert json.loads(advised.stdout)[0]["settings"] == LAYOUT


def test_settings_that_reach_no_rank_are_no_silent_success(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """A launcher that passes nothing on: the program runs, and a sentence says that nothing was set."""
    settings = tmp_path / "settings.toml"
    settings.write_text("[hdf5]\nalignment = [0, 65536]\n")
    words = [str(compiled("serial.c")), str(tmp_path / "out.h5")]
    lost = run("--settings", str(settings), "--", "env", "-u", "LD_PRELOAD", *words)
    assert lost.exit_code == 0
    assert "nothing was set: " in lost.output
    assert "nothing was set" not in run("--settings", str(settings), "--", *words).output


@pytest.mark.mpi
def test_settings_and_record_reach_ranks_on_other_nodes(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """Two nodes by name spaces, whose directory for temporary files is their own, as /tmp is."""
    needs("mpirun.openmpi")
    allowed = subprocess.run(["unshare", "--uts", "--mount", "true"], capture_output=True, check=False)
    if allowed.returncode != 0:
        pytest.skip("this user may not make name spaces")
    local, agent, settings = tmp_path / "local", tmp_path / "agent", tmp_path / "settings.toml"
    local.mkdir()
    agent.write_text(
        "#!/bin/bash\n"
        'while [ "${1#-}" != "$1" ]; do shift; done\n'
        "host=$1; shift\n"
        f'exec unshare --uts --mount sh -c "hostname $host; mount -t tmpfs none {local}; $*"\n'
    )
    agent.chmod(0o755)
    settings.write_text("[hdf5]\nalignment = [0, 65536]\n")
    launcher = ["mpirun.openmpi", "--host", "leadline-a,leadline-b", "-n", "2", "--map-by", "node"]
    launcher += ["--mca", "plm_rsh_agent", str(agent), "--mca", "btl", "tcp,self", "--mca", "pml", "ob1"]
    for name in ("LD_PRELOAD", "LEADLINE_H5_LOG", "LEADLINE_H5_SETTINGS"):
        launcher += ["-x", name]
    program = str(compiled("parallel.c", "openmpi"))
    leadline = str(Path(sys.executable).with_name("leadline"))
    sizes = list[int]()
    for chosen in ("none", str(settings)):
        made = tmp_path / f"{len(sizes)}.h5"
        command = [leadline, "io", "run", "--settings", chosen, "--", *launcher, program, str(made)]
        env = {**os.environ, **LAUNCHER_QUIET, "TMPDIR": str(local)}
        done = subprocess.run(
            command,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
        assert "leadline" not in done.stderr.replace("leadline-", "")  # nothing was left out, and no rank
        sizes.append(made.stat().st_size)
    assert sizes[1] > sizes[0]  # aligned to 64 KiB


@pytest.mark.parametrize(("words", "status"), [(["true"], 0), (["sh", "-c", "exit 7"], 7)])
def test_the_exit_code_is_the_programs(words: list[str], status: int) -> None:
    """Whatever it is."""
    assert run("--", *words).exit_code == status


def test_a_program_that_is_killed_ends_as_a_shell_tells_it() -> None:
    """128 and the signal's number."""
    assert run("--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)").exit_code == 137


def test_what_cannot_be_started_or_read_is_told_before_anything_runs(tmp_path: Path) -> None:
    """A program that is none, and a settings file that is none: one sentence, exit code 2."""
    nothing = run("--", str(tmp_path / "none"))
    assert (nothing.exit_code, "cannot start" in nothing.output) == (2, True)
    marker = tmp_path / "ran"
    missing = run("--settings", str(tmp_path / "none.toml"), "--", "touch", str(marker))
    assert (missing.exit_code, marker.exists()) == (2, False)
    assert run().exit_code == 2


def test_a_log_is_itself_also_where_a_command_named_it(tmp_path: Path) -> None:
    """A traced command with a word like the log's name does not stand for the log."""
    log = written(tmp_path, RECORD)
    io_profiles.keep(("sh", "-c", "true", log.name), log)
    other = tmp_path / "other"
    other.mkdir()
    mine = written(
        other, [line | ({"bytes_written": 2**33} if "bytes_written" in line else {}) for line in RECORD]
    )
    words = ["io", "advise", str(mine), "--json", "--database", str(tmp_path / "none.sqlite")]
    far = json.loads(CliRunner().invoke(main, words).stdout)[0]
    (tmp_path / "traced").rename(tmp_path / "gone")
    assert json.loads(CliRunner().invoke(main, words).stdout)[0] == far
