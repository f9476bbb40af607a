"""Other people's programs with the preloaded library and without: how many runs were the same.

    .venv/bin/python tests/preload_programs.py --runs 10

Each program runs without the library and then with it: with and without a log, with nothing set, with
settings of HDF5 and MPI-IO, and with a settings file that is wrong. A run is the same if its exit code, its
output and, by h5diff, the data in its files are those of the run without. What is not installed is named.
"""

import argparse
import importlib.util
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from h5programs import MANY, Run, compile_program
from leadline.native.build import build_h5tuner

Words = Sequence[str | Path]
SETTINGS = {"nothing": None, "settings": MANY, "wrong": "nonsense"}

H5PY = """
import h5py, numpy
a = numpy.arange(60.0 * 70).reshape(60, 70)
with h5py.File("f.h5", "w") as f:
    f["a"] = a; f.create_dataset("g/z", data=a, chunks=(6, 7), compression="gzip"); f.attrs["n"] = 3
    f.create_dataset("grows", shape=(0,), maxshape=(None,), dtype="i8").resize((1000,))
with h5py.File("f.h5") as f:
    print([(n, f[n].shape, float(f[n][:].sum())) for n in ("a", "g/z", "grows")])
try:
    h5py.File("f.h5", "x")
except FileExistsError as problem:
    print(problem)
"""
TABLES = """
import numpy, tables
class Row(tables.IsDescription):
    n = tables.Int64Col(); x = tables.Float64Col()
with tables.open_file("f.h5", "w") as f:
    t = f.create_table("/", "t", Row)
    for i in range(5000):
        t.row["n"], t.row["x"] = i, i / 2; t.row.append()
    t.flush(); t.cols.n.create_index()
    f.create_earray("/", "e", obj=numpy.arange(3000.0))
    print(sum(r["x"] for r in t.where("n > 4990")), float(f.root.e[:].sum()))
"""
NETCDF4 = """
import netCDF4, numpy
with netCDF4.Dataset("f.nc", "w") as f:
    f.createDimension("t", None); f.createDimension("x", 50)
    v = f.createVariable("v", "f8", ("t", "x"), zlib=True)
    v[:] = numpy.arange(1000.0).reshape(20, 50)
with netCDF4.Dataset("f.nc") as f:
    print(float(f["v"][:].sum()), f["v"].chunking())
"""
CDL = (
    "netcdf t { dimensions: x = 4 ; y = 6 ; variables: double v(x, y) ; data: v = "
    + ", ".join(map(str, range(24)))
    + " ; }\n"
)


@dataclass(frozen=True)
class Program:
    """Commands that run one after another in one folder; None where something is not installed."""

    name: str
    commands: Callable[[Path], Sequence[Words] | None]


def _tools(*commands: Words) -> Callable[[Path], Sequence[Words] | None]:
    return lambda _: commands if all(shutil.which(str(words[0])) for words in commands) else None


def _python(module: str, code: str) -> Callable[[Path], Sequence[Words] | None]:
    return lambda _: [[sys.executable, "-c", code]] if importlib.util.find_spec(module) else None


def _compiled(name: str, *words: str) -> Callable[[Path], Sequence[Words] | None]:
    return lambda folder: [[compile_program(folder, name), *words]]


def _ranks(name: str, flavour: str) -> Callable[[Path], Sequence[Words] | None]:
    def commands(folder: Path) -> Sequence[Words] | None:
        if not shutil.which(f"mpirun.{flavour}"):
            return None
        return [[f"mpirun.{flavour}", "-n", "2", "{env}", compile_program(folder, name, flavour), "f.h5"]]

    return commands


