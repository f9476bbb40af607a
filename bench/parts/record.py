"""What recording costs: a call that does next to nothing, HPCC and LAMMPS, with it and without, in turns."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import replayed
from found import Found, at_most
from leadline.core.errors import LeadlineError
from leadline.core.statistics import median_interval, ratio_interval
from leadline.mpi.family import Start, family
from leadline.mpi.launcher import starter
from leadline.mpi.library import Mpi
from leadline.record import session
from programs import mpis

TURNS = int(os.environ.get("BENCH_TURNS", "6"))
CALLS = 1_000_000
SOURCE = Path(__file__).parents[2] / "native" / "bench" / "calls.c"
# So long that starting counts for little.
PROGRAMS: Mapping[str, Callable[[Path], list[str] | None]] = {
    "HPCC": replayed.hpcc,
    "LAMMPS": lambda place: replayed.lammps(place, 1600),
}


def measure() -> Iterator[Found]:
    """A row a figure, for each MPI that programs can be built for."""
    for mpi in mpis():
        with TemporaryDirectory(prefix="leadline-bench-") as directory:
            yield _of_a_call(mpi, Path(directory))
    for name, given in PROGRAMS.items():
        with TemporaryDirectory(prefix="leadline-bench-") as directory:
            yield _of_program(name, given, Path(directory))


def _of_a_call(mpi: Mpi, place: Path) -> Found:
    """Seconds that recording adds to a call."""
    subprocess.run([str(mpi.compiler), "-O2", str(SOURCE), "-o", str(place / "calls")], check=True)
    env = family(mpi).environment(mpi)
    command = [*starter(mpi)(mpi, Start(2, env=env)), str(place / "calls"), str(CALLS)]

    def each(added: Mapping[str, str]) -> float:
        whole = {**os.environ, **env, **added}
        done = subprocess.run(command, env=whole, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LeadlineError(f"calls on {mpi.id} ended with {done.returncode}: {done.stderr.strip()}")
        return float(done.stdout)

    without, recorded = _in_turns(each, mpi, command, place)
    added = [one - other for one, other in zip(recorded, without, strict=True)]
    interval = median_interval(added) if len(added) > 1 else None
    what = f"recording a call, {mpi.id}, 2 ranks"
    return Found(what, median(added), "s", interval, "150 ns", at_most(150e-9))


def _of_program(name: str, given: Callable[[Path], list[str] | None], place: Path) -> Found:
    """The wall time of a program with recording over that without."""
    what = f"time of {name}, recorded, over that without"
    mpi = next((each for each in mpis() if each.family == "openmpi"), None)
    words = given(place)
    if words is None or mpi is None:
        return Found(what, float("nan"), "1", None, "1.01", lambda _: False, "not installed")
    env = family(mpi).environment(mpi)
    command = [*starter(mpi)(mpi, Start(2, env=env)), *words]

    def whole(added: Mapping[str, str]) -> float:
        begin = time.perf_counter()
        every = {**os.environ, **env, **added}
        done = subprocess.run(command, env=every, cwd=place, capture_output=True, check=False)
        if done.returncode:
            raise LeadlineError(f"{name} ended with {done.returncode}")
        return time.perf_counter() - begin

    without, recorded = _in_turns(whole, mpi, command, place)
    ratio = ratio_interval(without, recorded)
    return Found(
        what, ratio.value, "1", ratio.interval, "1.01", at_most(1.01), f"{median(without):.3g} s without"
    )


def _in_turns(
    run: Callable[[Mapping[str, str]], float], mpi: Mpi, command: Sequence[str], place: Path
) -> tuple[list[float], list[float]]:
    """What a command takes without the recorder and with it, turn by turn."""
    library = session.prepare(mpi, command)
    without, recorded = [], []
    for _ in range(TURNS):
        without.append(run({}))
        with TemporaryDirectory(prefix="record-", dir=place) as spills:
            recorded.append(run(session.environment(library, Path(spills))))
    return without, recorded
