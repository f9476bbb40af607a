"""What a tuning is made of: spaces that depend on numbers, kernels and points, options that say nothing."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.cli.io.tune import WITHOUT, command
from leadline.core import paths
from leadline.core.errors import UsageError
from leadline.native import registry
from leadline.tune import search
from leadline.tune.io import journal as io_journal
from leadline.tune.io.measured import Command
from leadline.tune.io.setup import point


def tune(*words: str) -> tuple[int, str]:
    """`leadline io tune` with some words: its exit code and what it said, on one line."""
    result = CliRunner().invoke(main, ["tune", "io", *words])
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.parametrize(
    ("machine", "kernel", "space"),
    [("hopper", "vpic", "lustre"), ("intrepid", "vorpal", "gpfs"), ("stampede", "gcrm", "lustre-chunked")],
)
def test_a_described_machine_knows_the_numbers_of_a_space(
    tmp_path: Path, machine: str, kernel: str, space: str
) -> None:
    """Its targets and nodes; the shipped spaces need no more."""
    where = tmp_path / "t"
    named = ("--kernel", kernel, "--on", machine, "--ranks", "128", "--space", space)
    code, said = tune(*named, "--budget", "3", "--search", "random", "-o", str(where))
    assert code == 0, said
    assert io_journal.read(where)[1][-1]["phase"] == "end"


def test_a_setting_that_the_model_does_not_know_is_told_before_anything(tmp_path: Path) -> None:
    """The default space has settings of HDF5 that are not in it."""
    where = tmp_path / "t"
    code, said = tune("--kernel", "vpic", "--on", "hopper", "--space", "here", "-o", str(where))
    assert code == 2
    assert "the model of storage knows no setting 'chunk'" in said
    assert not where.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--space", "lustre"), "give --number targets=N --number nodes=N --number ranks=N"),
        (("--space", "gpfs", "--number", "ranks=4"), "--number nodes=N"),
        (("--space", "lustre", "--number", "targets=0"), "a count of 1 or more, as targets=48, but got"),
        (("--space", "lustre", "--number", "targets"), "a count of 1 or more, as targets=48, but got"),
        (("--space", "lustre", "--number", "target=4"), "did you mean 'targets'?"),
        (("--space", "here", "--number", "targets=4"), "space here has no number 'targets'; it has none"),
        (
            ("--space", "lustre", "--number", "nodes=4", "--number", "nodes=5"),
            "--number nodes is given twice: 4 and 5",
        ),
    ],
)
def test_numbers_of_a_space_are_given_or_asked_for(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """One sentence with what would do, before the tuning has a folder."""
    code, output = tune(*words, "-o", str(tmp_path / "t"), "--", "/bin/true")
    assert code == 2
    assert said in output
    assert not (tmp_path / "t").exists()


def test_a_command_is_tuned_with_the_numbers_given(tmp_path: Path) -> None:
    """They stand in the space, and are kept for going on."""
    where = tmp_path / "t"
    given = ("--number", "targets=4", "--number", "nodes=1", "--number", "ranks=2")
    code, said = tune("--space", "lustre", *given, "-o", str(where), "--", "/bin/true")
    assert code == 1
    assert "HDF5 or MPI-IO" in said
    code, said = tune("--resume", str(where))
    assert "HDF5 or MPI-IO" in said
    facts, _ = io_journal.read(where)
    assert facts["request"]["numbers"] == ["targets=4", "nodes=1", "ranks=2"]


def test_what_a_space_depends_on_is_known_without_reading_it_whole() -> None:
    """In the order in which they stand in the file."""
    assert search.needed("here") == ()
    assert search.needed("lustre") == ("targets", "nodes", "ranks")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ranks", "8"), "--number ranks: the ranks of a kernel are given by --ranks"),
        ((), "--number targets=N"),
    ],
)
def test_a_kernel_knows_its_ranks_and_its_node(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """Of a space of stripes only the targets are asked for."""
    named = ("--kernel", "vpic", "--space", "lustre", *words, *(("--number", "ranks=8") if words else ()))
    code, output = tune(*named, "-o", str(tmp_path / "t"))
    assert code == 2
    assert said in output


def test_every_kernel_is_found_by_its_file() -> None:
    """And takes the coordinates of its point as a plan has them."""
    assert paths.kernels() >= {"vpic", "vorpal", "gcrm", "checkpoint", "ior"}
    for kernel in paths.kernels():
        assert point(kernel, ("shrink=64",))["shrink"] == 64


def test_a_new_kernel_needs_no_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beside the others is one."""
    (tmp_path / "io").mkdir()
    (tmp_path / "io" / "planted.cpp").touch()
    monkeypatch.setattr(paths, "native_dir", lambda: tmp_path)
    assert paths.kernels() == {"planted"}
    described = registry.Benchmark("planted", "?", 1, None, (), ())
    monkeypatch.setattr(registry, "benchmarks", lambda: {"planted": described})
    assert point("planted", ()) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("block=4 MiB", None),
        ("block=4 MIB", "block of planted is never '4 MIB': unknown unit 'MIB'"),
        ("block=1 MiB .. 4 MiB", "block of planted is one value, but got '1 MiB .. 4 MiB'"),
        ("mode=raed", "mode of planted is never 'raed': unknown word 'raed'; did you mean 'read'?"),
        ("mode=", "mode of planted is never '': this is a word in quotes"),
        ("modes=read", "planted has no key 'modes'; did you mean 'mode'?"),
    ],
)
def test_a_point_is_read_as_a_plan_is(monkeypatch: pytest.MonkeyPatch, text: str, said: str | None) -> None:
    """Sizes with units and words; one value of each."""
    sweeps = (
        registry.Sweep("block", "B", "bytes", (1024,), "size of a block"),
        registry.Sweep("mode", "1", "choice", ("write",), "what is done", ("write", "read")),
    )
    described = registry.Benchmark("planted", "?", 1, None, sweeps, ())
    monkeypatch.setattr(registry, "benchmarks", lambda: {"planted": described})
    monkeypatch.setattr(paths, "kernels", lambda: {"planted"})
    if said is None:
        assert point("planted", (text,)) == {"block": 2**22, "mode": "write"}
        return
    with pytest.raises(UsageError) as told:
        point("planted", (text,))
    assert said in str(told.value)


