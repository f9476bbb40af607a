"""Is this machine ready to be measured? Each thing that is needed, whether it is there, and what would do.

A check is a function that returns a `Finding`; `check_up` runs them all. What would spoil results without
stopping a run (a frequency governor, a slow clock) is a warning.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from leadline.core.busy import BUSY, Watch
from leadline.core.paths import state_dir
from leadline.core.units import format_quantity
from leadline.mpi.discover import find
from leadline.mpi.library import Mpi
from leadline.mpi.trial import trouble
from leadline.native.build import is_built
from leadline.targets.local.topology import CLOCK, governor, read

OK, MISSING, WARNING = "ok", "missing", "warning"
SHM_ROOM = 256 << 20  # B in /dev/shm: forced eager messages alone take tens of MiB a rank
DISK_ROOM = 1 << 30  # B for builds, MPIs and records
SLOW_SYNC = 0.02  # s; the journal is synced after every point
LOOK = 0.5  # s, for what others do
GOOD_CLOCKS = ("tsc", "arch_sys_counter", "timebase", "kvm-clock")  # read without entering the kernel
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's answer."""

    check: str
    state: str  # OK, MISSING (something needed) or WARNING
    found: str
    advice: str = ""


def check_up(progress: Callable[[str], None] = lambda _: None) -> list[Finding]:
    """Every check in turn; `progress` hears the name of each group before it is made."""
    findings = []
    for name, check in CHECKS.items():
        progress(name)
        findings += check()
    return findings


def healthy(findings: Iterable[Finding]) -> bool:
    """Whether nothing needed is missing."""
    return all(finding.state != MISSING for finding in findings)


def tools() -> list[Finding]:
    """What builds the native programs."""
    return [
        _version(os.environ.get("CXX") or "c++", "C++ compiler", (11,), "apt install g++"),
        _version("cmake", "cmake", (3, 22), "apt install cmake"),
        _either("ninja or make", ("ninja", "make"), "apt install ninja-build"),
        _package("hwloc", "hwloc.h", "apt install libhwloc-dev pkgconf"),
        _package("nlohmann_json", "nlohmann/json.hpp", "apt install nlohmann-json3-dev pkgconf"),
    ]


def mpis() -> list[Finding]:
    """Each MPI, by really starting two ranks; one that works is needed."""
    found = find()
    with ThreadPoolExecutor(max_workers=2) as pool:
        findings = list(pool.map(examine, found))
    if any(finding.state == OK for finding in findings):
        return findings
    advice = "leadline doctor --install mpich (or openmpi, impi)"
    said = "none of those above works" if found else "none"
    return [*findings, Finding("an MPI that works", MISSING, said, advice)]


def examine(mpi: Mpi) -> Finding:
    """Whether two ranks of an MPI start and know each other."""
    name = f"MPI {mpi.id}"
    problem = trouble(mpi)
    if problem is None:
        return Finding(name, OK, f"{mpi.library} {mpi.version} ({mpi.origin}): two ranks start")
    advice = f"leadline doctor --install {'impi' if mpi.family == 'intel' else mpi.family}"
    return Finding(name, WARNING, problem, advice)


def room() -> list[Finding]:
    """Room in shared memory and on the disk, and how fast the disk takes a record."""
    return [
        _space("/dev/shm", Path("/dev/shm"), SHM_ROOM, "in a container: docker run --shm-size=1g"),
        _state(),
        _sync(),
    ]


def quiet() -> list[Finding]:
    """Whether others use this machine's processors now."""
    watch = Watch()
    time.sleep(LOOK)
    seen = watch.seen()
    busy = seen.others + seen.steal
    advice = "measure when it is done; points measured beside other work are marked"
    found = f"{busy:.1f} processors busy"
    return [Finding("other work", OK if busy < BUSY else WARNING, found, "" if busy < BUSY else advice)]


