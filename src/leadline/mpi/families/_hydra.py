"""What MPICH and Intel MPI share: the Hydra launcher's command line."""

from leadline.mpi.family import Start, launcher_of
from leadline.mpi.library import Mpi


def command(mpi: Mpi, start: Start) -> list[str]:
    """`mpiexec` with its nodes and variables, without binding (which the two libraries do differently)."""
    argv = [launcher_of(mpi), "-n", str(start.ranks)]
    if start.hosts:
        each = 1 if start.placement == "nodes" else -(-start.ranks // len(start.hosts))
        argv += ["-hosts", ",".join(start.hosts), "-ppn", str(each)]
    if start.agent:
        argv += ["-launcher", "ssh", "-launcher-exec", start.agent]
    for name, value in start.env.items():
        argv += ["-genv", name, value]
    return argv
