"""Recorded programs: what the source says is what the record says, and the program is the same with it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline import program
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.mpi import Mpi
from leadline.mpi.discover import find
from leadline.mpi.install import install
from leadline.program.events import collectives
from leadline.program.folded import Loop
from leadline.program.model import Construction, Kind, Operation, Program
from leadline.record import session, spills
from leadline.record.convert import convert

pytestmark = pytest.mark.mpi

PROGRAMS = Path(__file__).parent / "programs"
MPIS = [mpi for mpi in find() if mpi.compiler and mpi.launcher]
RANKS = 4

Build = Callable[..., Path]


@pytest.fixture(autouse=True)
def _as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open MPI starts nothing for root without being told twice."""
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


@pytest.fixture(scope="module", params=MPIS, ids=lambda mpi: mpi.family)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI here."""
    found: Mpi = request.param
    return found


@pytest.fixture(scope="module")
def build(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compiles one of the programs beside this file."""
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name: str, *flags: str) -> Path:
        source = PROGRAMS / name
        made = folder / "-".join([source.stem, *(flag.strip("-D") for flag in flags)])
        compiler = str(mpi.compiler)
        if source.suffix == ".f90":
            compiler = compiler.replace("mpicc", "mpifort")
            flags = ("-cpp", "-ffree-line-length-none", *flags)
        if not Path(compiler).exists():
            pytest.skip(f"{mpi.id} has no compiler for {source.suffix}")
        subprocess.run([compiler, "-g", "-w", *flags, "-o", str(made), str(source)], check=True)
        return made

    return compiled


def launched(mpi: Mpi, *command: str | Path, ranks: int = RANKS) -> list[str]:
    """The words that start ranks."""
    more = ["--oversubscribe"] if mpi.family == "openmpi" else []
    return [str(mpi.launcher), *more, "-n", str(ranks), *map(str, command)]


def recorded(path: Path, command: list[str]) -> Result:
    """What `leadline record` did; its file is at `path`."""
    return CliRunner().invoke(main, ["record", "-o", str(path), "--", *command])


def kinds(made: Program, rank: int) -> list[str]:
    """The operations of a rank by name, without what is computation alone."""
    names = [Kind(each.kind).name for _, each in made.operations(rank)]
    return [name for name in names if name != "NOP"]


def only(made: Program, rank: int, kind: Kind) -> list[Operation]:
    """The operations of a kind."""
    return [each for _, each in made.operations(rank) if each.kind == kind]


