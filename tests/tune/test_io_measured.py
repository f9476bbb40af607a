"""Programs of all kinds under a tuning: what they do wrong is one sentence, and the journal stays whole."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.core import processes
from leadline.core.errors import LeadlineError
from leadline.tune.io import files as io_files
from leadline.tune.io import journal as io_journal
from leadline.tune.io import log as io_log
from leadline.tune.io import settings as h5settings
from leadline.tune.io.files import Array
from leadline.tune.io.measured import Command

SPACE = """
[[parameter]]
name = "meta_block_size"
layer = "hdf5"
kind = "bytes"
values = ["64 KiB", "1 MiB"]
safety = "layout"
"""


def made(tmp_path: Path, script: str, **named: object) -> Command:
    """A program of the shell."""
    return Command(["/bin/sh", "-c", script], tmp_path, tmp_path, {}, **named)  # type: ignore[arg-type]


def test_the_whole_time_counts_unless_the_program_tells_its_own(tmp_path: Path) -> None:
    """By a pattern the last number that it printed."""
    outcome = made(tmp_path, "echo took 2.5 s; echo took 3.5 s", printed=r"took ([\d.]+)").run({}, 10)
    assert outcome.seconds == 3.5
    assert (made(tmp_path, "sleep 0.1").run({}, 10).seconds or 0) >= 0.1
    silent = made(tmp_path, "echo nothing", printed=r"took ([\d.]+)").run({}, 10)
    assert silent.reason == r"it printed no time that fits 'took ([\d.]+)'"


def test_a_rate_is_made_large_and_never_taken_for_a_time(tmp_path: Path) -> None:
    """Twice the rate costs half; a time's pattern that meets a rate is refused by its unit."""
    slow = made(tmp_path, "echo rate: 200 MiB/s", printed=r"rate: ([\d.]+)", maximize=True).run({}, 10)
    fast = made(tmp_path, "echo rate: 400 MiB/s", printed=r"rate: ([\d.]+)", maximize=True).run({}, 10)
    assert slow.seconds
    assert fast.seconds == slow.seconds / 2
    for text in ("200 MiB/s", "3.5 GB / s", "12 steps/s", "7 Mflop per second"):
        wrong = made(tmp_path, f"echo speed {text}", printed=r"speed ([\d.]+)").run({}, 10)
        assert wrong.seconds is None, text
        assert "--maximize" in str(wrong.reason)
    for text in ("2.5 s", "2.5 s/step", "2.5 seconds per step", "2.5"):
        assert made(tmp_path, f"echo took {text}", printed=r"took ([\d.]+)").run({}, 10).seconds == 2.5, text


def test_a_failure_is_an_outcome_with_its_reason(tmp_path: Path) -> None:
    """Exit status, signal, wrong data: one sentence each."""
    assert (
        made(tmp_path, "echo no such input >&2; exit 3").run({}, 10).reason == "exit status 3: no such input"
    )
    assert made(tmp_path, "kill -SEGV $$").run({}, 10).reason == "killed by SIGSEGV"
    wrong = made(tmp_path, "true", check=["/bin/sh", "-c", "echo differs; exit 1"]).run({}, 10)
    assert wrong.seconds is None
    assert wrong.reason
    assert wrong.reason.endswith("exit status 1: differs")


def test_what_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """Also a process that left the group, as ranks of launchers do."""
    script = "setsid sh -c 'echo $$ >pid; exec sleep 60'"
    began = time.monotonic()
    outcome = made(tmp_path, f"{script} & sleep 60").run({}, 2.0)
    assert outcome.reason == "it did not end within 2 s and was ended"
    assert time.monotonic() - began < 45
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        for _ in range(100):
            os.kill(pid, 0)
            time.sleep(0.05)


def test_a_program_that_prints_without_end_does_not_fill_memory(tmp_path: Path) -> None:
    """The end of what it said is kept."""
    ended = processes.run(["/bin/sh", "-c", "yes | head -c 3000000; echo last"], {}, 20, tmp_path)
    assert ended.output.endswith("last\n")
    assert len(ended.output) <= processes.KEPT


def tune(*words: str) -> tuple[int, str]:
    """`leadline io tune` with some words: its exit code and what it said."""
    result = CliRunner().invoke(main, ["tune", "io", *words])
    return result.exit_code, result.output


