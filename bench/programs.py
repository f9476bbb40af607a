"""Launches of the programs of `native/bench`, on two ranks as a plan's points are by default."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from leadline.core.errors import LeadlineError
from leadline.mpi.discover import find
from leadline.mpi.family import Start, family
from leadline.mpi.launcher import starter
from leadline.mpi.library import Mpi
from leadline.native.build import build
from leadline.native.launch import Event, Launch

OPTION = "-DLEADLINE_BENCH=ON"


def mpis() -> list[Mpi]:
    """Every MPI of the machine that programs can be built for and started with."""
    return [mpi for mpi in find() if mpi.compiler and mpi.launcher]


def program(mpi: Mpi, name: str) -> Path:
    """Program `name` for `mpi`, built if need be."""
    return build(mpi, name, OPTION)


def launch(mpi: Mpi, name: str, job: Mapping[str, Any]) -> list[Event]:
    """What one launch of program `name` answers, without its last event; LeadlineError where it is lost."""
    env = family(mpi).environment(mpi)
    command = [*starter(mpi)(mpi, Start(2, env=env)), str(program(mpi, name))]
    with TemporaryDirectory(prefix="leadline-bench-") as directory:
        events = list(Launch(command, env, job, Path(directory)).events())
    if events[-1]["event"] != "done":
        raise LeadlineError(f"{name} on {mpi.id}: {events[-1].get('reason')}")
    return events[:-1]
