"""The preloaded library in real processes: programs do as they did, and settings are made and told."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from h5programs import BOTH, MANY, Run, needs, preloaded, same, sanitizer

NATIVE = Path(__file__).parents[2] / "native" / "h5tuner"

BROKEN = {
    "unknown": ("[hdf5]\nalignmant = [1, 2]\n", "line 2: unknown setting 'alignmant' of hdf5"),
    "bomb": ('<!DOCTYPE a [<!ENTITY b "bb">]><Parameters/>', "document types and entities are not taken"),
    "range": ("[mpi-io]\ncb_nodes = 0\n", "cb_nodes must be 1 to 2147483647, got 0"),
    "open": ("<Parameters><High_Level_IO_Library>", "<High_Level_IO_Library> is not closed"),
    "huge": ("#" * 70000, "70000 bytes; at most 65536 are read"),
    "binary": ("\0\1\2", "it holds a zero byte"),
}


# ------------------------------------------------------------------------------------------------ one process


def test_settings_are_made_and_told(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """A program that knows nothing writes the same data in another layout; each setting's fate is told."""
    plain = Run([compiled("serial.c"), "f.h5"], tmp_path / "plain", None)
    tuned = Run([compiled("serial.c"), "f.h5"], tmp_path / "tuned", MANY, library)
    assert tuned.told() == plain.told()
    assert "wrong: 0" in plain.out
    same(plain.folder / "f.h5", tuned.folder / "f.h5")
    assert tuned.states() == {
        "file_space_strategy": "accepted",
        "alignment": "accepted",
        "meta_block_size": "accepted",
        "sieve_buf_size": "accepted",
        "libver_bounds": "accepted",
        "chunk_cache_bytes": "accepted",
        "page_buffer_size": "accepted",
        "coll_metadata_ops": "not applicable",
    }
    made = {"fill_time": "accepted", "alloc_time": "accepted", "chunk_cache_w0": "accepted"}
    assert tuned.states("/x") == {**made, "chunk": "changed"}  # 100 elements of 30
    assert tuned.states("/g/y") == {**made, "chunk": "kept"}
    needs("h5dump")
    layout = subprocess.run(
        ["h5dump", "-pH", "f.h5"], cwd=tuned.folder, capture_output=True, text=True, check=True
    ).stdout
    assert "CHUNKED ( 5, 20, 30 )" in layout
    assert "CHUNKED ( 5, 5, 5 )" in layout
    assert layout.count("H5D_FILL_TIME_NEVER") == 2


