"""MPIs that are only files: scripts that print what real wrappers and launchers print, and an `mpi.h`."""

from pathlib import Path

from leadline.mpi.library import Mpi

HEADERS = {
    "openmpi": (
        "#define OMPI_MAJOR_VERSION {0}\n#define OMPI_MINOR_VERSION {1}\n#define OMPI_RELEASE_VERSION {2}\n"
    ),
    "mpich": '#define MPICH_VERSION "{0}.{1}.{2}"\n',
    # Intel's header states also the MPICH that it was derived from.
    "intel": '#define I_MPI_VERSION "{0}.{1}.{2}"\n#define MPICH_VERSION "3.4a2"\n',
}
LAUNCHERS = {
    "openmpi": "mpirun (Open MPI) {0}.{1}.{2}",
    "mpich": "HYDRA build details:\n    Version:                                 {0}.{1}.{2}",
    "intel": "Intel(R) MPI Library for Linux* OS, Version {0}.{1}.{2} Build 20260626 (id: b44796a)",
}


def script(path: Path, text: str) -> Path:
    """An executable at `path` that prints `text`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{text}\nEND\n")
    path.chmod(0o755)
    return path


def library(prefix: Path, family: str, version: str, include: str = "include") -> Path:
    """Header and library of an MPI under `prefix`; returns the directory of the header."""
    header = prefix / include / "mpi.h"
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(HEADERS[family].format(*version.split(".")))
    (prefix / "lib").mkdir(exist_ok=True)
    (prefix / "lib" / "libmpi.so").touch()
    return header.parent


def wrapper(prefix: Path, include: Path, name: str = "mpicc") -> Path:
    """A compiler wrapper that answers `-show`."""
    return script(prefix / "bin" / name, f"gcc -I{include} -L{prefix}/lib -lmpi")


def launcher(prefix: Path, family: str, version: str, name: str = "mpirun") -> Path:
    """A launcher that answers `--version`."""
    return script(prefix / "bin" / name, LAUNCHERS[family].format(*version.split(".")))


def plant(prefix: Path, family: str, version: str, suffix: str = "") -> Path:
    """A whole MPI: header, library, wrapper and launcher, the programs' names ending with `suffix`."""
    include = library(prefix, family, version, f"include{suffix}")
    wrapper(prefix, include, f"mpicc{suffix}")
    launcher(prefix, family, version, f"mpirun{suffix}")
    return prefix


def an_mpi(family: str = "openmpi", version: str = "4.1.4", prefix: str = "/opt/some-mpi") -> Mpi:
    """An MPI as it is told about, without any file."""
    place = Path(prefix)
    return Mpi(
        id=f"{family}-{version}",
        family=family,
        library=family,
        version=version,
        origin="PATH",
        prefix=place,
        compiler=place / "bin" / "mpicc",
        cxx_compiler=place / "bin" / "mpicxx",
        launcher=place / "bin" / "mpirun",
        include=(f"{prefix}/include",),
        link=("-lmpi",),
    )
