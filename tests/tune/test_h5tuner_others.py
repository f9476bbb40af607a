"""The preloaded library in programs that do what it did not expect: nothing of theirs may change."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import preload_programs
import preload_stress
from h5programs import BOTH, MANY, TRACER, Run, needs, preloaded, same

Compiled = Callable[..., Path]
IMPOSSIBLE = '[hdf5]\nfile_space_strategy = "page"\npage_buffer_size = 100\n'  # less than a page
SOME = 60.0  # s, after which two ranks that take one wait for ever

# Somebody else makes the file just before the program's own exclusive open.
RIVAL = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#define RACE(name) int name(const char* path, int flags, ...) { \\
    va_list rest; va_start(rest, flags); int mode = flags & O_CREAT ? va_arg(rest, int) : 0; va_end(rest); \\
    const char* end = strrchr(path, '/'); \\
    if ((flags & O_EXCL) && strcmp(end ? end + 1 : path, "f.h5") == 0) { \\
        FILE* file = fopen(path, "w"); fputs("somebody else's", file), fclose(file); } \\
    return ((int (*)(const char*, int, ...))dlsym(RTLD_NEXT, #name))(path, flags, mode); }
RACE(open)
RACE(open64)
"""


# ------------------------------------------------------------------------------------ nothing is destroyed


@pytest.mark.parametrize("order", ["tracer first", "library first"])
@pytest.mark.parametrize("driver", ["sec2", "family", "split", "stdio"])
@pytest.mark.parametrize("settings", [IMPOSSIBLE, BOTH], ids=["impossible", "possible"])
def test_a_file_that_must_be_new_and_is_there(
    library: Path, compiled: Compiled, tmp_path: Path, *, driver: str, order: str, settings: str
) -> None:
    """Its creation fails as without the library, and not a byte of it changes, whatever becomes of errno."""
    program, name = compiled("exclusive.c"), "f%d" if driver == "family" else "f"
    tracer = preloaded(tmp_path, TRACER)
    first = Run([program, name, driver], tmp_path / "run", None)
    before = {each.name: each.read_bytes() for each in (tmp_path / "run").iterdir()}
    assert first.out == "created: 1, errors: 0\n"
    assert before
    plain = Run([program, name, driver], tmp_path / "run", None, tracer)
    others = [tracer, library] if order == "tracer first" else [library, tracer]
    again = Run([program, name, driver], tmp_path / "run", settings, *others)
    assert again.told() == plain.told()
    assert again.out == "created: 0, errors: 1\n"
    assert {each: (tmp_path / "run" / each).read_bytes() for each in before} == before


@pytest.mark.parametrize("driver", ["sec2", "family", "split", "stdio"])
def test_a_new_file_with_settings_that_cannot_be(
    library: Path, compiled: Compiled, tmp_path: Path, driver: str
) -> None:
    """It is created all the same, by one call of HDF5's."""
    name = "f%d" if driver == "family" else "f"
    plain = Run([compiled("exclusive.c"), name, driver], tmp_path / "plain", None)
    tuned = Run([compiled("exclusive.c"), name, driver], tmp_path / "tuned", IMPOSSIBLE, library)
    assert tuned.told() == plain.told() == (0, "created: 1, errors: 0\n", "")
    files = [each.name for each in (tmp_path / "plain").iterdir()]
    assert files
    for each in files:
        assert (tmp_path / "plain" / each).stat().st_size == (tmp_path / "tuned" / each).stat().st_size
    assert set(tuned.states().values()) <= {"refused", "not applicable"}


def test_a_file_that_somebody_else_makes_meanwhile(library: Path, compiled: Compiled, tmp_path: Path) -> None:
    """A program that wants a new file gets no file, and what another process wrote into it stays."""
    rival = preloaded(tmp_path, RIVAL)
    run = Run([compiled("serial.c"), "f.h5", "new"], tmp_path / "run", BOTH, rival, library)
    assert "wrong: 1" in run.out
    assert (run.folder / "f.h5").read_text() == "somebody else's"
    assert run.lines("setting") == []


# --------------------------------------------------------------------------------- signals, errors, output


