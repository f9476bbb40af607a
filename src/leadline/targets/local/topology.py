"""What this machine is: cores, packages, core groups and caches as hwloc sees them, and the kernel's facts.

A core group is the cores that share the last-level cache. Topology is asked of the native program
(`leadline-describe --topology`), so that Python and the ranks see the same hwloc.
"""

import json
import os
import platform
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from leadline.core.axes import PLACEMENTS
from leadline.core.errors import LeadlineError
from leadline.core.units import format_bytes, format_quantity
from leadline.mpi.family import check
from leadline.native.build import build_describe

CPU = Path("/sys/devices/system/cpu")
CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


@dataclass(frozen=True)
class Core:
    """A core: the number of its first hardware thread, where it lies, and how many threads it has."""

    os_index: int
    package: int
    group: int  # cores of one group share the last-level cache
    threads: int = 1


@dataclass(frozen=True)
class Topology:
    """The cores of this host that may be used, and its caches."""

    cores: tuple[Core, ...]
    packages: int
    numa_nodes: int
    caches: tuple[str, ...]  # e.g. "L2: 2 of 2 MiB, lines of 64 B"

    @property
    def largest_group(self) -> int:
        """Number of cores in the largest core group."""
        return max(Counter((core.package, core.group) for core in self.cores).values(), default=0)


def parse(described: dict[str, Any]) -> Topology:
    """The topology from what `leadline-describe --topology` prints; else KeyError or TypeError."""
    caches = [
        f"L{c['level']}: {c['count']} of {format_bytes(c['bytes'])}, lines of {c['line']} B"
        for c in described.get("caches", [])
    ]
    cores = tuple(Core(**core) for core in described["cores"])
    return Topology(cores, described["packages"], described.get("numa_nodes", 1), tuple(caches))


@cache
def topology() -> Topology:
    """This host's topology; raises LeadlineError when the native program cannot be built or asked."""
    program = build_describe()
    try:
        said = subprocess.run([program, "--topology"], check=True, capture_output=True, text=True, timeout=30)
        return parse(json.loads(said.stdout))
    except (subprocess.SubprocessError, OSError, ValueError, KeyError, TypeError) as problem:
        raise LeadlineError(
            f"{program} does not tell the topology ({problem}); run 'make clean' and build again"
        ) from problem


def usable_cores(here: Topology | None = None) -> int:
    """How many ranks "one on every core" is: cores, not hardware threads, of those this process may use."""
    here = here or topology()
    allowed = len(os.sched_getaffinity(0))
    threads = max((core.threads for core in here.cores), default=1)
    return max(1, min(len(here.cores), allowed // threads))


def possible(
    placement: str,
    ranks: int,
    hosts: Sequence[str] = (),
    oversubscribe: bool = False,
    here: Topology | None = None,
) -> str | None:
    """Why `ranks` ranks cannot be placed so; None when they can.

    Hosts are taken to be alike. `here`: their topology, if it is not this machine's. Raises UsageError for an
    unknown placement.
    """
    check(placement, PLACEMENTS, "placement")
    here = here or topology()
    there = nodes(hosts)
    name = hosts[0] if hosts else platform.node()
    if placement == "nodes" and there < 2:
        return "placement nodes needs two nodes or more; name them as hosts, or run inside an allocation"
    if placement == "sockets" and here.packages < 2:
        return f"placement sockets needs two sockets or more; {name} has {here.packages}"
    if oversubscribe and placement != "default":
        return f"placement {placement} gives each rank a core of its own, which oversubscribe excludes"
    room, where = {
        "core-group": (here.largest_group, "the largest core group"),
        "sockets": (len(here.cores), "a node"),
    }.get(placement, (len(here.cores) * there, f"{there} nodes" if there > 1 else name))
    if ranks > room and not oversubscribe:
        hint = (
            "; to run them nevertheless, a plan says oversubscribe = true" if placement == "default" else ""
        )
        return f"{ranks} ranks need a core each, and {where} has {room}{hint}"
    return None


def nodes(hosts: Sequence[str]) -> int:
    """How many nodes there are: those named, else those of the allocation, else this one."""
    if hosts:
        return len(dict.fromkeys(hosts))
    said = os.environ.get("SLURM_JOB_NUM_NODES", "")
    return int(said) if said.isdigit() else 1


def facts() -> dict[str, Any]:
    """What should be known of the machine beside its numbers, quantities as text with their units.

    What the kernel does not tell is None. Raises LeadlineError as `topology` does.
    """
    here = topology()
    groups = Counter((core.package, core.group) for core in here.cores)
    return {
        "host": platform.node(),
        "cpu": cpu_model(),
        "packages": here.packages,
        "cores": len(here.cores),
        "threads_per_core": max((core.threads for core in here.cores), default=1),
        "core_groups": f"{len(groups)} of {_range(groups.values())} cores",
        "numa_nodes": here.numa_nodes,
        "caches": list(here.caches),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB",
        "huge_pages": _chosen(Path("/sys/kernel/mm/transparent_hugepage/enabled")),
        "governor": governor(),
        "frequency": _frequencies(),
        "clock_source": read(CLOCK),
        "isolated_cores": read(CPU / "isolated") or None,
        "virtualised": virtualised(),
        "kernel": f"{platform.system()} {platform.release()}",
        "distribution": _distribution(),
    }


def read(path: Path) -> str | None:
    """The text of one of the kernel's files; None where there is none."""
    try:
        return path.read_text().strip()
    except OSError:
        return None


def cpu_model() -> str | None:
    """The processor's name, as the kernel prints it."""
    said = re.search(r"^(?:model name|cpu model|Model)\s*:\s*(.+)$", read(Path("/proc/cpuinfo")) or "", re.M)
    return said[1] if said else platform.processor() or None


def governor() -> str | None:
    """The frequency governors of the cores, usually one; None where the kernel does not steer frequency."""
    said = {read(path) for path in CPU.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    return " ".join(sorted(filter(None, said))) or None


def virtualised() -> str | None:
    """What the machine is a guest of, and the kind of container; None where nothing tells of either."""
    program = shutil.which("systemd-detect-virt")
    if program:
        asked = [
            subprocess.run([program, kind], capture_output=True, text=True, check=False).stdout.strip()
            for kind in ("--vm", "--container")
        ]
        return " ".join(word for word in asked if word not in {"", "none"}) or None
    guest = re.search(r"^flags\s*:.*\bhypervisor\b", read(Path("/proc/cpuinfo")) or "", re.MULTILINE)
    return "yes" if guest else None


def _frequencies() -> str | None:
    """Lowest and highest frequency of the first core; None where the kernel does not tell."""
    limits = [read(CPU / "cpu0" / "cpufreq" / f"cpuinfo_{end}_freq") for end in ("min", "max")]
    told = [format_quantity(int(limit) * 1000, "Hz") for limit in limits if limit and limit.isdigit()]
    return " to ".join(told) or None


def _chosen(path: Path) -> str | None:
    """The word in brackets of a kernel file that lists choices."""
    said = re.search(r"\[(\w+)\]", read(path) or "")
    return said[1] if said else None


def _range(counts: Collection[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def _distribution() -> str | None:
    """The distribution's full name."""
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None
