"""The parallel HDF5 that is built with an MPI, where there is one."""

import os
import re
import shutil
from pathlib import Path

from leadline.core.errors import UsageError
from leadline.core.paths import state_dir
from leadline.mpi.library import Mpi
from leadline.mpi.wrapper import Flags, ask, parse

SYSTEM = Path("/usr")  # what distributions package for their MPIs is found by pkg-config
HEADER = "H5public.h"
CHOSEN = "LEADLINE_HDF5"  # a variable: the folder of another HDF5, or CURRENT
CURRENT = "current"  # the newest that tools/hdf5.sh made for the MPI
MADE = "hdf5-{version}-{mpi}"  # its folder there


def parallel_hdf5(mpi: Mpi) -> Flags | None:
    """Include directories and linker words of it; None where there is none.

    A distribution's carries the MPI's name (`hdf5-openmpi`); elsewhere the compiler wrapper `h5pcc` stands
    beside the MPI's own. HDF5 of another MPI than the program's would not work. The variable LEADLINE_HDF5
    asks for another one; UsageError where it names none.
    """
    if asked := os.environ.get(CHOSEN):
        return chosen(mpi, asked)
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


def chosen(mpi: Mpi, asked: str) -> Flags | None:
    """The HDF5 in a folder; None where the folder's name ends with that of another MPI.

    `asked` may be CURRENT. Raises UsageError for a folder without HDF5.
    """
    if asked == CURRENT:
        made = state_dir().glob(MADE.format(version="*", mpi=mpi.id))
        place = max(made, key=_version, default=None)
        if place is None:
            return None
    else:
        place = Path(asked).absolute()
        if made_for(place) not in (None, mpi.id):
            return None
    if not (place / "include" / HEADER).is_file() or not (place / "lib" / "libhdf5.so").exists():
        raise UsageError(
            f"{CHOSEN} is '{CURRENT}' or a folder with include/{HEADER} and lib/libhdf5.so, but got {place}"
        )
    library = place / "lib"
    return Flags((str(place / "include"),), (f"-L{library}", f"-Wl,-rpath,{library}", "-lhdf5"))


def made_for(place: Path) -> str | None:
    """The MPI that a folder's name tells, as tools/hdf5.sh gives it; None where it tells none."""
    told = re.fullmatch(MADE.format(version=r"[0-9.]+", mpi="(.+)"), place.name)
    return told[1] if told else None


def _version(place: Path) -> tuple[int, ...]:
    """The version in a folder's name, such that the newest is the greatest."""
    return tuple(int(number) for number in re.findall(r"\d+", place.name.split("-")[1]))
