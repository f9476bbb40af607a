"""Flux: `flux run` inside an instance; options by its manual pages flux-run(1) and flux-shell-options(7)."""

import shutil
from collections.abc import Mapping, Sequence

from leadline.mpi.family import PLACEMENTS, check
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

    def launch(
        self,
        mpi: Mpi,
        ranks: int,
        *,
        placement: str = "default",
        hosts: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        oversubscribe: bool = False,
        agent: str | None = None,
    ) -> list[str]:
        """`flux run`; per-task affinity spreads the tasks over the cores that a job was given.

        So neighbours on different packages are what a whole node gives, and neighbours in one group what
        single cores give.
        """
        check(placement, PLACEMENTS, "placement")
        argv = ["flux", "run", "-o", f"pmi={SPOKEN[mpi.family]}"]
        if oversubscribe:
            nodes = len(hosts) or 1
            argv += [f"--nodes={nodes}", f"--tasks-per-node={-(-ranks // nodes)}", "-o", "cpu-affinity=off"]
        else:
            argv += [f"--ntasks={ranks}", "-o", "cpu-affinity=per-task"]
            if placement == "nodes":
                argv += [f"--nodes={len(hosts) or ranks}", "--exclusive", "--taskmap=cyclic"]
            elif placement == "sockets":
                argv += ["--nodes=1", "--exclusive"]
            elif placement == "core-group":
                argv += ["--nodes=1", "--cores-per-task=1"]
        if hosts:
            argv += [f"--requires=host:{','.join(hosts)}"]
        return argv + [f"--env={name}={value}" for name, value in (env or {}).items()]


LAUNCHER = Flux()
