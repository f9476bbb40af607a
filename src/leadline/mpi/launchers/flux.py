"""Flux: `flux run` inside an instance; options by its manual pages flux-run(1) and flux-shell-options(7)."""

import shutil
from collections.abc import Mapping

from leadline.mpi.family import Start
from leadline.mpi.launcher import Launcher
from leadline.mpi.library import Mpi

SPOKEN = {"openmpi": "pmix", "mpich": "simple", "intel": "simple"}  # "simple" is PMI-1 over a file descriptor


class Flux(Launcher):
    """`flux run`."""

    name = "flux"

    def inside(self, environ: Mapping[str, str]) -> bool:
        """FLUX_URI is set and `flux` is on PATH."""
        return "FLUX_URI" in environ and shutil.which("flux", path=environ.get("PATH")) is not None

    def obstacle(self, mpi: Mpi) -> str | None:
        """Only that it is not known how a family speaks with Flux."""
        if mpi.family not in SPOKEN:
            return f"flux: it is not known what {mpi.library} speaks with Flux; use launcher mpirun"
        return None

    def launch(self, mpi: Mpi, start: Start) -> list[str]:
        """`flux run`; per-task affinity spreads the tasks over the cores that a job was given.

        So neighbours on different packages are what a whole node gives, and neighbours in one group what
        single cores give.
        """
        argv = ["flux", "run", "-o", f"pmi={SPOKEN[mpi.family]}"]
        if start.oversubscribe:
            nodes = len(start.hosts) or 1
            argv += [
                f"--nodes={nodes}",
                f"--tasks-per-node={-(-start.ranks // nodes)}",
                "-o",
                "cpu-affinity=off",
            ]
        else:
            argv += [f"--ntasks={start.ranks}", "-o", f"cpu-affinity={'per-task' if start.binds else 'off'}"]
            if start.placement == "nodes":
                argv += [f"--nodes={len(start.hosts) or start.ranks}", "--exclusive", "--taskmap=cyclic"]
            elif start.placement == "sockets":
                argv += ["--nodes=1", "--exclusive"]
            elif start.placement == "core-group":
                argv += ["--nodes=1", "--cores-per-task=1"]
        if start.hosts:
            argv += [f"--requires=host:{','.join(start.hosts)}"]
        return argv + [f"--env={name}={value}" for name, value in start.env.items()]


LAUNCHER = Flux()
