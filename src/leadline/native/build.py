"""The native programs, built once for each MPI and kept as long as nothing that made them changes.

A build lies in `<state>/build/<what>-<identity>/`: the identity is a hash of the MPI, the compiler and the
flags. In it, each state of the sources has its program in a directory named by their hash: what was built of
other sources stays, so that a run which uses it is not disturbed, and a change rebuilds only what it must.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from leadline.core.errors import LeadlineError
from leadline.core.paths import native_dir, state_dir
from leadline.core.progress import announce
from leadline.mpi.hdf5 import parallel_hdf5
from leadline.mpi.library import Mpi

TUNER = "libleadline_h5.so"
BENCH, DESCRIBE, SIM = "leadline-bench", "leadline-describe", "leadline-sim"
SENSITIVITY = "leadline-sensitivity"  # the simulator whose times know of which constants they are made
WORDS = "leadline-words"  # a test: says every word of an MPI
LOCAL = "local"  # the build that needs no MPI
LOCAL_SETTINGS = [f"-DLEADLINE_BACKEND={LOCAL}"]
FLAG_VARIABLES = (
    "CC",
    "CFLAGS",
    "CXX",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "CMAKE_PREFIX_PATH",
    "CMAKE_GENERATOR",
)
# The heap grows by eight pages of 2 MiB, so that few of them lie at an end of it, where they are small ones.
LARGE_PAGES = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216"
STEP = re.compile(r"\[(?: *(\d+)%|(\d+)/(\d+))\]")  # as make and ninja print it
FIRST_ERROR = re.compile(r"^.*(?:\berror:|undefined reference|cannot find -l|CMake Error).*$", re.MULTILINE)


def build(mpi: Mpi, name: str = BENCH, *options: str) -> Path:
    """The benchmark program for `mpi`, or program `name` of a build with further `options` of CMake.

    Built if need be; raises LeadlineError naming the log.
    """
    if mpi.compiler is None or not mpi.include:
        raise LeadlineError(
            f"{mpi.id} in {mpi.prefix} has no compiler wrapper or header (mpicc, mpi.h), "
            "so nothing can be built for it; install its development package (libopenmpi-dev, libmpich-dev)"
        )
    return _built(name, mpi.id, [*settings(mpi), *options])


def build_describe() -> Path:
    """The program that describes the benchmarks and this host; it has no MPI, and runs none of them."""
    return _built(DESCRIBE, LOCAL, LOCAL_SETTINGS)


def build_sim(name: str = SIM, *options: str) -> Path:
    """The same program on described machines: it simulates the ranks. Or program `name`, as for `build`."""
    return _built(name, LOCAL, [*LOCAL_SETTINGS, *options])


def memory_of_sim() -> dict[str, str]:
    """The environment in which the simulator gets its memory in large pages, where the system has them.

    A million ranks are some hundred megabytes, touched at random: pages of 4 KiB are half of the time that
    their start takes (docs/performance.md). Keys of glibc (manual, "Memory Allocation Tunables"), which
    other systems do not look at; what the user set there holds beside it, and before it.
    """
    return {"GLIBC_TUNABLES": ":".join(filter(None, (LARGE_PAGES, os.environ.get("GLIBC_TUNABLES"))))}


def build_h5tuner(*options: str) -> Path:
    """The library that is preloaded into programs that use HDF5 or MPI-IO (LD_PRELOAD)."""
    return _built(TUNER, LOCAL, [*LOCAL_SETTINGS, *options])


def is_built(mpi: Mpi | None) -> bool:
    """Whether `build(mpi)`, or `build_describe()` for None, would return at once."""
    if mpi is None:
        return _program(DESCRIBE, _directory(LOCAL, LOCAL_SETTINGS)).is_file()
    return _program(BENCH, _directory(mpi.id, settings(mpi))).is_file()


def settings(mpi: Mpi) -> list[str]:
    """What CMake is told about an MPI: directories and linker words, since no two wrappers are alike."""
    settings = [
        "-DLEADLINE_BACKEND=mpi",
        f"-DLEADLINE_MPI_INCLUDE={';'.join(mpi.include)}",
        f"-DLEADLINE_MPI_LINK={';'.join(mpi.link)}",
    ]
    if hdf5 := parallel_hdf5(mpi):
        settings.append(f"-DLEADLINE_HDF5_INCLUDE={';'.join(hdf5.include)}")
        settings.append(f"-DLEADLINE_HDF5_LINK={';'.join(hdf5.link)}")
    if mpi.has_shmem:
        settings.append(f"-DLEADLINE_SHMEM_LINK={';'.join(mpi.shmem_link)}")
    return settings


def _built(name: str, label: str, settings: list[str]) -> Path:
    """Path of program `name`, from the cache or from a build under a lock that other processes respect."""
    directory = _directory(label, settings)
    program = _program(name, directory)
    if program.is_file():
        return program
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _locked(directory / "lock", f"another process builds {_called(name, label)}: waiting for it"):
            while not program.is_file():  # it is there if another process built it while this one waited
                _configure_and_build(name, label, directory, settings)
                wanted, program = program, _program(name, directory)
                if wanted == program:  # else a source changed meanwhile: what was built is of neither
                    _keep(directory / "bin" / name, program)
    except OSError as problem:
        raise LeadlineError(f"cannot build {_called(name, label)}: {problem}") from problem
    return program


def _keep(made: Path, program: Path) -> None:
    """Copy what was just built to its place; whole or not at all."""
    program.parent.mkdir(exist_ok=True)
    partial = program.with_name(f"{program.name}.partial")
    shutil.copy2(made, partial)
    partial.replace(program)


def _directory(label: str, settings: list[str]) -> Path:
    """The build directory: its name changes with the MPI, the compiler and the flags."""
    compiler = _compiler()
    facts = [label, *settings, *(f"{name}={os.environ.get(name, '')}" for name in FLAG_VARIABLES)]
    if compiler:
        status = compiler.stat()
        facts += [str(compiler), str(status.st_size), str(status.st_mtime_ns)]
    return state_dir() / "build" / f"{label}-{hashlib.sha256(chr(0).join(facts).encode()).hexdigest()[:12]}"


def _program(name: str, directory: Path) -> Path:
    """Where the program is kept that the present sources make."""
    return directory / f"of-{_sources(tests=name == WORDS)}" / name


def _sources(tests: bool = False) -> str:
    """Twelve hexadecimal digits that change with the content of any native source, or test, of a program."""
    digest = hashlib.sha256()
    native = native_dir()
    for source in sorted(path for path in native.rglob("*") if path.is_file()):
        name = source.relative_to(native)
        if name.parts[0] == "tests" and not tests:
            continue
        # A wheel has this package's own modules, and what Python compiles of them, in the same directory.
        if "__pycache__" in name.parts or (len(name.parts) == 1 and name.suffix == ".py"):
            continue
        digest.update(f"\0{name}\0".encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def _compiler() -> Path | None:
    found = shutil.which(os.environ.get("CXX") or "c++")
    return Path(found).resolve() if found else None


def _configure_and_build(program: str, label: str, directory: Path, settings: list[str]) -> None:
    """Run CMake, keeping what it printed in `build.log`; raises LeadlineError with its first error."""
    for tool, package in (("cmake", "cmake"), ("c++", "g++")):
        if not shutil.which(tool) and not (tool == "c++" and os.environ.get("CXX")):
            raise LeadlineError(f"{tool} is not installed; install it, e.g. 'apt install {package}'")
    announce(f"building {_called(program, label)}: once, some seconds to minutes", lasting=True)
    log = directory / "build.log"
    configure = [
        "cmake",
        "-S",
        str(native_dir()),
        "-B",
        str(directory),
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={directory / 'bin'}",
        *settings,
    ]
    if shutil.which("ninja") and "CMAKE_GENERATOR" not in os.environ:
        configure += ["-G", "Ninja"]
    (directory / "CMakeCache.txt").unlink(missing_ok=True)  # of a build that failed half-way
    with log.open("w") as said:
        for command in (configure, ["cmake", "--build", str(directory), "--target", program]):
            said.write(f"$ {' '.join(command)}\n")
            if _tell(command, said, f"building {_called(program, label)}") != 0:
                said.flush()
                raise LeadlineError(_failure(program, label, log))
    if not (directory / "bin" / program).is_file():
        raise LeadlineError(f"building {_called(program, label)} gave no {program}; see {log}")


def _tell(command: list[str], log: IO[str], what: str) -> int:
    """Run a command of a build with its output in `log`, announcing its steps; the exit status."""
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "NINJA_STATUS": "[%f/%t] "},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            log.write(line)
            if (step := STEP.match(line)) is not None:
                announce(f"{what}: {step[1]} %" if step[1] else f"{what}: step {step[2]} of {step[3]}")
    return process.returncode


def _failure(program: str, label: str, log: Path) -> str:
    """One sentence: what was built, the first error, where the rest is."""
    found = FIRST_ERROR.search(log.read_text(errors="replace"))
    said = f": {found[0].strip()}" if found else ""
    return f"building {_called(program, label)} failed{said}; see {log}"


def _called(program: str, label: str) -> str:
    """A program by name, with the MPI that it is built for."""
    return program if label == LOCAL else f"{program} for {label}"


@contextmanager
def _locked(path: Path, waits: str) -> Iterator[None]:
    """Hold an exclusive lock on `path`; the system releases it when the process ends, however it ends.

    `waits` is said where another process holds it.
    """
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            announce(waits, lasting=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