def test_what_is_observed_is_what_was_written(
    library: Path, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    """Without settings there is still a record: datasets, and all bytes of the file; alike in two runs."""
    runs = [Run([compiled("serial.c"), "f.h5"], tmp_path / name, None, library) for name in "ab"]
    seen = [run.lines("observed")[-1] for run in runs]
    assert seen[0]["bytes_written"] >= 2 * 6000 * 8
    assert sum(seen[0]["write_sizes"].values()) == seen[0]["writes"]
    assert seen[0]["file"] == str(runs[0].folder / "f.h5")
    assert [each["set"] for each in seen] == [seen[0]["set"]] * 2
    assert [(each["dataset"], each["lengths"]) for each in runs[0].lines("dataset")] == [
        ("/x", [10, 20, 30]),
        ("/g/y", [10, 20, 30]),
    ]
    tuned = Run([compiled("serial.c"), "f.h5"], tmp_path / "c", MANY, library)
    assert tuned.lines("observed")[-1]["set"] != seen[0]["set"]


def test_the_programs_own_settings_stay(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """What the program set is kept, in its own list too, but for `override`."""
    program = compiled("serial.c")
    kept = Run([program, "f.h5", "own"], tmp_path / "kept", "[hdf5]\nalignment = [0, 4096]\n", library)
    assert "own list: 512" in kept.out
    assert kept.states() == {"alignment": "kept"}
    forced = "[[match]]\nfile = '*.h5'\noverride = true\nhdf5.alignment = [0, 4096]\nhdf5.chunk = [2, 2, 2]\n"
    taken = Run([program, "f.h5", "own"], tmp_path / "taken", forced, library)
    assert "own list: 512" in taken.out
    assert taken.states() == {"alignment": "accepted"}
    assert taken.states("/g/y") == {"chunk": "accepted"}
    same(kept.folder / "f.h5", taken.folder / "f.h5")


@pytest.mark.parametrize("mode", ["", "new"])
def test_what_the_library_refuses_is_undone(
    library: Path, compiled: Callable[..., Path], tmp_path: Path, mode: str
) -> None:
    """Settings with which the file cannot be created: it is created without, also where it must be new."""
    impossible = '[hdf5]\nfile_space_strategy = "page"\npage_buffer_size = 100\n'  # less than a page
    plain = Run([compiled("serial.c"), "f.h5", mode], tmp_path / "plain", None)
    tuned = Run([compiled("serial.c"), "f.h5", mode], tmp_path / "tuned", impossible, library)
    assert tuned.told() == plain.told()
    assert set(tuned.states().values()) == {"refused"}
    same(plain.folder / "f.h5", tuned.folder / "f.h5")


OTHER = """
#include <stdlib.h>
int H5Pget_fapl_mpio(long list, void* communicator, void* info) { abort(); }
int H5Pset_dxpl_mpio(long list, int mode) { abort(); }
int H5Pget_dxpl_mpio(long list, int* mode) { abort(); }
"""


def test_functions_of_another_hdf5(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """What a serial HDF5 has not is not taken from a parallel one that is loaded beside it."""
    other = preloaded(tmp_path, OTHER)
    both = BOTH + '[[match]]\noverride = true\nhdf5.transfer = "collective"\n'
    run = Run([compiled("serial.c"), "f.h5", "own"], tmp_path / "run", both, library, other)
    assert (run.code, "wrong: 0\nwrong: 0" in run.out) == (0, True)
    assert [each["parallel"] for each in run.lines("library") if "hdf5" in each] == [False]


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_sets_nothing(
    library: Path, compiled: Callable[..., Path], tmp_path: Path, name: str
) -> None:
    """The program runs as if nothing were preloaded, and one line says why."""
    text, why = BROKEN[name]
    plain = Run([compiled("serial.c"), "f.h5"], tmp_path / "plain", None, library)
    tuned = Run([compiled("serial.c"), "f.h5"], tmp_path / "tuned", text, library)
    assert tuned.told() == plain.told()
    assert len(tuned.lines("message")) == 1
    assert why in tuned.lines("message")[0]["text"]
    assert (plain.folder / "f.h5").stat().st_size == (tuned.folder / "f.h5").stat().st_size


def test_programs_without_hdf5_are_left_alone(library: Path, tmp_path: Path) -> None:
    """A shell, its children and a Python without HDF5 say nothing and leave no record."""
    script = "ls / >/dev/null; cat settings; exec 3>x; echo a >&3; (exit 3)"
    shell = Run(["sh", "-c", script], tmp_path / "sh", "nonsense", library)
    assert shell.told() == (3, "nonsense", "")
    code = (
        "import subprocess, os; print(subprocess.run(['true']).returncode); os._exit(0 if os.fork() else 0)"
    )
    python = Run([sys.executable, "-c", code], tmp_path / "python", "nonsense", library)
    assert (python.code, python.err) == (0, "")
    assert not shell.log.exists()
    assert not python.log.exists()


def test_threads_and_children(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """Other threads' files are not counted; a child that writes by HDF5 has a record of its own."""
    program = compiled("threads.c", "serial", "-lhdf5", "-lpthread")
    plain = Run([program, "."], tmp_path / "plain", None)
    tuned = Run([program, "."], tmp_path / "tuned", "[hdf5]\nalignment = [0, 512]\n", library)
    assert tuned.told() == plain.told() == (0, "wrong: 0, child: 0\n", "")
    same(plain.folder / "child.h5", tuned.folder / "child.h5")
    seen = tuned.lines("observed")
    assert {Path(each["file"]).name for each in seen} == {"main.h5", "child.h5"}
    assert len({each["process"] for each in seen}) == 2
    assert len([each for each in seen if each["bytes_written"]]) == 51


def test_under_sanitizers(compiled: Callable[..., Path], tmp_path: Path) -> None:
    """Neither a byte out of bounds nor undefined behaviour, in a program that is not sanitized itself."""
    needs("gcc")
    made = tmp_path / "sanitized.so"
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-g1", "-fPIC", "-shared", "-fvisibility=hidden"]
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    subprocess.run(["gcc", *flags, *sanitize, *NATIVE.glob("*.c"), "-o", made, "-ldl"], check=True)
    runtime = [each for each in map(sanitizer, ("asan", "ubsan")) if each]
    for program, words in (("serial.c", ["f.h5"]), ("threads.c", ["."])):
        target = compiled(program, "serial", "-lhdf5", "-lpthread")
        plain = Run([target, *words], tmp_path / f"plain-{program}", None)
        tuned = Run([target, *words], tmp_path / f"tuned-{program}", MANY, *runtime, made)
        assert tuned.told() == plain.told()
        assert tuned.states()["alignment"] == "accepted"


# -------------------------------------------------------------------------------------- others' programs


def test_hdf5s_own_tools(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """h5dump, h5repack and h5diff print and write the same."""
    needs("h5dump", "h5repack", "h5diff")
    Run([compiled("serial.c"), "../f.h5"], tmp_path / "make", None)
    chunks = "[hdf5]\nalignment = [0, 4096]\nchunk = [4, 4, 4]\n"
    for words in (
        ["h5dump", "../f.h5"],
        ["h5repack", "-v", "-f", "GZIP=1", "../f.h5", "r.h5"],
        ["h5diff", "-v", "../f.h5", "../f.h5"],
    ):
        plain = Run([*words], tmp_path / f"plain-{words[0]}", None)
        tuned = Run([*words], tmp_path / f"tuned-{words[0]}", chunks, library)
        assert tuned.told() == plain.told()
        assert "accepted" in tuned.states().values()
    same(tmp_path / "plain-h5repack" / "r.h5", tmp_path / "tuned-h5repack" / "r.h5")


def test_netcdf(library: Path, tmp_path: Path) -> None:
    """ncgen, nccopy and ncdump of netCDF-4, which uses HDF5 beneath."""
    needs("ncgen", "nccopy", "ncdump")
    text = "netcdf t {\ndimensions:\n x = 4 ; y = 6 ;\nvariables:\n double v(x, y) ;\ndata:\n v = "
    (tmp_path / "t.cdl").write_text(text + ", ".join(str(i) for i in range(24)) + " ;\n}\n")
    chunks = '[[match]]\ndataset = "/v"\nhdf5.chunk = [2, 3]\n'
    printed = []
    for name, settings, preload in (("plain", None, ()), ("tuned", chunks, (library,))):
        Run(["ncgen", "-4", "-o", "t.nc", "../t.cdl"], tmp_path / name, settings, *preload)
        copied = Run(["nccopy", "t.nc", "u.nc"], tmp_path / name, settings, *preload)
        dumped = Run(["ncdump", "u.nc"], tmp_path / name, settings, *preload)
        printed.append((copied.told(), dumped.told()))
    assert printed[0] == printed[1]
    assert dumped.states("/v") == {"chunk": "accepted"}


def test_fortran(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """A Fortran program; HDF5 knows its array with the axes in the other order."""
    program = compiled("field.f90")
    plain = Run([program, "f.h5"], tmp_path / "plain", None)
    tuned = Run([program, "f.h5"], tmp_path / "tuned", "[hdf5]\nchunk = [50, 25]\n", library)
    assert tuned.told() == plain.told()
    assert plain.out.strip() == "done"
    assert tuned.states("/field") == {"chunk": "accepted"}
    same(plain.folder / "f.h5", tuned.folder / "f.h5")


H5PY = """
import h5py, numpy
a = numpy.arange(60.0 * 70).reshape(60, 70)
with h5py.File("f.h5", "w") as f:
    f["anonymous"] = a
    f.create_dataset("g/named", data=a)
    f.create_dataset("own", data=a, chunks=(6, 7), compression="gzip")
with h5py.File("f.h5") as f:
    print([(f[n].chunks, bool((f[n][:] == a).all())) for n in ("anonymous", "g/named", "own")])
try:
    h5py.File("/nonexistent/f.h5")
except OSError as problem:
    print(problem)
"""


def test_h5pys_wheel(library: Path, tmp_path: Path) -> None:
    """A wheel's HDF5 has a name of its own and is loaded late, for its own modules only."""
    pytest.importorskip("h5py")
    plain = Run([sys.executable, "-c", H5PY], tmp_path / "plain", None)
    tuned = Run([sys.executable, "-c", H5PY], tmp_path / "tuned", "[hdf5]\nchunk = [20, 30]\n", library)
    assert plain.out.startswith("[(None, True), (None, True), ((6, 7), True)]")
    assert tuned.out.startswith("[((20, 30), True), ((20, 30), True), ((6, 7), True)]")
    assert (tuned.code, tuned.err, tuned.out.splitlines()[1:]) == (0, "", plain.out.splitlines()[1:])
    same(plain.folder / "f.h5", tuned.folder / "f.h5")
