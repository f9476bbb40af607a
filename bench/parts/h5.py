"""What does the preloaded library cost a program that uses HDF5?

Processes with and without it take turns, in pairs, whose order alternates; the library has settings and a
record to keep. A call's cost is the median over pairs of the difference of its time. Writing 1 GB is judged
by the median of the ratio, in memory where there is a file system there: a disk's own changes would hide it.
The program itself stands elsewhere: from a file system in memory programs may not be started everywhere.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from found import Found, at_most
from leadline.core.errors import LeadlineError
from leadline.core.paths import native_dir
from leadline.core.statistics import median_interval
from leadline.native.build import build_h5tuner

PAIRS = int(os.environ.get("BENCH_PAIRS", "20"))
ROOM = 1_500_000_000  # bytes free: the file is 1.07 GB
SETTINGS = "[hdf5]\nalignment = [65536, 4096]\n[mpi-io]\ncb_nodes = 2\n"
# HDF5's own default: it is made and recorded, and the file stays the same. Alignment by itself costs a tenth.
ALIKE = "[hdf5]\nsieve_buf_size = 65536\n[mpi-io]\ncb_nodes = 2\n"
CALLS = ("lseek", "pread", "pread-other", "H5Dwrite", "H5Fopen")


def measure() -> Iterator[Found]:
    """A row for each kind of call, and one for 1 GB."""
    library = build_h5tuner()
    with (
        TemporaryDirectory(prefix="leadline-h5-") as made,
        TemporaryDirectory(prefix="leadline-h5-", dir=_memory()) as name,
    ):
        folder = Path(name)
        (folder / "settings.toml").write_text(SETTINGS)
        program = _compiled(Path(made))
        pairs = [_pair(program, "calls", folder, library, turn) for turn in range(PAIRS)]
        for call in CALLS:
            differences = [1e-9 * (tuned[call] - plain[call]) for plain, tuned in pairs]
            yield Found(
                f"{call}, with the preloaded library less without",
                median(differences),
                "s",
                median_interval(differences),
                "under 1 µs",
                at_most(1e-6),
                f"{PAIRS} pairs; without {median(plain[call] for plain, _ in pairs):.0f} ns",
            )
        (folder / "settings.toml").write_text(ALIKE)
        pairs = [_pair(program, "write", folder, library, turn) for turn in range(PAIRS)]
        ratios = [tuned["write"] / plain["write"] for plain, tuned in pairs]
        yield Found(
            "1.07 GB written by HDF5, with the preloaded library over without",
            median(ratios),
            "1",
            median_interval(ratios),
            "within 1 %",
            at_most(1.01),
            f"{PAIRS} pairs; without {median(plain['write'] for plain, _ in pairs):.3f} s",
        )


def _memory() -> str | None:
    """A folder in memory with room, or None for the usual temporary one."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() and shutil.disk_usage(shared).free > ROOM else None


def _compiled(folder: Path) -> Path:
    """The measured program, for the serial HDF5 that pkg-config knows; raises LeadlineError without one."""
    for package in ("hdf5-serial", "hdf5"):
        asked = ["pkg-config", "--cflags", "--libs", package]
        said = subprocess.run(asked, capture_output=True, text=True, check=False)
        if said.returncode == 0:
            break
    else:
        raise LeadlineError("no serial HDF5 is installed (apt-get install libhdf5-dev)")
    source, program = native_dir() / "bench" / "h5.c", folder / "h5"
    command = [os.environ.get("CC", "cc"), "-O2", str(source), "-o", str(program), *said.stdout.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LeadlineError(f"{source} is not compiled: {done.stderr.splitlines()[0]}")
    return program


def _pair(program: Path, what: str, folder: Path, library: Path, turn: int) -> tuple[dict[str, float], ...]:
    """What a process without the library and one with it say, in this order; which is first alternates."""
    own = {"LD_PRELOAD": str(library), "LEADLINE_H5_SETTINGS": str(folder / "settings.toml")}
    own["LEADLINE_H5_LOG"] = str(folder / "log.jsonl")
    said: dict[bool, dict[str, float]] = {}
    for tuned in (False, True) if turn % 2 == 0 else (True, False):
        environ = {**os.environ, **(own if tuned else {})}
        command = [str(program), what, str(folder / "f.h5")]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LeadlineError(f"{' '.join(command)} ended with {done.returncode}")
        said[tuned] = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
    return said[False], said[True]
