"""Which collectives were in place is recorded, and a replay does not copy what they did not."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.mpi import Mpi
from leadline.program.folded import Folded
from leadline.program.model import COLLECTIVES, IN_PLACE, Kind, Program
from record.test_record import Build, _as_root, build, launched, mpi, recorded
from run.test_capacity import MACHINE

__all__ = ["_as_root", "build", "mpi"]  # fixtures

pytestmark = pytest.mark.mpi

RANKS = 4
ROOTED = (Kind.REDUCE, Kind.GATHER, Kind.SCATTER)


def found(made: Program, rank: int) -> list[tuple[Kind, bool]]:
    """The collectives of a rank, each with whether it was in place."""
    leaves = (leaf for _, leaf in made.operations(rank) if leaf.kind in COLLECTIVES)
    return [(Kind(leaf.kind), bool(leaf.free & IN_PLACE)) for leaf in leaves]


def test_what_is_in_place_is_recorded_and_not_copied(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """Of two turns the second is in place: of all ranks, or of the root. It is replayed with the MPI, too."""
    path = tmp_path / "in_place.program"
    done = recorded(path, launched(mpi, build("in_place.c"), ranks=RANKS))
    assert done.exit_code == 0, done.output
    made = program.read(path)
    for rank in range(RANKS):
        told = found(made, rank)
        half = len(told) // 2
        assert half == 12
        assert [kind for kind, _ in told[:half]] == [kind for kind, _ in told[half:]]
        assert not any(there for _, there in told[:half])
        assert [there for _, there in told[half:]] == [
            kind not in ROOTED or rank == RANKS - 1 for kind, _ in told[half:]
        ]
    words = ("replay", str(path), "--mpi", mpi.id, "--launches", "1")
    replayed = CliRunner().invoke(main, words)
    assert replayed.exit_code == 0, replayed.output


@pytest.mark.parametrize("flags", [(), ("-DF08",)])
def test_fortran_says_it_otherwise(mpi: Mpi, build: Build, tmp_path: Path, flags: tuple[str, ...]) -> None:
    """Its MPI_IN_PLACE is the address of a variable, in `mpi_f08` within a descriptor."""
    path = tmp_path / "in_place.program"
    done = recorded(path, launched(mpi, build("in_place.f90", *flags), ranks=2))
    assert done.exit_code == 0, done.output
    both = [(kind, there) for there in (False, True) for kind in (Kind.ALLREDUCE, Kind.ALLGATHER)]
    assert found(program.read(path), 1) == both


def test_a_replay_takes_less_by_the_copies(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """Three collectives of 1000 B of each rank: by what a core copies at 1 GB/s, against the same apart."""
    path = tmp_path / "in_place.program"
    assert recorded(path, launched(mpi, build("in_place.c"), ranks=RANKS)).exit_code == 0
    copy = 'copy = { value = "1 GB/s", source = "made up" }'
    (tmp_path / "made.toml").write_text(
        MACHINE.format(hop="0.1 us", node="", more="", ranks=1, cores=1, top=copy)
    )
    times = []
    for free in (IN_PLACE, 0):
        made = program.read(path)
        made.sequences = [_these(each, free) for each in made.sequences]
        made.times_of = None
        made.write(path)
        words = ("--compute", "0", "--what-if", "alltoall=pairwise", "--json")
        done = CliRunner().invoke(main, ["replay", str(path), "--on", str(tmp_path / "made.toml"), *words])
        assert done.exit_code == 0, done.output
        times.append(float(json.loads(done.stdout)[-1]["time"]))
    assert times[1] - times[0] == pytest.approx(3 * 1000 / 1e9, rel=1e-3)


def _these(sequence: Folded, free: int) -> Folded:
    """A sequence whose collectives in place are three, by `free` in place or not; the others are apart."""
    three = (Kind.ALLREDUCE, Kind.ALLGATHER, Kind.ALLTOALL)
    leaves = tuple(
        leaf._replace(free=free if leaf.kind in three and leaf.bytes == 1000 and not leaf.form else 0)
        if leaf.kind in COLLECTIVES and leaf.free
        else leaf
        for leaf in sequence.leaves
    )
    return replace(sequence, leaves=leaves)
