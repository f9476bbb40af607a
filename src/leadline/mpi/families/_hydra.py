"""What MPICH and Intel MPI share: the Hydra launcher's command line."""

from collections.abc import Mapping, Sequence

from leadline.mpi.family import launcher_of
from leadline.mpi.library import Mpi


def command(
    mpi: Mpi,
    ranks: int,
    *,
    placement: str,
    hosts: Sequence[str],
    env: Mapping[str, str],
    agent: str | None,
) -> list[str]:
    """`mpiexec` with its nodes and variables, without binding (which the two libraries do differently)."""
    argv = [launcher_of(mpi), "-n", str(ranks)]
    if hosts:
        each = 1 if placement == "nodes" else -(-ranks // len(hosts))
        argv += ["-hosts", ",".join(hosts), "-ppn", str(each)]
    if agent:
        argv += ["-launcher", "ssh", "-launcher-exec", agent]
    for name, value in env.items():
        argv += ["-genv", name, value]
    return argv