PROGRAMS = (
    Program("C: two datasets, errors printed", _compiled("serial.c", "f.h5")),
    Program("C: a file that must be new", _compiled("exclusive.c", "f.h5")),
    Program("Fortran: one field", _compiled("field.f90", "f.h5")),
    Program("C++: one field, an exception", _compiled("field.cpp", "f.h5")),
    Program("h5bench's pattern, Open MPI", _ranks("particles.c", "openmpi")),
    Program("h5bench's pattern, MPICH", _ranks("particles.c", "mpich")),
    Program("columns of one dataset, Open MPI", _ranks("parallel.c", "openmpi")),
    Program("columns of one dataset, MPICH", _ranks("parallel.c", "mpich")),
    Program("HDF5: h5dump", _tools(["h5dump", "../given.h5"])),
    Program("HDF5: h5repack", _tools(["h5repack", "-v", "-f", "GZIP=1", "../given.h5", "f.h5"])),
    Program(
        "HDF5: h5copy", _tools(["h5copy", "-v", "-i", "../given.h5", "-o", "f.h5", "-s", "/g", "-d", "/h"])
    ),
    Program("HDF5: h5stat, h5ls", _tools(["h5stat", "../given.h5"], ["h5ls", "-rv", "../given.h5"])),
    Program(
        "netCDF: ncgen, nccopy, ncdump",
        _tools(
            ["ncgen", "-4", "-o", "f.nc", "../t.cdl"], ["nccopy", "-d1", "f.nc", "g.nc"], ["ncdump", "g.nc"]
        ),
    ),
    Program("Python: h5py", _python("h5py", H5PY)),
    Program("Python: PyTables", _python("tables", TABLES)),
    Program("Python: netCDF4", _python("netCDF4", NETCDF4)),
)


def _printed(run: Run) -> tuple[int, str, str]:
    """What a user sees; without what differs from run to run, and without the library's own line."""
    err = "".join(line for line in run.told()[2].splitlines(True) if not line.startswith("libleadline_h5: "))
    return run.code, run.out, re.sub(r"Total time: .*|Modified: .*", "", err)


def _made(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if each.suffix in (".h5", ".nc"))


def _alike(one: Path, other: Path) -> bool:
    names = [each.name for each in _made(one)]
    if names != [each.name for each in _made(other)]:
        return False
    commands: Iterable[Sequence[str | Path]] = (["h5diff", one / name, other / name] for name in names)
    return all(subprocess.run(each, capture_output=True, check=False).returncode == 0 for each in commands)


def _first_difference(one: object, other: object) -> str:
    a, b = repr(one), repr(other)
    at = max(0, next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0) - 100)
    return f"  without ...{a[at : at + 300]}\n  with    ...{b[at : at + 300]}"


def give(folder: Path) -> None:
    """What the programs read."""
    (folder / "t.cdl").write_text(CDL)
    Run([compile_program(folder, "serial.c"), "../given.h5"], folder / "make", None)


def count(program: Program, folder: Path, library: Path, runs: int) -> tuple[int, int, list[str]] | None:
    """Runs tried, those that were the same, and what differed; None where it is not installed."""
    try:
        commands = program.commands(folder)
    except pytest.skip.Exception:
        return None
    if commands is None:
        return None
    tried, same, different = 0, 0, list[str]()
    for settings, logs in itertools.islice(
        itertools.cycle(itertools.product(SETTINGS.values(), (True, False))), runs
    ):
        tried += 1
        before, after = folder / f"{tried}-without", folder / f"{tried}-with"
        plain = [_printed(Run(words, before, None)) for words in commands]
        tuned = [_printed(Run(words, after, settings, library, logs=logs)) for words in commands]
        good = plain == tuned and all(code == 0 for code, _, _ in plain) and _alike(before, after)
        same += good
        different += [] if good else [f"{program.name}:\n{_first_difference(plain, tuned)}"]
        shutil.rmtree(before)
        shutil.rmtree(after)
    return tried, same, different


def main() -> int:
    """Print the table; 1 where any run differed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=6, help="With the library, of each program.")
    runs = parser.parse_args().runs
    library, lost = build_h5tuner(), list[str]()
    with tempfile.TemporaryDirectory(prefix="leadline-programs-") as name:
        folder = Path(name)
        give(folder)
        print(f"| {'program':34} | tried | same |\n| {'-' * 34} | ----- | ---- |")
        for program in PROGRAMS:
            counted = count(program, folder, library, runs)
            tried, same, different = counted or (0, 0, [])
            print(
                f"| {program.name:34} | {tried if counted else 'not installed':>5} | {same:>4} |", flush=True
            )
            lost += different
    print("\n".join(lost[:10]))
    return len(lost) > 0


if __name__ == "__main__":
    sys.exit(main())
