"""What programs seldom call is recorded as they call it, and replayed; what cannot be is named."""

import json
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.mpi import Mpi
from leadline.profile import profile
from leadline.profile.sentences import shares
from leadline.program.left import left_behind
from leadline.program.model import WAITED, Datatype, FileCall, Form, Kind, Program, Reduction
from record.test_record import Build, _as_root, build, launched, mpi, only, recorded

__all__ = ["_as_root", "build", "mpi"]  # fixtures

pytestmark = pytest.mark.mpi


def _of(tmp_path: Path, mpi: Mpi, made: Path, ranks: int) -> Program:
    """The program, which ran as it does without being recorded, and is executed on a described machine."""
    path = tmp_path / "rare.program"
    done = recorded(path, launched(mpi, made, ranks=ranks))
    assert done.exit_code == 0, done.output
    return program.read(path)


def _replayed(tmp_path: Path, *words: str) -> str:
    done = CliRunner().invoke(main, ["replay", str(tmp_path / "rare.program"), *words])
    assert done.exit_code == 0, done.output
    return done.output


def _fields(found: list[Any], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(each, name) for name in names) for each in found]


def test_what_means_nothing_is_not_looked_at(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """Types and counts that only the root's are; a root in place has its own block. With the MPI, too."""
    made = _of(tmp_path, mpi, build("insignificant.c"), 3)
    for rank, own in enumerate((8, 16, 24)):
        for kind in (Kind.GATHER, Kind.SCATTER):
            assert [each.bytes for each in only(made, rank, kind)] == [16, own]
        assert [each.bytes for each in only(made, rank, Kind.ALLGATHER)] == [24]
    assert only(made, 1, Kind.GATHER)[1].takes == (0, 8, 1, 16, 2, 24)
    assert only(made, 1, Kind.SCATTER)[1].gives == (0, 8, 1, 16, 2, 24)
    _replayed(tmp_path, "--on", "bgp")
    _replayed(tmp_path, "--launches", "1")


def test_requests_that_are_inactive_or_cancelled(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """A persistent receive is of any rank, and of the largest size; cancels that are late change nothing."""
    made = _of(tmp_path, mpi, build("requests.c"), 3)
    persistent, late = only(made, 0, Kind.RECV)
    assert (persistent.peer, persistent.bytes, persistent.tag) == (-1, 100, 3)
    assert (late.peer, late.bytes, late.tag) == (1, 40, 4)
    assert [each.takes for each in only(made, 0, Kind.WAIT)] == [(1, 1, 3), (1, 2, 3), ()]  # whom it met
    _replayed(tmp_path, "--on", "bgp")
    _replayed(tmp_path, "--launches", "1")


def test_neighbours_that_only_give(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """What goes has the size of what is sent, whatever comes."""
    made = _of(tmp_path, mpi, build("graph.c"), 4)
    found = [only(made, rank, Kind.NEIGHBOR_ALLGATHER)[0] for rank in range(4)]
    assert _fields(found, "gives", "takes") == [
        ((1, 80, 2, 80, 3, 80), ()),
        ((2, 80), (0, 80)),
        ((), (0, 80, 1, 80, 3, 80)),
        ((2, 80), (0, 80)),
    ]
    _replayed(tmp_path, "--on", "bgp")


def test_neighbours_down_and_up_that_are_one_rank(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """What goes down comes from up: blocks are listed as they meet. With the MPI, too."""
    made = _of(tmp_path, mpi, build("grid.c"), 4)
    for rank in range(4):
        across, other = (rank + 2) % 4, rank ^ 1
        whole, part, copied = only(made, rank, Kind.NEIGHBOR_ALLTOALL)
        if rank < 2:  # the first dimension ends there
            assert whole.gives == (across, 16, other, 24, other, 4000)
            assert whole.takes == (across, 8, other, 24, other, 4000)
        assert part.gives == part.takes == (other % 2, 24, other % 2, 4000)
        assert copied.form == Form.NONBLOCKING
        assert copied.gives == (across, 32, other, 32, other, 32)
    _replayed(tmp_path, "--on", "bgp")
    _replayed(tmp_path, "--launches", "1")


def test_messages_that_nobody_received_are_left_behind_again(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """On a described machine and with the MPI, where a long one holds up nobody, either."""
    made = _of(tmp_path, mpi, build("leaves.c"), 2)
    assert left_behind(made) == {0: 2}
    for where in (("--on", "bgp"), ("--launches", "1")):
        assert "2 messages were never received in the recording (2 of rank 0)" in _replayed(tmp_path, *where)

    def long(comm: program.Comm) -> Generator[Any, Any, None]:
        if comm.rank == 0:
            yield comm.send(1, 10_000_000, tag=5)
        yield comm.sendrecv(1 - comm.rank, 8, 1 - comm.rank)

    written = program.evaluate(long, ranks=2)
    written.recorded = {"mpi": "made up"}
    written.write(tmp_path / "rare.program")
    _replayed(tmp_path, "--launches", "1", "--mpi", mpi.id)


def test_many_copies_of_the_world_are_executed(mpi: Mpi, tmp_path: Path) -> None:
    """Each was given back twice, which a few times did no harm. With the MPI."""

    def copies(comm: program.Comm) -> Generator[Any, Any, None]:
        for _ in range(20):
            copy: program.Comm = yield comm.dup()
            yield copy.barrier()

    program.evaluate(copies, ranks=2).write(tmp_path / "rare.program")
    _replayed(tmp_path, "--launches", "1", "--mpi", mpi.id)


def test_the_rest(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """A copied communicator, both halves of an exchange, a tested epoch, asking, and a call that failed."""
    made = _of(tmp_path, mpi, build("rest.c"), 2)
    copied, *_ = only(made, 0, Kind.COMM)
    assert made.communicators[copied.extra - 1].members == range(2)
    assert WAITED in {each.mode for each in only(made, 0, Kind.NOP)}
    assert _fields(only(made, 0, Kind.SEND)[:1], "comm", "bytes") == [(copied.extra - 1, 44)]
    assert _fields(only(made, 1, Kind.RECV)[:1], "comm", "bytes") == [(copied.extra - 1, 44)]
    exchanged = [each for each in only(made, 1, Kind.SEND) if each.tag == 1]
    if mpi.family == "mpich":
        assert _fields(exchanged, "peer", "bytes", "request") == [(0, 24, 2)]
        assert (1, 2) in [each.gives for each in only(made, 1, Kind.WAIT)]
    assert len(only(made, 1, Kind.WAIT_EPOCH)) == 1
    assert made.recorded["outside"] == ["MPI_Recv that returned an error"]
    times = made.times(1)
    assert times is not None
    waits = [index for index, (_, each) in enumerate(made.operations(1)) if each.kind == Kind.WAIT]
    assert times[waits[-1], 1] - times[waits[-1], 0] > 200e6  # ns, of 400 ms: asking is waiting


def test_epochs_of_two_windows_are_apart(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """Each wait is for whom its own window was posted. With the MPI, too."""
    made = _of(tmp_path, mpi, build("epochs.c"), 3)
    posts, waits = only(made, 0, Kind.POST), only(made, 0, Kind.WAIT_EPOCH)
    assert _fields(posts, "gives", "extra") == _fields(waits, "gives", "extra") == [((1,), 1), ((2,), 2)]
    assert [only(made, rank, Kind.COMPLETE)[0].gives for rank in (1, 2)] == [(0,), (0,)]
    assert made.recorded["outside"] == []
    _replayed(tmp_path, "--on", "bgp")
    _replayed(tmp_path)


def test_groups_that_are_merged_are_executed(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """The merged communicator has its ranks in their order, and is one for all. With the MPI, too."""
    made = _of(tmp_path, mpi, build("merges.c"), 3)
    bcast, *others = [each for rank in range(3) for each in only(made, rank, Kind.BCAST)]
    assert others == [bcast] * 2
    assert (tuple(made.communicators[bcast.comm].members), bcast.bytes) == ((1, 0, 2), 24)
    _replayed(tmp_path, "--on", "bgp")
    _replayed(tmp_path, "--launches", "1")


def test_sums_whose_blocks_vary(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """Each has its type and reduction, and is the same call for all ranks. With the MPI, too."""
    made = _of(tmp_path, mpi, build("scatters.c"), 4)
    for rank in range(4):
        sizes = [size * rank for size in (4, 48, 3, 12)]
        assert _fields(only(made, rank, Kind.REDUCE_SCATTER), "bytes", "type", "reduction") == [
            (sizes[0], Datatype.INT32, Reduction.SUM),
            (sizes[1] + 16, Datatype.OTHER, Reduction.SUM),
            (sizes[2] + 1, Datatype.OTHER, Reduction.LARGEST),
            (sizes[3] + 4, Datatype.FLOAT32, Reduction.LARGEST),
        ]
    _replayed(tmp_path, "--on", "bgp")
    _replayed(tmp_path, "--launches", "1")


def test_files_take_time_that_is_no_computation(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """What was done with how many bytes; a profile tells it apart, a replay takes as long. With the MPI."""
    words = launched(mpi, build("files.c"), tmp_path / "data", ranks=2)
    done = recorded(tmp_path / "rare.program", words)
    assert done.exit_code == 0, done.output
    made = program.read(tmp_path / "rare.program")
    for rank in range(2):
        assert _fields(only(made, rank, Kind.FILE), "mode", "bytes", "form") == [
            (FileCall.OPEN, 0, Form.BLOCKING),
            (FileCall.WRITE, 1 << 20, Form.BLOCKING),
            (FileCall.WRITE, 512, Form.NONBLOCKING),
            (FileCall.WAIT, 0, Form.BLOCKING),
            (FileCall.READ, 100, Form.BLOCKING),
            (FileCall.CLOSE, 0, Form.BLOCKING),
        ]
    found = profile(made)
    times = [made.times(rank) for rank in range(2)]
    for rank, each in enumerate(times):
        assert each is not None
        kinds = [operation.kind == Kind.FILE for _, operation in made.operations(rank)]
        assert found.files[rank] == (each[kinds, 1] - each[kinds, 0]).sum() > 0
        assert found.computing[rank] + found.files[rank] + found.communication[rank] == found.end[rank]
    assert found.caused()[1] > 25e6  # ns, of 30 ms
    assert "files by MPI" in shares(found)
    computed = max(float(made.before(rank).sum()) for rank in range(2))
    rows = json.loads(_replayed(tmp_path, "--on", "bgp", "--json"))
    assert rows[0]["time"] == pytest.approx(computed, rel=0.01)
    assert "files take as long as they were recorded" in _replayed(tmp_path, "--launches", "1")


def test_strings_of_fortran_keep_their_lengths(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """A port's name reaches the library: the program ends as it does without the recorder."""
    if mpi.family == "mpich":
        pytest.skip("MPICH over UCX has no MPI_Comm_accept")
    made = _of(tmp_path, mpi, build("ports.f90"), 2)
    assert made.recorded["outside"] == ["MPI_Comm_accept", "MPI_Comm_connect"]


def test_a_jump_out_of_a_call_ends_no_record(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """What follows an error handler that does not return is recorded; that it jumped is said."""
    made = _of(tmp_path, mpi, build("jumps.c"), 2)
    assert [len(only(made, 0, kind)) for kind in (Kind.SEND, Kind.BARRIER)] == [10, 1]
    assert len(only(made, 1, Kind.RECV)) == 10
    assert not made.partial
    assert any("jump" in each for each in made.recorded["outside"])


def test_processes_that_are_started_are_another_program(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """The record is that of the ranks that started them, and the exit code as without it (MPICH's over UCX
    cannot start any)."""
    words = launched(mpi, build("spawns.c"), ranks=2)
    alone = subprocess.run(words, check=False, capture_output=True)
    done = recorded(tmp_path / "rare.program", words)
    assert done.exit_code == alone.returncode
    if alone.returncode == 0:
        made = program.read(tmp_path / "rare.program")
        assert made.ranks == 2
        assert not made.partial
        assert "MPI_Comm_spawn" in made.recorded["outside"]


@pytest.mark.parametrize("module", ["USE_MPI", "F08"])
def test_requests_and_types_of_fortran(mpi: Mpi, build: Build, tmp_path: Path, module: str) -> None:
    """Each request is over once, persistent ones too; messages and blocks have their sizes, also in place."""
    made = _of(tmp_path, mpi, build("some.f90", f"-D{module}"), 2)
    for rank in range(2):
        assert [each.bytes for each in only(made, rank, Kind.RECV)] == [40, 40, 56]
        over = [number for each in only(made, rank, Kind.WAIT) for number in each.gives]
        assert sorted(over) == [1, 1, 1, 2, 2, 2]
        assert _fields(only(made, rank, Kind.ALLTOALL), "gives", "takes") == [((0, 8, 1, 8),) * 2] * 2
        assert [each.bytes for each in only(made, rank, Kind.GATHER)] == [(16, 24)[rank]]
    _replayed(tmp_path, "--on", "bgp")


@pytest.mark.parametrize(("size", "least"), [("9m", 1), ("4k", 2)])
def test_a_full_disk_ends_records_and_says_so(
    mpi: Mpi, build: Build, tmp_path: Path, size: str, least: int
) -> None:
    """A rank reserves 8 MiB: there is room for one, or for none. What there was room for is kept.

    Where both reserve at the same moment none may find enough.
    """
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system can be mounted only as root")
    try:
        words = launched(mpi, build("merges.c"), ranks=2)
        options = ["record", "--directory", str(small), "-o", str(tmp_path / "full.program")]
        done = CliRunner().invoke(main, [*options, *words])
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert done.exit_code == 0, done.output
    made = program.read(tmp_path / "full.program")
    cut = len(made.partial)
    assert least <= cut <= 2
    assert f"no room on the disk for the records of {cut} of 2 ranks" in done.output
    assert "MPI_Finalize" not in done.output
    assert {rank for rank in range(2) if not made.length(rank)} == made.partial
