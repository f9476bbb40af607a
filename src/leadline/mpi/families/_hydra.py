"""What MPICH and Intel MPI share: the order of their settings, and the Hydra launcher's command line."""

from abc import abstractmethod

from leadline.core.axes import DEFAULT, PROGRESS, PROTOCOLS
from leadline.mpi.family import Family, Start, Unsupported, check, launcher_of, transports
from leadline.mpi.library import Mpi


class HydraFamily(Family):
    """A library that Hydra starts and that variables set."""

    progress_variable: str  # "1" starts a thread for asynchronous progress in each rank

    def environment(
        self, mpi: Mpi, stack: str = "default", protocol: str = "default", shmem: bool = False
    ) -> dict[str, str]:
        check(protocol, PROTOCOLS, "protocol")
        if shmem:
            raise Unsupported(f"{mpi.id} has no OpenSHMEM")
        wanted = transports(stack)
        if wanted == {"self"}:
            raise Unsupported(
                f"{mpi.id} always has its own way to the same rank; it cannot be asked for alone"
            )
        settings = {**mpi.environment, **(self._stack(mpi, wanted) if wanted else {})}
        if protocol != "default":
            settings |= self.force(mpi, protocol, stack)
        return settings

    def progressing(self, mpi: Mpi, progress: str) -> dict[str, str]:
        check(progress, PROGRESS, "progress")
        return {} if progress == DEFAULT else {self.progress_variable: str(int(progress == "on"))}

    @abstractmethod
    def _stack(self, mpi: Mpi, wanted: frozenset[str]) -> dict[str, str]:
        """The settings for these transports, of which there is one at least."""


def command(mpi: Mpi, start: Start) -> list[str]:
    """`mpiexec` with its nodes and variables, without binding (which the two libraries do differently)."""
    argv = [launcher_of(mpi), "-n", str(start.ranks)]
    if start.hosts:
        each = 1 if start.placement == "nodes" else start.per_host
        argv += ["-hosts", ",".join(start.hosts), "-ppn", str(each)]
    if start.agent:
        argv += ["-launcher", "ssh", "-launcher-exec", start.agent]
    for name, value in start.env.items():
        argv += ["-genv", name, value]
    return argv
