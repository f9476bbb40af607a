"""`leadline clean` removes what can be made again, and nothing that somebody uses or wrote."""

import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state with a build and an MPI, and temporary files: old scratch, young scratch, somebody else's."""
    for name in (
        "state/build/local-1",
        "state/mpi/mpich",
        "tmp/leadline-old",
        "tmp/leadline-young",
        "tmp/other",
    ):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_bytes(b"x" * 100)
    for path in (tmp_path / "tmp" / "leadline-old" / "file", tmp_path / "tmp" / "leadline-old"):
        os.utime(path, (1, 1))
    monkeypatch.setenv("LEADLINE_STATE", str(tmp_path / "state"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


def left(state: Path) -> set[str]:
    """The directories that hold a file."""
    return {str(path.parent.relative_to(state)) for path in state.rglob("file")}


def test_builds_and_old_scratch_go(state: Path) -> None:
    """Not what is young, nor MPIs, nor what is not Leadline's; a dry run removes nothing."""
    before = left(state)
    dry = CliRunner().invoke(main, ["clean", "--dry-run"])
    assert dry.exit_code == 0, dry.output
    assert "leadline-old" in dry.output
    assert left(state) == before
    assert CliRunner().invoke(main, ["clean"]).exit_code == 0
    assert left(state) == {"state/mpi/mpich", "tmp/leadline-young", "tmp/other"}


def test_what_a_process_uses_stays(state: Path) -> None:
    """A program that runs in a build keeps it."""
    build = state / "state" / "build" / "local-1"
    with subprocess.Popen(["sleep", "60"], cwd=build) as process:
        CliRunner().invoke(main, ["clean"])
        process.kill()
    assert "state/build/local-1" in left(state)
