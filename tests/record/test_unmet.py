"""Receives that no message met, and messages that nobody received, are left out."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.mpi import Mpi
from leadline.program.left import left_behind, unmet
from leadline.program.model import Kind, Program
from record.test_record import Build, _as_root, build, launched, mpi, only, recorded

__all__ = ["_as_root", "build", "mpi"]  # fixtures

pytestmark = pytest.mark.mpi


@pytest.fixture
def made(mpi: Mpi, build: Build, tmp_path: Path) -> Program:
    """The recording of unmet.c."""
    done = recorded(tmp_path / "unmet.program", launched(mpi, build("unmet.c"), ranks=2))
    assert done.exit_code == 0, done.output
    return program.read(tmp_path / "unmet.program")


def _said(*words: str) -> str:
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_receives_that_met_no_message_are_left_out(made: Program, tmp_path: Path) -> None:
    """Four of rank 0: open, given back, and of one started three times the last two. A replay says so.

    One that is given back and met a message says whose it was.
    """
    assert [(each.peer, each.tag) for each in only(made, 0, Kind.RECV)] == [(1, 1), (1, 9)]
    assert len(only(made, 0, Kind.START)) == len(only(made, 0, Kind.WAIT)) == 1
    assert unmet(made) == "4 receives were met by no message in the recording (4 of rank 0)"
    assert left_behind(made) == {1: 1}
    assert not made.recorded["outside"]
    for where in (("--on", "bgp"), ("--launches", "1")):
        said = _said("replay", str(tmp_path / "unmet.program"), *where)
        assert f"{unmet(made)}, and left out here" in said


@pytest.mark.parametrize("form", ["smpi", "goal"])
def test_an_exported_schedule_has_none_and_is_read_again(made: Program, tmp_path: Path, form: str) -> None:
    """Nor the message that nobody received; the ranks of what is imported take as long."""
    there, again = tmp_path / f"unmet.{form}", tmp_path / "again.program"
    said = _said("program", "export", form, str(tmp_path / "unmet.program"), "-o", str(there))
    assert f"{unmet(made)}: left out" in said
    assert "1 message was never received in the recording (1 of rank 1): left out" in said
    _said("program", "import", form, str(there), "-o", str(again))
    sizes = [each.bytes for each in only(program.read(again), 1, Kind.SEND) if each.bytes]
    assert sizes == [10, 20]
    _said("replay", str(again), "--on", "bgp")


def test_a_collective_that_nobody_waited_for_is_over_when_the_program_is(
    mpi: Mpi, build: Build, tmp_path: Path
) -> None:
    """Two are left, with a blocking one after them. They are waited for at the end, and a replay ends."""
    there = tmp_path / "forgets.program"
    done = recorded(there, launched(mpi, build("forgets.c"), ranks=2))
    assert done.exit_code == 0, done.output
    made = program.read(there)
    for rank in range(2):
        own = [(one.kind, one.request) for _, one in made.operations(rank) if one.request]
        waits = only(made, rank, Kind.WAIT)
        assert [kind for kind, _ in own] == [Kind.ALLREDUCE, Kind.NEIGHBOR_ALLGATHER, Kind.ALLREDUCE]
        assert [wait.gives for wait in waits] == [(own[2][1],), tuple(sorted(slot for _, slot in own[:2]))]
    for where in (("--on", "bgp"), ("--on", "ndr-fat-tree", "--network", "flow"), ("--launches", "1")):
        assert "communication" in _said("replay", str(there), *where)
