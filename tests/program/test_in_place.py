"""Collectives in place, in a program written in Python: without the copy, and only where MPI has them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.program.model import IN_PLACE, Kind, Operation
from run.test_capacity import MACHINE


def spoken(comm: program.Comm, in_place: bool) -> Any:
    """Four of 1000 B of each rank, and two of which the root alone may be in place."""
    yield comm.allreduce(1000, in_place=in_place)
    yield comm.allgather(1000, in_place=in_place)
    yield comm.wait(comm.reduce_scatter({0: 1000, 1: 1000}, in_place=in_place, nonblocking=True))
    yield comm.alltoallv({0: 8, 1: 8}, {0: 8, 1: 8}, in_place=in_place)
    for root in range(2):
        yield comm.gather(1000, root, in_place=in_place and comm.rank == root)
        yield comm.scatterv({0: 1000, 1: 8}, root, in_place=in_place and comm.rank == root)


def replayed(path: Path, here: Path) -> Any:
    """The answer of `replay` on a machine whose cores copy 1 GB/s."""
    copy = 'copy = { value = "1 GB/s", source = "made up" }'
    (here / "made.toml").write_text(
        MACHINE.format(hop="0.1 us", node="", more="", ranks=1, cores=1, top=copy)
    )
    return CliRunner().invoke(main, ["replay", str(path), "--on", str(here / "made.toml"), "--json"])


def test_what_is_in_place_is_noted_and_takes_less(tmp_path: Path) -> None:
    """By each rank, and of a gather and a scatter by the root."""
    times = []
    for in_place in (False, True):
        path = tmp_path / f"{in_place}.program"
        program.evaluate(spoken, 2, in_place=in_place).write(path)
        for rank in range(2):
            told = [leaf for leaf in program.read(path).leaves(rank) if leaf.kind != Kind.WAIT]
            assert [leaf.free == IN_PLACE for leaf in told] == [
                in_place and (place < 4 or (place - 4) // 2 == rank) for place in range(8)
            ]
        done = replayed(path, tmp_path)
        assert done.exit_code == 0, done.output
        times.append(json.loads(done.stdout)[0]["time"])
    assert times[1] < times[0]


@pytest.mark.parametrize(
    ("name", "copied"),
    [("allreduce", 1000), ("allgather", 1000), ("scan", 1000), ("reduce_scatter", 2000)],
)
def test_what_a_rank_brings_is_not_copied(name: str, copied: int, tmp_path: Path) -> None:
    """At 1 GB/s: its 1000 B, or of a reduce_scatter those of the blocks of both ranks."""

    def code(comm: program.Comm, in_place: bool) -> Any:
        yield getattr(comm, name)(1000, in_place=in_place)

    times = []
    for in_place in (False, True):
        program.evaluate(code, 2, in_place=in_place).write(tmp_path / "one.program")
        times.append(json.loads(replayed(tmp_path / "one.program", tmp_path).stdout)[0]["time"])
    assert times[0] - times[1] == pytest.approx(copied / 1e9, rel=1e-9)


@pytest.mark.parametrize(("kind", "peer"), [(Kind.BCAST, 0), (Kind.BARRIER, 0), (Kind.REDUCE, 1)])
def test_a_file_that_has_it_where_mpi_has_not_is_refused(kind: Kind, peer: int, tmp_path: Path) -> None:
    """A broadcast has one buffer, and of a reduction only the root's is where the result will be."""

    def code(comm: program.Comm) -> Any:
        free = IN_PLACE if comm.rank == 0 else 0
        comm.owner.note(Operation(int(kind), peer=peer, free=free))
        yield comm.barrier()

    path = tmp_path / "wrong.program"
    program.evaluate(code, 2).write(path)
    done = replayed(path, tmp_path)
    assert done.exit_code == 1
    assert f"rank 0 has its data in place in a {kind.name.lower()}" in done.output
