"""Slurm: `srun` inside an allocation, speaking PMIx with Open MPI and PMI-2 with MPICH and Intel MPI."""

import os
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from leadline.mpi.family import Start
from leadline.mpi.launcher import Launcher
from leadline.mpi.library import Mpi
from leadline.mpi.wrapper import ask

SPOKEN = {"openmpi": ("pmix",), "mpich": ("pmi2",), "intel": ("pmi2",)}  # by family, the best first
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
        argv += ["--overcommit", "--cpu-bind=none"] if start.oversubscribe else ["--cpu-bind=cores"]
        if start.hosts:
            argv += [f"--nodelist={','.join(start.hosts)}"]
        given = dict(start.env)
        library = pmi2_library() if mpi.family == "intel" else None
        if library:
            given["I_MPI_PMI_LIBRARY"] = str(library)
        return [*argv, "env", *(f"{name}={value}" for name, value in given.items())] if given else argv


def _nodes_for(ranks: int, placement: str, hosts: Sequence[str]) -> int:
    """Nodes to use: the hosts named, all that ranks can be spread over, or as few as have the processors."""
    if placement in {"core-group", "sockets"}:
        return 1
    allocated = len(hosts) or _number("SLURM_JOB_NUM_NODES")
    if placement == "nodes":
        return min(ranks, allocated)
    return min(allocated, -(-ranks // _number("SLURM_CPUS_ON_NODE")))


def _number(variable: str) -> int:
    """A count that Slurm tells in the environment; 1 where it does not."""
    said = os.environ.get(variable, "")
    return int(said) if said.isdigit() and int(said) > 0 else 1


@cache
def plugins() -> frozenset[str]:
    """The interfaces that this Slurm offers, as `srun --mpi=list` names them."""
    return frozenset(ask(["srun", "--mpi=list"], os.environ).split())


@cache
def pmi2_library() -> Path | None:
    """Slurm's PMI-2 library, which Intel MPI loads by name; None where there is none."""
    found = [path for place in PMI2_PLACES for path in Path("/").glob(f"{place[1:]}/libpmi2.so*")]
    return found[0] if found else None


LAUNCHER = Srun()