@pytest.fixture
def space(tmp_path: Path) -> str:
    """A space of one parameter."""
    path = tmp_path / "space.toml"
    path.write_text(SPACE)
    return str(path)


def test_a_program_without_files_is_refused_after_one_run(tmp_path: Path, space: str) -> None:
    """It writes nothing that HDF5 or MPI-IO would know of; the journal has the run."""
    where = tmp_path / "t"
    code, said = tune("--space", space, "-o", str(where), "--", "/bin/true")
    assert code == 1
    assert "HDF5 or MPI-IO" in said
    assert len(io_journal.read(where)[1]) == 1


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (["/bin/false"], "fails with its default settings: exit status 1"),
        (["/bin/sh", "-c", "sleep 60"], "did not end within 0.5 s"),
    ],
)
def test_a_program_that_fails_by_itself(tmp_path: Path, space: str, program: list[str], words: str) -> None:
    """One sentence, exit code 1."""
    code, said = tune("--space", space, "--limit", "0.5 s", "-o", str(tmp_path / "t"), "--", *program)
    assert code == 1
    assert words in said
    assert io_journal.is_tuning(tmp_path / "t")


def test_a_program_that_is_not_there_is_refused_at_once(tmp_path: Path, space: str) -> None:
    """By its name; nothing is written."""
    (tmp_path / "text").write_text("no program\n")
    for program in ("/no/such/program", str(tmp_path / "text"), "no-such-program"):
        code, said = tune("--space", space, "-o", str(tmp_path / "t"), "--", program)
        assert code == 2
        assert f"cannot start {program!r}" in said
        assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SPACE.replace("meta_block_size", "meta_blok_size"), "did you mean 'meta_block_size'"),
        (SPACE.replace('"hdf5"', '"hdf4"'), "did you mean 'hdf5'"),
        (SPACE.replace("values", "valves"), "values"),
        (SPACE + '[[limit]]\nproduct = ["meta_block_size"]\nat_most = 1\n', "no valid point"),
    ],
)
def test_a_bad_space_is_told_before_anything_is_run(tmp_path: Path, text: str, words: str) -> None:
    """Unknown settings, layers and keys, and a space without a point; nothing is made."""
    path = tmp_path / "bad.toml"
    path.write_text(text)
    code, said = tune("--space", str(path), "-o", str(tmp_path / "t"), "--", "/bin/true")
    assert code == 2
    assert words in said
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "after --"),
        (("--kernel", "vopral"), "did you mean 'vorpal'"),
        (("--kernel", "vorpal", "--set", "blocks=round"), "blocks of vorpal is never 'round'"),
        (("--search", "anneal", "--", "/bin/true"), "anneal"),
        (("--ranks", "4", "--", "/bin/true"), "--kernel"),
        (("--kernel", "vpic", "--on", "bgl"), "no [storage]"),
    ],
)
def test_a_bad_request_is_one_sentence(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """What would do stands in it."""
    code, output = tune("-o", str(tmp_path / "t"), *words)
    assert code == 2
    assert said in output


def test_a_described_machine_is_tuned_at_once(tmp_path: Path) -> None:
    """Striping brings most of it on Hopper (the paper, section 5.1.3); the page stands there."""
    code, said = tune("--kernel", "vpic", "--on", "hopper", "--budget", "30", "-o", str(tmp_path / "t"))
    assert code == 0, said
    assert (tmp_path / "t" / "report.html").is_file()
    assert "lfs setstripe -c" in (tmp_path / "t" / "stripes.sh").read_text()


def test_settings_in_their_forms() -> None:
    """Pairs are arrays, chunks are parts of each array, hints go without the library as well."""
    layers = {"alignment": "hdf5", "chunk": "hdf5", "cb_nodes": "mpi-io", "OMPI_MCA_io": "environment"}
    settings: dict[str, int | str | bool] = {
        "alignment": "1,4096",
        "chunk": "blocks",
        "cb_nodes": 2,
        "OMPI_MCA_io": "romio321",
    }
    text = io_files.toml(settings, layers, [Array("/a[0]", (100, 200, 120)), Array("/s", ())], 4)
    assert "alignment = [1, 4096]" in text
    assert "hdf5.chunk = [100, 100, 60]" in text
    assert 'dataset = "/a[[]0]"' in text
    assert "OMPI" not in text
    assert io_files.environment(settings, layers) == {"OMPI_MCA_io": "romio321"}
    assert io_files.romio_hints(settings, layers) == "cb_nodes 2\n"


@pytest.mark.parametrize(
    ("word", "lengths", "ranks", "expected"),
    [
        ("blocks", (100, 200, 120), 4, (100, 100, 60)),
        ("blocks-reversed", (100, 200, 120), 4, (50, 100, 120)),
        ("slabs", (10, 7), 4, (3, 7)),
        ("rows", (10, 7), 4, (10, 2)),
        ("blocks", (5,), 8, (1,)),
        ("3x3", (9, 9), 4, (3, 3)),
        ("3x3", (9,), 4, None),
        ("rows", (), 4, None),
    ],
)
def test_chunks_are_parts_of_ranks(
    word: str, lengths: tuple[int, ...], ranks: int, expected: tuple[int, ...] | None
) -> None:
    """The part of one rank, rounded up; arrays that cannot be cut so stay as they are."""
    assert io_files.chunk(word, lengths, ranks) == expected


def test_a_log_that_was_cut_tells_what_it_can(tmp_path: Path) -> None:
    """Equal for equal work, whatever the process; other sizes make another fingerprint."""
    path = tmp_path / "log.jsonl"
    prints = []
    for process, writes in ((1, 5), (2, 5), (3, 6)):
        path.write_text(
            f'{{"kind":"observed","process":{process},"rank":0,"file":"/x{process}","writes":{writes}}}\n{{"ki'
        )
        seen = io_log.read(path)
        assert seen
        prints.append(seen.fingerprint)
    assert prints[0] == prints[1] != prints[2]
    assert io_log.read(tmp_path / "none") is None


def test_a_full_disk_is_told_and_the_journal_stays(tmp_path: Path) -> None:
    """A journal on a file system that is full ends with a sentence; what was there can be read."""
    mount = tmp_path / "small"
    mount.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(mount)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small file system here")
    try:
        with io_journal.Journal.create(mount / "t", {"command": []}) as journal:
            with pytest.raises(LeadlineError, match="No space left on device; every run before is kept"):
                for number in range(100):
                    journal.append({"phase": "search", "label": "x" * 2000, "turn": number, "settings": {}})
            kept = len(journal.lines)
        assert kept > 5
        assert len(io_journal.read(mount / "t")[1]) == kept
    finally:
        subprocess.run(["umount", str(mount)], check=False)


def test_the_end_of_a_command_is_waited_for_not_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Popen.wait with a limit sleeps up to 50 ms between two looks, to which times would snap."""
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("slept"))
    assert made(tmp_path, "sleep 0.2").run({}, 10).seconds


def test_what_a_killed_tuning_left_is_ended(tmp_path: Path) -> None:
    """By its folder, and nothing of another tuning, whose folder begins with the same letters."""
    left, other = (
        subprocess.Popen(["sleep", "60"], env={**os.environ, processes.MARKS: f"{tmp_path}{tail}:1"})
        for tail in ("", "-other")
    )
    try:
        processes.end_left(str(tmp_path))
        assert left.wait(10) == -9
        assert other.poll() is None
    finally:
        for each in (left, other):
            each.kill()
            each.wait()


def test_settings_that_the_library_refuses_are_a_failure(tmp_path: Path) -> None:
    """Otherwise the default would be measured in their name."""
    line = '{"kind":"message","text":"settings.toml: line 2: bad; nothing is set"}'
    outcome = made(tmp_path, f"echo '{line}' > $LEADLINE_H5_LOG", library=Path("/none.so")).run({}, 10)
    assert outcome.seconds is None
    assert outcome.reason == "settings.toml: line 2: bad; nothing is set"


def test_a_time_without_end_is_a_failure(tmp_path: Path) -> None:
    """The journal could not hold it."""
    outcome = made(tmp_path, "echo took inf s", printed=r"took (\w+)").run({}, 10)
    assert outcome.reason == "it printed a time of inf"


def test_a_run_without_a_place_for_its_files_is_one_sentence(tmp_path: Path) -> None:
    """As where the disk is full."""
    command = Command(["/bin/true"], tmp_path, tmp_path / "gone", {})
    with pytest.raises(LeadlineError, match=r"cannot write a run's files in .*; every run before is kept"):
        command.run({}, 10)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--minimize", "took ([", "--", "/bin/true"), "--minimize is a regular expression"),
        (("--check", "cmp 'a b", "--", "/bin/true"), "--check is a command"),
        (("--kernel", "vorpal", "--directory", "no/such"), "--directory is a directory that is there"),
    ],
)
def test_what_can_be_seen_at_once_is_told_at_once(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """Before the tuning has a folder."""
    code, output = tune("-o", str(tmp_path / "t"), *words)
    assert code == 2
    assert said in output
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        (("cb_buffer_size", "mpi-io", "bytes"), "3 GiB", "cb_buffer_size of space bad is never 3221225472"),
        (("alloc_time", "hdf5", "word"), "soon", "alloc_time of space bad is never 'soon'"),
        (("chunk", "mpi-io", "word"), "rows", "chunk of space bad is of layer hdf5"),
        (("chunk", "hdf5", "word"), "round", "chunk of space bad is never 'round'"),
    ],
)
def test_a_value_that_the_library_refuses_is_told(
    tmp_path: Path, parameter: tuple[str, str, str], value: str, words: str
) -> None:
    """Its parameter is named, and nothing is run: with it nothing at all would be set."""
    path = tmp_path / "bad.toml"
    name, layer, kind = parameter
    text = SPACE.replace("meta_block_size", name).replace("hdf5", layer).replace("bytes", kind)
    path.write_text(text.replace('"64 KiB", "1 MiB"', f'"{value}"'))
    code, said = tune("--space", str(path), "-o", str(tmp_path / "t"), "--", "/bin/true")
    assert code == 2
    assert words in said


def test_going_on_takes_nothing_new(tmp_path: Path, space: str) -> None:
    """Neither options nor another space; what a killed run left in its folder is removed."""
    where = tmp_path / "t"
    tune("--space", space, "-o", str(where), "--", "/bin/true")
    (where / "run-left").mkdir()
    code, said = tune("--resume", str(where), "--budget", "40")
    assert code == 2
    assert "--resume takes everything from the tuning, but got --budget" in said
    code, said = tune("--resume", str(where))
    assert code == 1
    assert "HDF5 or MPI-IO" in said
    assert not (where / "run-left").exists()
    Path(space).write_text(SPACE.replace("1 MiB", "2 MiB"))
    code, said = tune("--resume", str(where))
    assert code == 2
    assert "is another now than when it began" in said


def test_paths_mean_the_same_from_another_directory(
    tmp_path: Path, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program changes its directory, and the tuning is gone on with from elsewhere."""
    monkeypatch.chdir(tmp_path)
    script = "cd /; test -f $LEADLINE_H5_SETTINGS || exit 7"
    _, said = tune("--space", "space.toml", "-o", "t", "--", "/bin/sh", "-c", script)
    assert "HDF5 or MPI-IO" in said
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    mark = {processes.MARKS: f"{tmp_path.resolve() / 't'}:1"}
    with subprocess.Popen(["sleep", "60"], env={**os.environ, **mark}) as left:  # by one that was killed
        _, said = tune("--resume", "../t")
        assert left.wait(10) == -9
    assert "HDF5 or MPI-IO" in said


def test_names_and_values_are_quoted(tmp_path: Path) -> None:
    """As the library reads them, and as a shell does; names that its file cannot hold are left out."""
    names = ['/a\\b"c', "/" + "x" * 255, "/a\tb"]
    text = io_files.toml({"chunk": "rows"}, {"chunk": "hdf5"}, [Array(name, (8,)) for name in names], 2)
    path = tmp_path / "settings.toml"
    path.write_text(text)
    assert [each.dataset for each in h5settings.read(path)] == ['/a\\\\b"c']
    layers = {"WHAT": "environment"}
    (tmp_path / "prolog.sh").write_text(io_files.prolog({"WHAT": "a b"}, layers, "", str(tmp_path / "it's")))
    shell = ["/bin/sh", "-c", '. ./prolog.sh; echo "$WHAT:$LEADLINE_H5_SETTINGS"']
    said = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said == f"a b:{tmp_path}/it's/settings.toml\n"