def test_a_handler_that_opens_files(library: Path, compiled: Compiled, tmp_path: Path) -> None:
    """The program lives, errno stays, and the handler's files are not taken for HDF5's."""
    plain = Run([compiled("handler.c"), "f.h5"], tmp_path / "plain", None)
    for turn in range(3):
        tuned = Run([compiled("handler.c"), "f.h5"], tmp_path / f"tuned{turn}", MANY, library)
        assert tuned.told() == plain.told() == (0, "wrong: 0, lost: 0, signals: 1\n", "")
        assert {Path(each["file"]).name for each in tuned.lines("observed")} == {"f.h5"}
        assert len(tuned.lines("observed")) == 200


@pytest.mark.parametrize("where", ["closed", "a file"])
def test_no_line_in_the_programs_own_file(
    library: Path, compiled: Compiled, tmp_path: Path, where: str
) -> None:
    """What the library has to say goes to standard error only while it is what it was at the start."""
    (tmp_path / "settings").write_text("nonsense")
    environ = {**os.environ, "LD_PRELOAD": str(library), "LEADLINE_H5_SETTINGS": str(tmp_path / "settings")}
    environ.pop("LEADLINE_H5_LOG", None)
    program = [str(compiled("closed.c")), "own", "f.h5"]
    redirect = "2>&-" if where == "closed" else "2>errors"
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirect}', "sh", *program],
        cwd=tmp_path,
        env=environ,
        check=False,
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"number: 2\nwrong: 0\n", b"")
    assert (tmp_path / "own").read_text() == "the program's own data\n"
    # A program that leaves it alone is told.
    again = subprocess.run(
        [str(compiled("exclusive.c")), "g.h5"], cwd=tmp_path, env=environ, check=False, capture_output=True
    )
    assert again.stderr.startswith(b"libleadline_h5: ")


def test_nobody_reads_standard_error(library: Path, compiled: Compiled, tmp_path: Path) -> None:
    """A pipe whose reader is gone, or never reads, neither ends nor stops the program."""
    (tmp_path / "settings").write_text("nonsense")
    environ = {**os.environ, "LD_PRELOAD": str(library), "LEADLINE_H5_SETTINGS": str(tmp_path / "settings")}
    environ.pop("LEADLINE_H5_LOG", None)
    for gone in (True, False):
        reads, writes = os.pipe()
        os.set_blocking(writes, False)
        while not gone:
            try:
                os.write(writes, b"x" * 65536)
            except BlockingIOError:
                break
        os.set_blocking(writes, True)
        if gone:
            os.close(reads)
        done = subprocess.run(
            [str(compiled("exclusive.c")), f"f{gone}.h5"],
            cwd=tmp_path,
            env=environ,
            check=False,
            stdout=subprocess.PIPE,
            stderr=writes,
            timeout=SOME,
            restore_signals=True,
        )
        os.close(writes)
        if not gone:
            os.close(reads)
        assert (done.returncode, done.stdout) == (0, b"created: 1, errors: 0\n")


