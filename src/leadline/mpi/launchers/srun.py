"""Slurm: `srun` inside an allocation, speaking PMIx with Open MPI and PMI-2 with MPICH and Intel MPI."""

import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from leadline.mpi.family import Start
from leadline.mpi.launcher import Launcher
from leadline.mpi.library import Mpi
from leadline.mpi.wrapper import ask

SPOKEN = {"openmpi": ("pmix",), "mpich": ("pmi2",), "intel": ("pmi2",)}  # by family, the best first
# States of a job by squeue's manual page in which it runs, or will again.
LASTING = ("RUNNING", "CONFIGURING", "SUSPENDED", "STOPPED", "PENDING", "RESIZING", "REQUEUED", "SIGNALING")
GONE = "Invalid job id"  # what squeue prints of a job that is over and forgotten
OVER = r"Job/step already completing or completed|DUE TO TIME LIMIT|Job allocation \d+ has been revoked"
OUTAGE = r"Unable to contact slurm controller|Slurm controller not responding|Socket timed out on send/recv"
PMI2_PLACES = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib64/slurm*", "/opt/slurm/lib*")


class Srun(Launcher):
    """Slurm's `srun`."""

    name = "srun"

    def inside(self, environ: Mapping[str, str]) -> bool:
        """SLURM_JOB_ID is set and `srun` is on PATH."""
        return "SLURM_JOB_ID" in environ and shutil.which("srun", path=environ.get("PATH")) is not None

    def obstacle(self, mpi: Mpi) -> str | None:
        """Slurm's build may lack the plug-in that the library speaks with."""
        wanted = SPOKEN.get(mpi.family, ())
        if not wanted:
            return f"srun: it is not known what {mpi.library} speaks with Slurm; use launcher mpirun"
        if "none" not in plugins():  # which every Slurm lists
            why = (plugin_list().strip().splitlines() or ["no answer"])[-1]
            return f"srun: `srun --mpi=list` lists no plug-in: {why}"
        if not set(wanted) & plugins():
            return f"srun: this Slurm has no plug-in for {' or '.join(wanted)}, which {mpi.id} needs"
        if mpi.family == "intel" and pmi2_library() is None:
            return f"srun: {mpi.id} needs Slurm's libpmi2.so, which is not installed"
        return None

    def launch(self, mpi: Mpi, start: Start) -> list[str]:
        """`srun`, which exports its whole environment; `env` comes on top through the command `env`.

        (`--export` would split values at their commas.)
        """
        spoken = next((each for each in SPOKEN[mpi.family] if each in plugins()), SPOKEN[mpi.family][0])
        nodes = _nodes_for(start.ranks, start.placement, start.hosts)
        # Tasks a node are named because the allocation's own number would otherwise count.
        argv = ["srun", f"--mpi={spoken}", f"--ntasks={start.ranks}", f"--nodes={nodes}"]
        argv += [f"--ntasks-per-node={-(-start.ranks // nodes)}", "--kill-on-bad-exit=1"]
        order = {"nodes": "cyclic:block", "sockets": "block:cyclic"}.get(start.placement, "block:block")
        argv += [f"--distribution={order}"]
        argv += ["--overcommit"] if start.oversubscribe else []
        argv += ["--cpu-bind=cores" if start.binds else "--cpu-bind=none"]
        if start.hosts:
            argv += [f"--nodelist={','.join(start.hosts)}"]
        given = dict(start.env)
        library = pmi2_library() if mpi.family == "intel" else None
        if library:
            given["I_MPI_PMI_LIBRARY"] = str(library)
        return [*argv, "env", *(f"{name}={value}" for name, value in given.items())] if given else argv

    def node_cores(self, environ: Mapping[str, str]) -> int | None:
        """Sockets times cores by `sinfo`, the least of the nodes."""
        said = ask(["sinfo", "-h", "-N", "-n", environ.get("SLURM_JOB_NODELIST", ""), "-o", "%X %Y"], environ)
        found = [line.split() for line in said.splitlines()]
        counts = [int(one) * int(two) for one, two in (f for f in found if len(f) == 2) if one.isdigit()]
        return min(counts, default=None)

    def binds_nothing(self, environ: Mapping[str, str]) -> str | None:
        """`TaskPlugin` without task/affinity: `--cpu-bind` is then ignored, by slurm.conf(5)."""
        said = re.search(r"^TaskPlugin\s*=\s*(\S+)", ask(["scontrol", "show", "config"], environ), re.M)
        if said is None or "affinity" in said[1]:
            return None
        return f"this Slurm has TaskPlugin={said[1]}, without which srun binds nothing (task/affinity)"

    def ended(self, environ: Mapping[str, str], said: str = "", patience: float = 0.0) -> str | None:
        """The job's state by `squeue`, or srun's word: past its limit a job is "running" for a while."""
        job = environ.get("SLURM_JOB_ID", "")
        if over := re.search(OVER, said):
            return f"Slurm's job {job} is over ({over[0].lower()})"
        deadline = time.monotonic() + patience
        while True:
            answer = ask(["squeue", "-h", "-t", "all", "-j", job, "-o", "%T"], environ).strip()
            state = answer.splitlines()[-1] if answer else GONE
            if re.fullmatch("[A-Z_]+", state):
                return None if state in LASTING else f"Slurm's job {job} is over ({state.lower()})"
            if GONE in answer or not answer:
                return f"Slurm's job {job} is over"
            if time.monotonic() >= deadline:
                return None
            time.sleep(1.0)

    def nodes(self, environ: Mapping[str, str]) -> list[int]:
        """By SLURM_JOB_CPUS_PER_NODE, such as "8(x2),4"."""
        said = re.findall(r"(\d+)(?:\(x(\d+)\))?", environ.get("SLURM_JOB_CPUS_PER_NODE", ""))
        return [int(count) for count, times in said for _ in range(int(times or 1))]

    def single(self) -> list[str]:
        """A step of one task, which waits until a processor of the allocation is free for it alone."""
        return ["srun", "--mpi=none", "--nodes=1", "--ntasks=1", "--cpus-per-task=1", "--exact", "--quiet"]

    def elsewhere(self, environ: Mapping[str, str], host: str = "") -> list[str]:
        """A step beside all others, bound to nothing. SLURMD_NODENAME is set on nodes, not for salloc."""
        here = environ.get("SLURMD_NODENAME")
        if here and host in {"", here}:
            return []
        step = ["srun", "--mpi=none", "--nodes=1", "--ntasks=1", "--overlap", "--cpu-bind=none", "--quiet"]
        return [*step, f"--nodelist={host}"] if host else step

    def outage(self, said: str) -> bool:
        """What srun prints where slurmctld does not answer."""
        return re.search(OUTAGE, said) is not None