def test_the_record_is_what_the_source_says(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """Sizes of derived types, sources that were met, requests, communicators, blocks, regions, windows."""
    path = tmp_path / "known.program"
    done = recorded(path, launched(mpi, build("known.c")))
    assert done.exit_code == 3, done.output  # the program's own
    check_known(program.read(path))


def check_known(made: Program) -> None:
    """What the ranks of known.c say."""
    assert made.ranks == RANKS
    assert made.partial == frozenset()
    for rank in range(RANKS):
        right, left = (rank + 1) % RANKS, (rank - 1) % RANKS
        (both,) = only(made, rank, Kind.SENDRECV)
        assert (both.peer, both.bytes, both.source, both.source_bytes) == (right, 32, left, 32)
        receives = only(made, rank, Kind.RECV)
        assert [(each.peer, each.bytes, each.tag) for each in receives] == [
            (left, 24, 9),
            (left, 16, 1),
            (left, 56, 2),
        ]
        assert [each.free for each in receives] == [3, 0, 0]
        assert [(each.bytes, each.mode, each.form) for each in only(made, rank, Kind.SEND)] == [
            (24, 1, 1),
            (16, 0, 2),
            (56, 0, 1),
        ]
        assert len(only(made, rank, Kind.START)) == 3
        splits = only(made, rank, Kind.COMM)
        assert [each.mode for each in splits] == [Construction.SPLIT] * 2
        assert len({each.extra for each in splits}) == 1  # the second is the first one made again
        half = made.communicators[splits[0].extra - 1]
        assert tuple(half.members) == ((2, 0) if rank % 2 == 0 else (3, 1))
        sums = only(made, rank, Kind.ALLREDUCE)
        assert [(each.bytes, each.type, each.reduction) for each in sums] == [(16, 4, 3)] * 2
        (gathered,) = only(made, rank, Kind.ALLGATHER)
        assert gathered.bytes == 8 * rank
        assert gathered.takes == (1, 8, 2, 16, 3, 24)
        (put,) = only(made, rank, Kind.PUT)
        assert (put.peer, put.bytes) == (right, 40)
        names = kinds(made, rank)
        assert names[names.index("REGION_BEGIN") :][:3] == ["REGION_BEGIN", "ALLGATHER", "REGION_END"]
        assert names[-5:] == ["WIN", "FENCE", "PUT", "FENCE", "WIN_FREE"]
        site = made.sites[both.site]
        assert site.startswith("known.c:")
        assert site.endswith(" main")


def test_hosts_with_wrong_clocks_are_aligned(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """A record of which two ranks are said to be on a host whose time of day is 5 ms ahead.

    Nobody leaves an allreduce before the last one comes, by aligned clocks neither, and the clock is right to
    within what is said, however long busy cores let messages wait.
    """
    command = launched(mpi, build("known.c"))
    session.run(command, tmp_path, session.prepare(mpi), mpi)
    found = [spills.load(path) for path in sorted(tmp_path.glob("*.raw"))]
    right = convert(found, {})
    for spill in found:
        if spill.rank >= 2:
            spill.facts["host"] = "another"
            spill.facts["clock_offset"] += 5_000_000
    made = convert(found, {})
    within = made.recorded["clocks"]["within_s"]
    assert made.recorded["clocks"]["unaligned"] == []
    assert 0 < within < 10
    # Times begin with the first rank's, which may be on either host: what counts is how far hosts differ.
    off = []
    for rank in range(RANKS):
        times, true = made.times(rank), right.times(rank)
        assert times is not None
        assert true is not None
        off.append((times - true)[-1, 1] * 1e-9)
    assert max(off) - min(off) <= within + 1e-6
    for operation, places in collectives(made):
        if operation.kind == Kind.ALLREDUCE:
            every = [made.times(rank)[index] for rank, index in places]  # type: ignore[index]
            assert max(each[0] for each in every) <= min(each[1] for each in every) + within * 1e9


def test_large_counts_are_recorded(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """Of blocks that vary, in C, and of Fortran's usual names, where the MPI has them (MPI 4)."""
    if mpi.family == "openmpi" and mpi.major < 6:
        pytest.skip("Open MPI before 6 has no large counts")
    path = tmp_path / "large.program"
    assert recorded(path, launched(mpi, build("large.c"))).exit_code == 0
    made = program.read(path)
    for rank in range(RANKS):
        gives = tuple(n for other in range(RANKS) for n in (other, 8 * (other + 1)))
        takes = tuple(n for other in range(RANKS) for n in (other, 8 * (rank + 1)))
        both = only(made, rank, Kind.ALLTOALL)
        assert [(each.gives, each.takes, each.form) for each in both] == [
            (gives, takes, 0),
            (gives, takes, 1),
        ]
        (everywhere,) = only(made, rank, Kind.ALLGATHER)
        (once,) = only(made, rank, Kind.GATHER)
        assert everywhere.takes == gives
        assert (once.bytes, once.takes) == (8 * (rank + 1), gives if rank == 1 else ())
    assert recorded(path, launched(mpi, build("large.f90"))).exit_code == 0
    made = program.read(path)
    for rank in range(RANKS):
        (around,) = only(made, rank, Kind.SENDRECV)
        assert (around.bytes, around.source_bytes) == (40, 40)
        assert [each.bytes for each in only(made, rank, Kind.ALLREDUCE)] == [40]


@pytest.mark.full
def test_a_program_of_the_standard_abi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of libmpi_abi, which MPICH 5 has beside its own library, with other handles."""
    monkeypatch.setenv("LEADLINE_STATE", str(tmp_path / "state"))
    mpich = install("mpich")
    app, path = tmp_path / "known", tmp_path / "known.program"
    compiler = mpich.prefix / "bin" / "mpicc_abi"
    subprocess.run([compiler, "-g", "-w", "-o", app, PROGRAMS / "known.c"], check=True)
    done = recorded(path, launched(mpich, app))
    assert done.exit_code == 3, done.output
    check_known(program.read(path))


def test_without_the_standard_s_header_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is built."""
    monkeypatch.setattr(session, "_linked", lambda _: session.STANDARD)
    monkeypatch.setattr(session, "find", lambda: MPIS)
    monkeypatch.setattr(session, "_standard_include", lambda _: ())
    with pytest.raises(UsageError, match=r"libmpi_abi.*mpi_abi\.h.*--install mpich"):
        session.prepare(MPIS[0], ["app"])


def test_the_record_is_executed_again(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """On a described machine and with the MPI that it was recorded with."""
    path = tmp_path / "known.program"
    recorded(path, launched(mpi, build("known.c")))
    for words in (["--on", "bgp"], ["--mpi", mpi.id, "--launches", "1"]):
        done = CliRunner().invoke(main, ["replay", str(path), *words])
        assert done.exit_code == 0, done.output


def test_results_and_output_are_the_same(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """What the program prints and returns, with the recorder and without."""
    command = launched(mpi, build("known.c"))
    plain = subprocess.run(command, capture_output=True, text=True, check=False)
    leadline = Path(sys.executable).with_name("leadline")
    done = subprocess.run(
        [leadline, "record", "-o", str(tmp_path / "x.program"), "--", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == plain.returncode == 3
    assert sorted(done.stdout.splitlines()) == sorted(plain.stdout.splitlines())


@pytest.mark.parametrize("binding", ["MPIF", "MPI", "F08"])
def test_fortran_is_recorded_by_each_binding(mpi: Mpi, build: Build, tmp_path: Path, binding: str) -> None:
    """Twenty turns of the same four calls, once each: neither twice nor not at all."""
    if not shutil.which("gfortran"):
        pytest.skip("there is no gfortran")
    path = tmp_path / "ring.program"
    done = recorded(path, launched(mpi, build("ring.f90", f"-DBINDING_{binding}")))
    assert done.exit_code == 0, done.output
    made = program.read(path)
    for rank in range(RANKS):
        assert kinds(made, rank) == ["RECV", "SEND", "WAIT", "ALLREDUCE"] * 20
        assert {each.peer for each in only(made, rank, Kind.SEND)} == {(rank + 1) % RANKS}
        assert [each.bytes for each in only(made, rank, Kind.ALLREDUCE)] == [16] * 20
        assert Loop in {type(node) for node in made.sequence(rank).nodes}
        assert "ring.f90" in made.sites[only(made, rank, Kind.SEND)[0].site]


def test_a_late_sender_is_seen_in_the_times(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """Rank 0 computes 5 ms before each send; rank 1 is in its receive for as long, or the cores were busy."""
    path = tmp_path / "late.program"
    assert recorded(path, launched(mpi, build("late.c"), ranks=2)).exit_code == 0
    made = program.read(path)
    sends = [leaf for leaf, each in enumerate(made.leaves(0)) if each.kind == Kind.SEND]
    assert all(made.stats(0)["before_min"][leaf] >= 4.9e-3 for leaf in sends)
    receives = [leaf for leaf, each in enumerate(made.leaves(1)) if each.kind == Kind.RECV]
    assert all(made.stats(1)["inside_mean"][leaf] >= 3e-3 for leaf in receives)


def test_the_memory_that_a_program_had_is_recorded(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """48 MiB on one rank and 3 on the other, though both gave them back before the end.

    It is up to 2 MiB less: the kernel's peak lacks what each processor has not yet counted (256 KiB), and
    pages of files that came after the peak are taken off it (0.5 MiB with MPICH).
    """
    assert recorded(tmp_path / "m.program", launched(mpi, build("memory.c"), ranks=2)).exit_code == 0
    more, less = program.read(tmp_path / "m.program").recorded["memory"]
    assert 46 << 20 < more < 56 << 20
    assert 1 << 20 < less < 11 << 20


@pytest.mark.parametrize("how", ["kill", "abort", "exit"])
def test_a_program_that_dies_keeps_its_record(mpi: Mpi, build: Build, tmp_path: Path, how: str) -> None:
    """A hundred barriers are there, the ranks are marked, and the exit code is not 0."""
    path = tmp_path / "dies.program"
    done = recorded(path, launched(mpi, build("dies.c"), how, ranks=2))
    assert done.exit_code != 0
    made = program.read(path)
    assert 1 in made.partial
    assert made.recorded["memory"][1] is None
    assert len(only(made, 1, Kind.BARRIER)) >= 100


def test_a_signal_while_the_disk_gives_room_is_no_full_disk(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """As in jobs that are told to end, whose records were said to have found no room."""
    path = tmp_path / "interrupted.program"
    done = recorded(path, launched(mpi, build("interrupted.c", "-rdynamic")))
    assert done.exit_code == 0, done.output
    assert "no room" not in done.output
    assert [kinds(program.read(path), rank) for rank in range(RANKS)] == [["BARRIER"]] * RANKS


def test_what_is_no_mpi_program_is_a_sentence(mpi: Mpi, tmp_path: Path) -> None:
    """Its exit code is kept where it failed, and 1 where it did not."""
    done = recorded(tmp_path / "x.program", launched(mpi, "true"))
    assert done.exit_code == 1
    assert "nothing was recorded" in done.output
    assert "Programs that use no MPI" in " ".join(done.output.split())
    assert not (tmp_path / "x.program").exists()
    assert [each.name for each in tmp_path.iterdir()] == []


def test_ranks_without_the_library_are_named(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """One rank without it: the program ends as usual, and the sentence says which rank is missing."""
    app = build("dies.c")
    script = tmp_path / "some.sh"
    script.write_text(
        f'#!/bin/sh\n[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ] && unset LD_PRELOAD\nexec {app}\n'
    )
    script.chmod(0o755)
    done = recorded(tmp_path / "x.program", launched(mpi, script, ranks=2))
    assert done.exit_code == 1
    assert "1 of 2 ranks were not recorded (1)" in done.output


def test_python_programs_are_recorded(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages of mpi4py, whose wheel loads whichever MPI for itself."""
    script = tmp_path / "sums.py"
    script.write_text(
        "from mpi4py import MPI\nimport numpy\nworld = MPI.COMM_WORLD\n"
        "total = numpy.zeros(3)\n"
        "for _ in range(5):\n    world.Allreduce(numpy.ones(3), total)\n"
    )
    monkeypatch.setenv("MPI4PY_MPIABI", mpi.family)
    if mpi.family == "mpich":  # Debian gives the library another name than the ABI's
        found = next(
            Path(word.removeprefix("-L")) / "libmpich.so.12" for word in mpi.link if word.startswith("-L")
        )
        (tmp_path / "libmpi.so.12").symlink_to(found)
        monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    path = tmp_path / "sums.program"
    done = recorded(path, launched(mpi, sys.executable, script, ranks=2))
    assert done.exit_code == 0, done.output
    assert [each.bytes for each in only(program.read(path), 0, Kind.ALLREDUCE)] == [24] * 5


def test_a_program_of_another_mpi_is_refused_before_it_runs(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """Where that can be seen: its calls would be passed on unrecorded."""
    app = build("dies.c")
    done = recorded(tmp_path / "x.program", launched(other_than(mpi), app, ranks=2))
    assert done.exit_code == 2
    assert f"uses {mpi.family}" in done.output


def test_a_program_of_another_mpi_runs_as_ever(mpi: Mpi, build: Build, tmp_path: Path) -> None:
    """Hidden in a script: its handles have another size, its statuses too, and all pass through."""
    app = build("known.c")
    script = tmp_path / "hidden"
    command = " ".join(launched(mpi, app))
    script.write_text(f"#!/bin/sh\n{command} > {tmp_path}/$OUT\n")
    script.chmod(0o755)
    subprocess.run([script], check=False, env={**os.environ, "OUT": "alone"})
    path = tmp_path / "x.program"
    options = ["record", "-o", str(path), "--mpi", other_than(mpi).id, "--", str(script)]
    done = CliRunner(env={"OUT": "beside"}).invoke(main, options)
    assert done.exit_code == 3, done.output  # the program's own
    assert "the program's MPI is" in done.output
    assert not path.exists()
    alone, beside = (sorted((tmp_path / name).read_text().splitlines()) for name in ("alone", "beside"))
    assert alone == beside
    assert alone


def other_than(mpi: Mpi) -> Mpi:
    """An MPI of another family."""
    others = [other for other in MPIS if other.family != mpi.family]
    if not others:
        pytest.skip("there is one MPI")
    return others[0]
