"""What must be alike on all hosts of a cluster: settings of kernel and processor, and the MPI library.

As a program (`python -m leadline.targets.local.host_facts PROGRAM DIRECTORY`), started on every host by the
launcher, it writes those of its host to a file in DIRECTORY. It needs no MPI to start.
"""

import ctypes
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from leadline.core.errors import LeadlineError
from leadline.targets.local.topology import facts, read

FILES = {
    "huge page pool": "/proc/sys/vm/nr_hugepages",
    "transparent huge pages": "/sys/kernel/mm/transparent_hugepage/enabled",
    "huge page defragmentation": "/sys/kernel/mm/transparent_hugepage/defrag",
    "NUMA balancing": "/proc/sys/kernel/numa_balancing",
    "NUMA zone reclaim": "/proc/sys/vm/zone_reclaim_mode",
    "boost": "/sys/devices/system/cpu/cpufreq/boost",
    "hyper-threading": "/sys/devices/system/cpu/smt/control",
}
MACHINE = {  # facts that `leadline.targets.local.topology` has
    "cpu": "processor",
    "packages": "sockets",
    "numa_nodes": "NUMA nodes",
    "memory": "memory",
    "governor": "frequency governor",
    "frequency": "frequency limits",
    "clock_source": "clock source",
    "isolated_cores": "isolated cores",
    "kernel": "kernel",
    "distribution": "distribution",
}


def settings(program: Path) -> dict[str, str | None]:
    """What should be the same on every host; `program` is one that is linked with the MPI library.

    None where the kernel does not tell. Raises LeadlineError as `topology` does.
    """
    machine = facts()
    known = {name: machine.get(key) for key, name in MACHINE.items()}
    files = {name: read(Path(path)) for name, path in FILES.items()}
    said = {name: None if value is None else str(value) for name, value in (known | files).items()}
    return {**said, "MPI library": _library(program), "locked memory": _locked()}


def _library(program: Path) -> str | None:
    """What the MPI library that a program would load here calls itself; None where that is unknown."""
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    found = re.search(r"libmpi\S* => (\S+)", linked) or re.search(r"libmpich\S* => (\S+)", linked)
    if found is None or not Path(found[1]).exists():
        return None
    try:
        text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
        ctypes.CDLL(found[1]).MPI_Get_library_version(text, ctypes.byref(length))  # before MPI_Init as well
    except (OSError, AttributeError):
        return None
    return " ".join(text.value.decode(errors="replace").split())


def _locked() -> str | None:
    """The limit of locked memory, without which a network adapter falls back to copies."""
    said = re.search(r"^Max locked memory\s+(\S+)", read(Path("/proc/self/limits")) or "", re.MULTILINE)
    return said[1] if said else None


def main(program: str, directory: str) -> None:
    """Write this host's settings, or why they are unknown, and its time of day."""
    now = time.time()
    try:
        found: dict[str, object] = {"settings": settings(Path(program))}
    except LeadlineError as problem:
        found = {"error": str(problem)}
    # Renamed when it is whole, since the reader may look at any time.
    path = Path(directory) / f"{platform.node()}.part"
    path.write_text(json.dumps({"host": platform.node(), "time": now, "process": os.getpid(), **found}))
    path.rename(path.with_suffix(".json"))


if __name__ == "__main__":
    main(*sys.argv[1:])
