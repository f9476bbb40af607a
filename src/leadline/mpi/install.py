"""Add an MPI from the Python package index, in an environment of its own.

The packages carry whole binaries (libraries, wrappers, launcher) and share file names, hence one environment
each.
"""

import shutil
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

from leadline.core.errors import LeadlineError, UsageError, suggest
from leadline.core.paths import mpi_dir
from leadline.mpi.discover import find
from leadline.mpi.library import Mpi

PACKAGES = {
    "openmpi": ("openmpi",),
    "mpich": ("mpich",),
    "impi": ("impi-rt", "impi-devel"),
}
ALIASES = {"intel": "impi", "intelmpi": "impi", "ompi": "openmpi"}


def install(name: str) -> Mpi:
    """Install `name` (openmpi, mpich or impi) and return it; at once when it is already there.

    Raises UsageError for an unknown name, LeadlineError when it cannot be fetched or does not work.
    """
    name = ALIASES.get(name, name)
    if name not in PACKAGES:
        raise UsageError(f"no package for an MPI called '{name}'{suggest(name, PACKAGES)}")
    prefix = mpi_dir() / name
    present = _found(prefix)
    if present:
        return present
    try:
        _fetch(name, prefix)
    except BaseException:  # also when interrupted: half an environment would be taken for a whole one
        shutil.rmtree(prefix, ignore_errors=True)
        raise
    installed = _found(prefix)
    if installed is None:
        raise LeadlineError(
            f"the package {PACKAGES[name][0]} in {prefix} holds no MPI that works on this machine"
        )
    return installed


def _fetch(name: str, prefix: Path) -> None:
    """Make the environment and let pip put the packages there."""
    own_pip = find_spec("pip") is not None
    try:
        venv.create(prefix, clear=True, with_pip=not own_pip)
    except (OSError, subprocess.SubprocessError) as problem:
        raise LeadlineError(f"cannot make an environment in {prefix}: {problem}") from problem
    # This interpreter's pip, where it has one, serves the other environment too: that saves seconds.
    pip = [sys.executable, "-m", "pip", "--python", str(prefix)]
    command = pip if own_pip else [str(prefix / "bin" / "python"), "-m", "pip"]
    command += ["install", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--only-binary=:all:", *PACKAGES[name]]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        errors = [line for line in ended.stderr.splitlines() if line.startswith("ERROR")]
        said = (errors or ended.stderr.splitlines() or ["pip said nothing"])[0].removeprefix("ERROR: ")
        raise LeadlineError(
            f"cannot install {' and '.join(PACKAGES[name])} from the Python package index ({said}); "
            "check the network, or install a package of the system, e.g. 'apt install libopenmpi-dev'"
        )


def _found(prefix: Path) -> Mpi | None:
    """The MPI under `prefix`, if it is there and can be built for and started."""
    whole = [
        mpi for mpi in find() if mpi.prefix.resolve() == prefix.resolve() and mpi.compiler and mpi.launcher
    ]
    return whole[0] if whole else None