def clock() -> list[Finding]:
    """What the kernel reads the time from, and whether the processor's frequency may wander."""
    source = read(CLOCK)
    good = source is None or source in GOOD_CLOCKS
    slow = "reading it takes microseconds; boot with clocksource=tsc where the processor allows it"
    steered = governor()
    steady = steered in {None, "performance"}
    wander = "cpupower frequency-set -g performance keeps the clock steady while measuring"
    return [
        Finding("clock source", OK if good else WARNING, source or "not told", "" if good else slow),
        Finding(
            "frequency governor",
            OK if steady else WARNING,
            steered or "not steered by this kernel",
            "" if steady else wander,
        ),
    ]


def browser() -> list[Finding]:
    """A browser, which only the tests of the report need."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path:
        return [Finding("Chromium (tests)", OK, path)]
    return [Finding("Chromium (tests)", WARNING, "none", "apt install chromium; only 'make test' uses it")]


CHECKS: dict[str, Callable[[], list[Finding]]] = {
    "tools": tools,
    "room": room,
    "other work": quiet,
    "clock": clock,
    "browser": browser,
    "MPIs": mpis,
}


def _version(program: str, what: str, least: tuple[int, ...], advice: str) -> Finding:
    """A program that must be there in a version that is new enough."""
    path = shutil.which(program)
    if path is None:
        return Finding(what, MISSING, "none", advice)
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    number = re.search(r"\d+(\.\d+)+", said)
    version = tuple(int(part) for part in number[0].split(".")) if number else ()
    text = f"{Path(path).name} {number[0]}" if number else path
    if version and version < least:
        wanted = ".".join(map(str, least))
        return Finding(what, MISSING, text, f"{wanted} or newer is needed: {advice}")
    return Finding(what, OK, text)


def _either(what: str, programs: Iterable[str], advice: str) -> Finding:
    path = next((found for name in programs if (found := shutil.which(name))), None)
    return Finding(what, OK, path) if path else Finding(what, MISSING, "none", advice)


def _package(name: str, header: str, advice: str) -> Finding:
    """A library that CMake finds through pkg-config."""
    if shutil.which("pkg-config"):
        asked = subprocess.run(
            ["pkg-config", "--modversion", name], capture_output=True, text=True, check=False
        )
        if asked.returncode == 0:
            return Finding(header, OK, f"{name} {asked.stdout.strip()}")
        return Finding(header, MISSING, "none", advice)
    return Finding(header, MISSING, "cannot be asked for without pkg-config", advice)


def _state() -> Finding:
    """Room for builds. Where the benchmarks are built, as in an image, it need not be writable: a warning."""
    what = "disk"
    try:
        state_dir().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=state_dir()):
            pass
    except OSError as problem:
        advice = "what is not built cannot be: make the directory writable, or set LEADLINE_STATE"
        return Finding(what, WARNING if is_built(None) else MISSING, str(problem), advice)
    return _space(what, state_dir(), DISK_ROOM, "free some space, or set LEADLINE_STATE to another disk")


def _space(what: str, path: Path, least: int, advice: str) -> Finding:
    """Free space where something will be written."""
    there = next((place for place in (path, *path.parents) if place.is_dir()), None)
    if there is None:
        return Finding(what, WARNING, f"no {path}", advice)
    free = shutil.disk_usage(there).free
    text = f"{free / 2**30:.1f} GiB free"
    return Finding(what, OK, text) if free >= least else Finding(what, WARNING, text, advice)


def _sync() -> Finding:
    """How long the disk of runs, which is the current directory's, takes to keep a record: median of ten."""
    what = "disk sync"
    try:
        with tempfile.TemporaryFile(dir=Path.cwd()) as file:
            times = sorted(_synced(file.fileno()) for _ in range(10))
    except OSError as problem:
        return Finding(
            what, MISSING, str(problem), "runs are written here: go to a directory that you may write to"
        )
    text = f"{format_quantity(times[5], 's')} a record"
    slow = times[5] > SLOW_SYNC
    return Finding(what, WARNING if slow else OK, text, "write runs to a faster disk" if slow else "")


def _synced(descriptor: int) -> float:
    """Seconds for a kilobyte to be written and synced."""
    began = time.perf_counter()
    os.write(descriptor, bytes(1024))
    os.fsync(descriptor)
    return time.perf_counter() - began