WAYS = {
    "--on": ("--kernel", "vpic", "--on", "hopper"),
    "a --kernel": ("--kernel", "vpic"),
    "a program": ("--", "/bin/true"),
}
VALUES = {
    "--on": "hopper",
    "--limit": "5 s",
    "--set": "mode=write",
    "--mpi": "default",
    "--ranks": "4",
    "--number": "targets=4",
}


@pytest.mark.parametrize(("way", "option"), [(way, each) for way in WITHOUT for each in WITHOUT[way][0]])
def test_an_option_that_would_change_nothing_is_refused(tmp_path: Path, way: str, option: str) -> None:
    """Also one that says what holds by itself; nothing is made."""
    value = str(tmp_path) if option == "--directory" else VALUES.get(option, "5")
    code, said = tune("-o", str(tmp_path / "t"), option, value, *WAYS[way])
    assert code == 2
    assert f": {option}: {WITHOUT[way][1]}" in said
    assert not (tmp_path / "t").exists()


def test_safety_has_the_classes_of_spaces() -> None:
    """Beside the one that looks who proves what; a command proves nothing by its record."""
    (safety,) = (each for each in command.params if each.name == "safety")
    assert isinstance(safety.type, click.Choice)
    assert list(safety.type.choices) == ["auto", *search.SAFETY]
    assert isinstance(safety, click.Option)
    assert "for kernels" in str(safety.help)
    told = Command(["/bin/true"], Path(), Path(), {})
    told.learn({"ranks": 2, "whole": True})
    assert not told.proves()


def test_every_option_is_somewhere_of_use() -> None:
    """The table names options that there are, and none that no way of judging takes."""
    there = {each.opts[0] for each in command.params if isinstance(each, click.Option)}
    idle = [set(names) for names, _ in WITHOUT.values()]
    assert set.union(*idle) <= there
    assert set.intersection(*idle) == set()


def test_several_that_would_change_nothing_are_named_together(tmp_path: Path) -> None:
    """In one sentence."""
    code, said = tune("-o", str(tmp_path / "t"), "--minimize", "x", "--check", "y", "--kernel", "vpic")
    assert code == 2
    assert f"--minimize, --check: {WITHOUT['a --kernel'][1]}" in said
