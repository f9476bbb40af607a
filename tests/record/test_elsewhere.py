"""Calls by names of their own are recorded; what goes to processes that are not recorded is left out."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.mpi import Mpi
from leadline.program.model import Construction, Form, Kind
from record.test_record import Build, _as_root, build, kinds, launched, mpi, only, recorded

__all__ = ["_as_root", "build", "mpi"]  # fixtures

pytestmark = pytest.mark.mpi


def _replayed(path: Path) -> None:
    for words in (["--on", "bgp"], ["--launches", "1"]):
        done = CliRunner().invoke(main, ["replay", str(path), *words])
        assert done.exit_code == 0, done.output


def test_persistent_collectives_also_as_an_extension(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """MPIX_Allreduce_init of Open MPI 4 is MPI_Allreduce_init: each start is an allreduce."""
    path = tmp_path / "persists.program"
    assert recorded(path, launched(mpi, build("persists.c"), ranks=2)).exit_code == 0
    made = program.read(path)
    for rank in range(2):
        assert [(e.bytes, e.form) for e in only(made, rank, Kind.ALLREDUCE)] == [(800, Form.PERSISTENT)]
        assert [(e.bytes, e.form) for e in only(made, rank, Kind.BCAST)] == [(400, Form.PERSISTENT)]
        assert [each.gives for each in only(made, rank, Kind.START)] == [(1, 2)] * 3
    _replayed(path)


def test_windows_whose_memory_fortran_gets_as_a_pointer(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """`use mpi` has a name more for them, by which they were not seen, nor what was put into them."""
    path = tmp_path / "pointers.program"
    assert recorded(path, launched(mpi, build("pointers.f90"), ranks=2)).exit_code == 0
    made = program.read(path)
    one = ["WIN", "FENCE", "PUT", "FENCE", "WIN_FREE"]
    for rank in range(2):
        assert kinds(made, rank) == one * 2
        assert [(e.peer, e.bytes) for e in only(made, rank, Kind.PUT)] == [(1 - rank, 80)] * 2
        assert [e.bytes for e in only(made, rank, Kind.WIN)] == [80] * 2
    assert not made.recorded["outside"]
    _replayed(path)


def test_what_goes_to_processes_that_were_started(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """It is named and left out; a communicator of recorded ranks alone is theirs, whatever it was made of
    (MPICH's over UCX cannot start any)."""
    path, words = tmp_path / "grows.program", launched(mpi, build("grows.c"), ranks=2)
    alone = subprocess.run(words, check=False, capture_output=True)
    done = recorded(path, words)
    assert done.exit_code == alone.returncode
    if alone.returncode != 0:
        return
    made = program.read(path)
    assert {"MPI_Comm_spawn_multiple", "what goes to processes outside MPI_COMM_WORLD"} < set(
        made.recorded["outside"]
    )
    for rank in range(2):
        assert kinds(made, rank) == ["COMM", "ALLREDUCE", "COMM_FREE"]
        (own,) = only(made, rank, Kind.COMM)
        assert own.mode == Construction.CREATE_GROUP
        assert list(made.communicators[own.extra - 1].members) == [0, 1]
    _replayed(path)
