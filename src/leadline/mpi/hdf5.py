"""The parallel HDF5 that is built with an MPI, where there is one."""

import os
import shutil
from pathlib import Path

from leadline.mpi.library import Mpi
from leadline.mpi.wrapper import Flags, ask, parse

SYSTEM = Path("/usr")  # what distributions package for their MPIs is found by pkg-config
HEADER = "H5public.h"


def parallel_hdf5(mpi: Mpi) -> Flags | None:
    """Include directories and linker words of it; None where there is none.

    A distribution's carries the MPI's name (`hdf5-openmpi`); elsewhere the compiler wrapper `h5pcc` stands
    beside the MPI's own. HDF5 of another MPI than the program's would not work.
    """
    environ = {**os.environ, **mpi.environment}
    if mpi.prefix == SYSTEM:
        tool = shutil.which("pkg-config")
        said = ask([tool, "--cflags", "--libs", f"hdf5-{mpi.family}"], environ) if tool else ""
    else:
        wrapper = mpi.prefix / "bin" / "h5pcc"
        said = ask([str(wrapper), "-show"], environ).partition(" ")[2] if wrapper.is_file() else ""
    found = parse(said.split())
    if not any((Path(place) / HEADER).is_file() for place in found.include):
        return None
    own = tuple(place for place in found.include if place not in mpi.include)
    # What the library itself needs it says by itself, since it is a shared one.
    return Flags(own, tuple(word for word in found.link if word.startswith(("-L", "-Wl,", "-lhdf5"))))