def _nodes_for(ranks: int, placement: str, hosts: Sequence[str]) -> int:
    """Nodes to use: the hosts named, all that ranks can be spread over, or as few as have the processors."""
    if placement in {"core-group", "sockets"}:
        return 1
    allocated = len(hosts) or max(1, min(_counts("SLURM_JOB_NUM_NODES"), default=1))
    if placement == "nodes":
        return min(ranks, allocated)
    # The first is set on a node of the allocation only, so not under salloc.
    counts = _counts("SLURM_CPUS_ON_NODE") or _counts("SLURM_JOB_CPUS_PER_NODE")
    return min(allocated, -(-ranks // max(1, min(counts, default=1))))


def _counts(variable: str) -> list[int]:
    """Counts in a variable that Slurm sets, such as "8" or, for several nodes, "8(x2),4"; [] if none."""
    return [int(each) for each in re.findall(r"(\d+)(?:\(x\d+\))?(?:,|$)", os.environ.get(variable, ""))]


@cache
def plugin_list() -> str:
    """What `srun --mpi=list` prints, which may be why it failed."""
    return ask(["srun", "--mpi=list"], os.environ)


def plugins() -> frozenset[str]:
    """The interfaces that this Slurm offers, as `srun --mpi=list` names them."""
    return frozenset(plugin_list().split())


@cache
def pmi2_library() -> Path | None:
    """Slurm's PMI-2 library, which Intel MPI loads by name; None where there is none."""
    found = [path for place in PMI2_PLACES for path in Path("/").glob(f"{place[1:]}/libpmi2.so*")]
    return found[0] if found else None


LAUNCHER = Srun()
