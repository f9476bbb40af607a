"""Processes with and without the preloaded library, and what is compared of them."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent / "tune" / "programs"
PATIENCE = 120.0  # s, for what takes well under one: the machine may be stood still meanwhile
LAUNCHER_QUIET = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

Line = dict[str, Any]

# Settings of every layer and list, and one of HDF5 with one of MPI-IO.
MANY = """
[hdf5]
alignment = [0, 4096]
meta_block_size = 65536
sieve_buf_size = 1048576
libver_bounds = ["v18", "latest"]
coll_metadata_ops = true
chunk_cache_bytes = 2000000
file_space_strategy = "page"
page_buffer_size = 16384
[[match]]
dataset = "/*"
hdf5.chunk = [5, 20, 100]
hdf5.fill_time = "never"
hdf5.alloc_time = "early"
hdf5.chunk_cache_w0 = 0.5
[mpi-io]
cb_nodes = 2
cb_buffer_size = 1048576
romio_cb_write = "enable"
cray_cb_nodes_multiplier = 2
[file-system]
striping_factor = 4
striping_unit = 65536
"""
BOTH = "[hdf5]\nalignment = [0, 4096]\n[mpi-io]\ncb_buffer_size = 65536\n"


# An open tracer as tools preload it: it loses what errno was. It asks the loader when it is started, since a
# handler of signals that asked it would hang by itself.
TRACER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#define TRACE(name) static int (*real_##name)(const char*, int, ...); \\
  __attribute__((constructor)) static void find_##name(void) { \\
    *(void**)&real_##name = dlsym(RTLD_NEXT, #name); } \\
  int name(const char* path, int flags, ...) { \\
    va_list rest; va_start(rest, flags); int mode = flags & O_CREAT ? va_arg(rest, int) : 0; va_end(rest); \\
    if (!real_##name) find_##name(); \\
    int file = real_##name(path, flags, mode); \\
    errno = 0; return file; }
TRACE(open)
TRACE(open64)
"""


def installed(*tools: str) -> bool:
    """Whether all of these programs are here."""
    return all(shutil.which(tool) for tool in tools)


def needs(*tools: str) -> None:
    """Skip where a program that a test looks on with is not installed."""
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed (setup.sh --test installs it)")


class Run:
    """A process that has ended, and the record it left."""

    def __init__(
        self,
        command: Sequence[str | Path],
        folder: Path,
        settings: str | None,
        *preload: Path,
        patience: float = PATIENCE,
        logs: bool = True,
    ) -> None:
        """Run `command` in `folder`; with the library, where it is named, and these settings."""
        folder.mkdir(exist_ok=True)
        self.folder, self.log = folder, folder / "log.jsonl"
        environ = {**os.environ, **LAUNCHER_QUIET}
        for name in ("LD_PRELOAD", "LEADLINE_H5_SETTINGS", "LEADLINE_H5_LOG"):
            environ.pop(name, None)
        own = {}
        if preload:
            own["LD_PRELOAD"] = ":".join(map(str, preload))
            own |= {"LEADLINE_H5_LOG": str(self.log)} if logs else {}
        if len(preload) > 1:
            # Leaks are the program's. The exit handlers of a library beneath Debian's HDF5 (p11-kit) hang
            # under this sanitizer, whatever else is preloaded: programs end without them.
            own |= {"ASAN_OPTIONS": "detect_leaks=0", "ENDS_AT_ONCE": "1"}
        if settings is not None:
            (folder / "settings").write_text(settings)
            own["LEADLINE_H5_SETTINGS"] = str(folder / "settings")
        words = [str(word) for word in command]
        # Into the ranks, not into the launcher.
        at = words.index("{env}") if "{env}" in words else 0
        words = [*words[:at], "env", *(f"{k}={v}" for k, v in own.items()), *words[at + (at > 0) :]]
        done = subprocess.run(
            words, cwd=folder, env=environ, capture_output=True, text=True, timeout=patience, check=False
        )
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def told(self) -> tuple[int, str, str]:
        """All that a user sees of it, but for the time of day."""
        return self.code, self.out, re.sub(r"time = .*", "", self.err)

    def lines(self, kind: str) -> list[Line]:
        """Lines of the record."""
        read = [json.loads(each) for each in self.log.read_text().splitlines()]
        return [each for each in read if each["kind"] == kind]

    def states(self, dataset: str | None = None) -> dict[str, str]:
        """What became of each setting, of a file or of one dataset."""
        return {
            each["name"]: each["state"] for each in self.lines("setting") if each.get("dataset") == dataset
        }


def same(one: Path, other: Path) -> None:
    """HDF5's own tool finds no difference."""
    needs("h5diff")
    done = subprocess.run(["h5diff", one, other], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def compile_program(folder: Path, name: str, flavour: str = "serial", *more: str) -> Path:
    """A program of tune/programs, for an HDF5 of Debian's; skips where that is not installed."""
    include = Path("/usr/include/hdf5") / flavour
    places = list(Path("/usr/lib").glob(f"*/hdf5/{flavour}"))
    suffix = Path(name).suffix
    compiler = {".f90": "gfortran", ".cpp": "g++"}.get(suffix, "gcc")
    compiler = compiler if flavour == "serial" else f"mpicc.{flavour}"
    needs(compiler)
    if not include.is_dir() or not places:
        pytest.skip(f"HDF5 for {flavour} is not installed (setup.sh --test installs it)")
    made = folder / f"{len(list(folder.iterdir()))}-{Path(name).stem}"
    own = {".f90": ("-lhdf5_fortran", "-lhdf5"), ".cpp": ("-lhdf5_cpp", "-lhdf5")}.get(suffix, ("-lhdf5",))
    where = [word.replace("{lib}", str(places[0])) for word in more or own]
    subprocess.run(
        [compiler, PROGRAMS / name, "-O1", "-o", made, f"-I{include}", f"-L{places[0]}", *where],
        check=True,
        capture_output=True,
    )
    return made


def sanitizer(name: str) -> Path | None:
    """The run-time library of one of GCC's sanitizers; None where there is none."""
    asked = ["gcc", f"-print-file-name=lib{name}.so"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return Path(found) if Path(found).is_absolute() else None


def preloaded(folder: Path, code: str) -> Path:
    """A library of this C code, to be preloaded beside ours."""
    needs("gcc")
    (folder / "planted.c").write_text(code)
    subprocess.run(
        ["gcc", "-fPIC", "-shared", folder / "planted.c", "-o", folder / "planted.so", "-ldl"], check=True
    )
    return folder / "planted.so"
