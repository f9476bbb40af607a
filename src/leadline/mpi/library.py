"""One MPI on this machine: what it is and what is needed to build against it and to start it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LEADLINE, MODULE, SYSTEM_PATH = "leadline", "module", "PATH"  # origins, beside the distribution's own name


@dataclass(frozen=True)
class Mpi:
    """An MPI library with its tools; `id` is what plans and records call it."""

    id: str  # "openmpi-4.1.4", with the origin or a number after it where two would be equal
    family: str  # name of its file in `families/`: openmpi, mpich, intel
    library: str  # "Open MPI", as its makers write it
    version: str
    origin: str  # "Debian" (any distribution's name), "module", "PATH" or "leadline"
    prefix: Path
    compiler: Path | None  # C wrapper; None where there is none: programs cannot be built for it
    cxx_compiler: Path | None  # C++ wrapper, where there is one
    launcher: Path | None  # mpirun or mpiexec; None where there is none: only a batch system can start it
    include: tuple[str, ...] = ()  # directories of mpi.h
    link: tuple[str, ...] = ()  # what the linker needs: directories, run-time paths, libraries
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)  # always set to use it
    has_shmem: bool = False  # OpenSHMEM's header and library are there
    shmem_link: tuple[str, ...] = ()

    @property
    def major(self) -> int:
        """First number of the version, 0 where it has none."""
        head = self.version.split(".")[0]
        return int(head) if head.isdigit() else 0