def test_a_log_that_may_not_grow(library: Path, compiled: Compiled, tmp_path: Path) -> None:
    """The limit of a file's size, met by the log, does not end the program."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "log.jsonl").write_bytes(b"\n" * 200000)
    limited = ["sh", "-c", 'ulimit -f 392; exec "$@"', "sh"]  # in units of 512 bytes
    settings = "[hdf5]\nsieve_buf_size = 65536\n"  # leaves the file as it is
    run = Run([*limited, compiled("serial.c"), "f.h5"], folder, settings, library)
    assert run.code == 0
    assert "wrong: 0\nwrong: 0" in run.out


# --------------------------------------------------------------------------------------------- descriptors


@pytest.mark.parametrize(
    ("what", "written", "read"),
    [("", 0, 0), ("dup", 3000, 0), ("dup2", 1000, 0), ("preadv2", 1000, 2000)],
)
def test_calls_through_other_descriptors(
    library: Path, compiled: Compiled, tmp_path: Path, *, what: str, written: int, read: int
) -> None:
    """They are counted, each once, and what goes into another file is not."""
    program = compiled("descriptors.c")
    base = Run([program, "f.h5"], tmp_path / "base", None, library).lines("observed")[-1]
    run = Run([program, "f.h5", what], tmp_path / "run", None, library)
    assert run.out == "wrong: 0\n"
    seen = run.lines("observed")
    assert {Path(each["file"]).name for each in seen} == {"f.h5"}
    assert len(seen) == 1
    assert seen[0]["bytes_written"] == base["bytes_written"] + written
    assert seen[0]["bytes_read"] == base["bytes_read"] + read


@pytest.mark.parametrize("what", ["close_range", "hidden", "creat"])
def test_a_number_that_another_file_gets(
    library: Path, compiled: Compiled, tmp_path: Path, what: str
) -> None:
    """Ten thousand bytes of the program's own file are never told as HDF5's."""
    run = Run([compiled("descriptors.c"), "f.h5", what], tmp_path / "run", None, library)
    assert run.out == "wrong: 0\n"
    assert all(each["bytes_written"] < 10000 for each in run.lines("observed"))
    assert {Path(each["file"]).name for each in run.lines("observed")} <= {"f.h5"}


def test_several_datasets_in_one_call(library: Path, tmp_path: Path) -> None:
    """Of an HDF5 that has such calls (a wheel's): they go through, with settings of transfers too."""
    h5py = pytest.importorskip("h5py")
    found = [*(Path(h5py.__file__).parents[1] / "h5py.libs").glob("libhdf5-*.so*")]
    if not found or h5py.version.hdf5_version_tuple < (1, 14, 0):
        pytest.skip("h5py has no library of HDF5 1.14 or newer beside it")
    place, source = found[0].parent, Path(__file__).parent / "programs" / "several.c"
    subprocess.run(["gcc", source, "-o", tmp_path / "several", found[0], f"-Wl,-rpath,{place}"], check=True)
    both = BOTH + '[[match]]\noverride = true\nhdf5.transfer = "independent"\n'
    plain = Run([tmp_path / "several", "f.h5"], tmp_path / "plain", None)
    tuned = Run([tmp_path / "several", "f.h5"], tmp_path / "tuned", both, library)
    assert tuned.told() == plain.told() == (0, "0 0 1 2 3 4\n", "")


PLUGIN = """
#include <stddef.h>
typedef long hid; hid H5Fcreate(const char*, unsigned, hid, hid);
int use(void) { return (int)H5Fcreate("x.h5", 2, 0, 0); }
"""
# What this library needs of an HDF5, each answering for itself.
FALSE_HDF5 = """
#define ZERO(name) long name() { return 0; }
%s
long H5Fcreate() { return %d; }
long H5P_LST_FILE_CREATE_ID_g, H5P_LST_FILE_ACCESS_ID_g, H5P_LST_DATASET_CREATE_ID_g,
     H5P_LST_DATASET_ACCESS_ID_g, H5P_LST_DATASET_XFER_ID_g;
int H5get_libversion(unsigned* a, unsigned* b, unsigned* c) { *a = 1, *b = %d, *c = 0; return 0; }
"""


def test_another_hdf5_where_one_was_unloaded(library: Path, compiled: Compiled, tmp_path: Path) -> None:
    """Plug-ins come and go, each with an HDF5 of its own, at the same addresses: each calls its own."""
    header = (Path(__file__).parents[2] / "native" / "h5tuner" / "hdf5_calls.h").read_text()
    names = {
        word for word in header.replace(",", " ").split() if word.startswith("H5") and word.isidentifier()
    }
    zeros = "\n".join(
        f"ZERO({name})" for name in sorted(names) if name not in ("H5Fcreate", "H5get_libversion")
    )
    plugins = []
    for i, answer in enumerate((111, 222)):
        folder = tmp_path / str(i)
        folder.mkdir()
        (folder / "h5.c").write_text(FALSE_HDF5 % (zeros, answer, 10 + 2 * i))
        (folder / "plugin.c").write_text(PLUGIN)
        flags = ["gcc", "-w", "-fPIC", "-shared"]
        subprocess.run([*flags, folder / "h5.c", "-o", folder / "libfalse.so"], check=True)
        link = [f"-L{folder}", "-lfalse", f"-Wl,-rpath,{folder}"]
        subprocess.run([*flags, folder / "plugin.c", *link, "-o", folder / "plugin.so"], check=True)
        plugins.append(folder / "plugin.so")
    run = Run([compiled("reload.c", "serial", "-ldl"), *plugins], tmp_path / "run", BOTH, library)
    assert (run.code, run.out) == (0, "first: 111\nsecond: 222\n" * 6)


# --------------------------------------------------------------------------------------------------- ranks


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
@pytest.mark.parametrize(("who", "settings"), [("first", MANY), ("second", MANY), ("first", None)])
def test_some_ranks_lack_the_library(
    library: Path, compiled: Compiled, tmp_path: Path, flavour: str, *, who: str, settings: str | None
) -> None:
    """Nobody waits, nothing is set in any rank, and one line says so where there were settings."""
    needs(f"mpirun.{flavour}")
    program = compiled("parallel.c", flavour)
    with_it: list[str | Path] = ["-n", "1", "{env}", program, "f.h5"]
    without: list[str | Path] = ["-n", "1", program, "f.h5"]
    parts = [with_it, without] if who == "first" else [without, with_it]
    plain = Run([f"mpirun.{flavour}", "-n", "2", program, "f.h5"], tmp_path / "plain", None)
    run = Run(
        [f"mpirun.{flavour}", *parts[0], ":", *parts[1]], tmp_path / "run", settings, library, patience=SOME
    )
    assert (run.code, run.out) == (plain.code, plain.out) == (0, "done\n")
    same(plain.folder / "f.h5", run.folder / "f.h5")
    assert run.lines("setting") == []
    assert len(run.lines("message")) == (settings is not None)
    marks = [each.name.split("-")[3] for each in Path("/dev/shm").glob(f"leadline-h5-{os.getuid()}-*")]
    assert all(Path("/proc", launcher).exists() for launcher in marks)  # of other jobs that run now


@pytest.mark.mpi
def test_threads_that_open_files(library: Path, compiled: Compiled, tmp_path: Path) -> None:
    """What ranks are asked for one file meets neither that for another nor the program's collectives.

    Under Open MPI: the program hangs by itself under Debian's MPICH 4.0, in three tries of three.
    """
    needs("mpirun.openmpi")
    program = compiled("openers.c", "openmpi", "-lpthread")
    command: list[str | Path] = ["mpirun.openmpi", "-n", "2", "{env}", program, "."]
    plain = Run(command, tmp_path / "plain", None)
    tuned = Run(command, tmp_path / "tuned", "[mpi-io]\ncb_buffer_size = 65536\n", library)
    assert (tuned.code, tuned.out) == (plain.code, plain.out)
    assert len(tuned.lines("setting")) == 2 * 2 * 4
    assert tuned.states() == {"cb_buffer_size": "accepted"}


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_several_nodes_as_far_as_one_can_tell(
    library: Path, compiled: Compiled, tmp_path: Path, flavour: str
) -> None:
    """Ranks that are not all of one node meet in the folder of the log, where the job has a name."""
    needs(f"mpirun.{flavour}")
    apart = ["env", "OMPI_COMM_WORLD_LOCAL_SIZE=1", "MPI_LOCALNRANKS=1"]
    for job, taken in (["LEADLINE_H5_JOB=a job"], True), ([], flavour == "openmpi"):  # which names it itself
        program = compiled("parallel.c", flavour)
        words: list[str | Path] = [f"mpirun.{flavour}", "-n", "2", *apart, *job, "{env}", program, "f.h5"]
        place = tmp_path / str(len(job))
        run = Run(words, place, "[hdf5]\nalignment = [0, 4096]\n", library, patience=SOME)
        assert (run.code, run.out) == (0, "done\n")
        assert run.states() == ({"alignment": "accepted"} if taken else {})
        assert bool(run.lines("message")) is not taken
        assert sorted(each.name for each in run.folder.iterdir()) == ["f.h5", "log.jsonl", "settings"]


# -------------------------------------------------------------------------------------- many programs at once


@pytest.mark.full
@pytest.mark.mpi
def test_a_short_stress(library: Path) -> None:
    """Signals, threads, children, closed descriptors, other interposers: always as without the library."""
    tried, held, lost = preload_stress.stress(80, library)
    assert lost == []
    assert tried == held


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.parametrize("program", preload_programs.PROGRAMS, ids=lambda program: str(program.name))
def test_other_peoples_programs(library: Path, tmp_path: Path, program: preload_programs.Program) -> None:
    """Each kind of program there is, with settings and without, with a log and without."""
    preload_programs.give(tmp_path)
    counted = preload_programs.count(program, tmp_path, library, 6)
    if counted is None:
        pytest.skip("it is not installed")
    assert counted[2] == []
    assert counted[0] == counted[1] == 6
