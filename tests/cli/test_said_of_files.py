"""What is said of files that are missing, or cannot be written, has one form and names what was given."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.core.record_files import replace
from leadline.program import evaluate, exporters
from leadline.program.comm import Comm


def silent(_comm: Comm) -> None:
    """Communicates nothing."""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program of two ranks."""
    evaluate(silent, ranks=2).write(tmp_path / "silent.program")
    return tmp_path / "silent.program"


def test_a_file_that_cannot_be_written_is_named_as_it_was_given(program: Path) -> None:
    """Not the draft beside it."""
    into = program.parent / "nowhere" / "x"
    with pytest.raises(OSError, match=f"No such file or directory: '{into}'$"):
        replace(into, b"")
    with pytest.raises(OSError, match=f"No such file or directory: '{into}'$"):
        exporters.write("smpi", evaluate(silent, ranks=2), into)


@pytest.mark.parametrize(
    "words",
    [
        ["replay", "{}", "--on", "bgp"],
        ["profile", "{}"],
        ["report", "{}"],
        ["extend", "{}", "--ranks", "8"],
        ["program", "import", "goal", "{}"],
        ["program", "export", "goal", "{}", "-o", "x.goal"],
        ["tune", "collectives", "{}"],
        ["tune", "mapping", "--matrix", "{}", "--on", "bgp"],
        ["record", "--from", "{}"],
        ["io", "check", "{}"],
        ["import", "osu", "{}", "--mpi", "mpich"],
    ],
)
def test_a_missing_file_is_told_in_one_form(words: list[str], tmp_path: Path) -> None:
    """Whoever reads it."""
    path = tmp_path / "none.program"
    found = CliRunner().invoke(main, [word.format(path) for word in words])
    assert found.exit_code == 2
    assert f"leadline: cannot read {path}: No such file or directory" in " ".join(found.output.split())


def test_a_program_without_regions_has_no_rows_for_them(program: Path) -> None:
    """Exit code 2, as for a benchmark that a run has not; before anything is simulated."""
    words = ["replay", str(program), "--on", "bgp", "--by", "region"]
    for form in ([], ["--json"]):
        found = CliRunner().invoke(main, [*words, *form])
        assert found.exit_code == 2
        said = " ".join(found.output.split())
        assert f"leadline: --by region: {program} has no regions; it marks them with MPI_Pcontrol" in said
