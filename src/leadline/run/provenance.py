"""Where the records of a run come from: host, kernel, compiler, MPIs and their settings, program, date."""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from leadline import __version__
from leadline.core.errors import UsageError
from leadline.core.paths import checkout
from leadline.machine import load
from leadline.mpi import Mpi
from leadline.mpi.discover import row
from leadline.programs.registry import Benchmark
from leadline.targets.local.topology import facts
from leadline.targets.simulated.target import Described


def collect(mpis: Iterable[Mpi], plan: Path, benchmarks: Iterable[Benchmark]) -> dict[str, Any]:
    """Everything that is known before the first launch; `benchmarks` are those that the plan asks."""
    return {
        **_common(plan, benchmarks),
        "machine": facts(),
        "before": before(),
        "compiler": compiler(),
        "mpis": [row(mpi) for mpi in mpis],
        "batch": {name: os.environ[name] for name in ("SLURM_JOB_ID", "FLUX_URI") if name in os.environ},
    }


def of_simulation(site: Described, plan: Path, benchmarks: Iterable[Benchmark]) -> dict[str, Any]:
    """The same of a run on a described machine: the machine as read, each number with where it is from.

    This host does not matter: it only computes.
    """
    machine = site.machine
    return {
        **_common(plan, benchmarks),
        "compiler": compiler(),
        "simulated": {
            "machine": machine.name,
            "title": machine.title,
            "file": str(machine.path),
            "network": site.network,
            "mapping": site.mapping,
            "partition": site.partition,
            "noise": site.noise,
            "seed": site.seed,
            "files": [str(directory.resolve()) for directory in site.beside],
        },
        "described": machine.native(),
        "sources": dict(machine.sources),
        "numbers": {each.key: f"{each.text} ({each.source})" for each in machine.numbers()},
    }


def site_of(run: Mapping[str, Any]) -> Described | None:
    """The site of a run whose provenance is given, as it was; None where the run is one of real ranks.

    Raises UsageError where the machine is gone, or is described otherwise by now.
    """
    if "simulated" not in run:
        return None
    said = run["simulated"]
    machine = load(said["file"])
    if machine.native() != run["described"]:
        raise UsageError(
            f"{said['file']} has changed since the run was begun, so the run cannot be gone on with; "
            "begin another one"
        )
    return Described(
        machine,
        said["partition"],
        said["mapping"],
        said["network"],
        said["noise"],
        said["seed"],
        tuple(Path(each) for each in said["files"]),
    )


def _common(plan: Path, benchmarks: Iterable[Benchmark]) -> dict[str, Any]:
    """What runs of all kinds have."""
    return {
        "leadline": __version__,
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "plan": plan.name,
        "benchmarks": [{"name": each.name, "question": each.question} for each in benchmarks],
    }


def before(seconds: float = 0.25) -> dict[str, float]:
    """How busy the machine was before anything was measured, watched for `seconds`.

    `others`: processors kept busy by others, mean; `steal`: processors that the hypervisor gave to other
    guests, mean; `load`: the kernel's load average over the last minute.
    """
    first = psutil.cpu_times()
    time.sleep(seconds)
    last = psutil.cpu_times()
    idle = (last.idle - first.idle) + (last.iowait - first.iowait)
    steal = last.steal - first.steal
    others = max(0.0, (psutil.cpu_count() or 1) - (idle + steal) / seconds)
    return {"others": round(others, 2), "steal": round(steal / seconds, 2), "load": os.getloadavg()[0]}


def commit() -> str | None:
    """The checkout's commit, with "+" where files differ from it; None outside a checkout."""
    root = checkout()
    if root is None:
        return None
    try:
        named = _said(["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"])
        changed = _said(["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"])
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{named}+" if changed else named


def compiler() -> dict[str, str | None]:
    """The C++ compiler that the native programs are built with, and the flags from the environment."""
    program = os.environ.get("CXX", "c++")
    try:
        version = _said([program, "--version"]).splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        version = None
    return {
        "program": program,
        "version": version,
        "flags": f"-O3 -DNDEBUG {os.environ.get('CXXFLAGS', '')}".strip(),
    }


def _said(command: list[str]) -> str:
    """What a command prints, without the blank around it."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=10).stdout.strip()


def merged(before: Mapping[str, Any], kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """The provenance of a run with what its launches told about each kind; kinds of before stay."""
    keys = ["mpi", "stack", "protocol", "placement", "ranks", "mapping", "partition"]
    keys += ["collectives", "operation", "progress"]
    held = {tuple(kind.get(key) for key in keys): kind for kind in [*before.get("kinds", []), *kinds]}
    return {**before, "kinds": list(held.values())}
