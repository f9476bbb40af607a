"""How ranks are started: by the library's own launcher, or by the batch system whose allocation this is.

A batch system is a file in `launchers/` that holds `LAUNCHER`, an instance of a subclass of `Launcher`. Its
command line answers the same request as `Family.launch`.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Protocol

from leadline.core.errors import UsageError, suggest
from leadline.core.plugins import Plugins
from leadline.mpi.family import Start, Unsupported, family
from leadline.mpi.library import Mpi

AUTO, OWN = "auto", "mpirun"  # choose; the library's own


class Starter(Protocol):
    """The signature of `Family.launch` and `Launcher.launch`."""

    def __call__(self, mpi: Mpi, start: Start) -> list[str]:
        """The command before the program."""


class Launcher(ABC):
    """A batch system's way of starting ranks."""

    name: str

    @abstractmethod
    def inside(self, environ: Mapping[str, str]) -> bool:
        """Whether this process runs inside an allocation of the system, with its command at hand."""

    @abstractmethod
    def obstacle(self, mpi: Mpi) -> str | None:
        """Why the system cannot start programs of `mpi`; None when it can."""

    @abstractmethod
    def launch(self, mpi: Mpi, start: Start) -> list[str]:
        """The command before the program; as `Family.launch`, but the agent is not needed."""

    def node_cores(self, environ: Mapping[str, str]) -> int | None:
        """Cores of a whole node of the allocation, allocated or not; None where the system does not tell."""
        return None

    def binds_nothing(self, environ: Mapping[str, str]) -> str | None:
        """What in the site's configuration keeps the system from binding ranks to cores; None: nothing."""
        return None

    def ended(self, environ: Mapping[str, str], said: str = "", patience: float = 0.0) -> str | None:
        """Why the allocation is over, such as its time limit; None while it lasts, or where that is unknown.

        `said` is what a lost launch printed. Waits up to `patience` s for a system that does not answer.
        """
        return None

    def nodes(self, environ: Mapping[str, str]) -> list[int]:
        """The processors allocated on each node; [] where the system does not tell."""
        return []

    def single(self) -> list[str]:
        """The command before a program without MPI that is to run once, on any node of the allocation."""
        raise NotImplementedError

    def elsewhere(self, environ: Mapping[str, str], host: str = "") -> list[str]:
        """The command before a program without MPI that is to see all of a node of the allocation.

        That is `host`, or the first one. [] where this process is on it already, or the system does not tell.
        """
        return []

    def outage(self, said: str) -> bool:
        """Whether a start that printed this failed since the system did not answer, which passes."""
        return False


@cache
def launchers() -> dict[str, Launcher]:
    """Every batch system by name."""
    found = [module.LAUNCHER for module in Plugins("leadline.mpi.launchers", "unknown launcher {}").all()]
    return {each.name: each for each in found}


def choose(mpi: Mpi, name: str = AUTO, environ: Mapping[str, str] | None = None) -> Launcher | None:
    """The batch system that starts ranks of `mpi`; None for the library's own launcher.

    Raises UsageError for an unknown name, Unsupported when the named one cannot be used here.
    """
    environ = os.environ if environ is None else environ
    if name == OWN:
        return None
    if name == AUTO:
        fit = (each for each in launchers().values() if each.inside(environ) and not each.obstacle(mpi))
        return next(fit, None)
    if name not in launchers():
        raise UsageError(f"unknown launcher '{name}'{suggest(name, [AUTO, OWN, *launchers()])}")
    chosen = launchers()[name]
    if not chosen.inside(environ):
        raise Unsupported(f"{name} starts ranks only inside an allocation, and this is none")
    obstacle = chosen.obstacle(mpi)
    if obstacle:
        raise Unsupported(obstacle)
    return chosen


def allocation(environ: Mapping[str, str] | None = None) -> Launcher | None:
    """The batch system in whose allocation this process runs, whatever starts the ranks; None outside."""
    environ = os.environ if environ is None else environ
    return next((each for each in launchers().values() if each.inside(environ)), None)


def starter(mpi: Mpi, name: str = AUTO) -> Starter:
    """What gives the command before the program (`Family.launch`), by the launcher that `choose` finds."""
    return (choose(mpi, name) or family(mpi)).launch
