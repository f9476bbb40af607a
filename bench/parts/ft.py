"""How long does NAS FT take here beside FFTW's own MPI transform and MKL's, all verified, on two ranks?

The whole benchmark: initial state, one transform there, and for each iteration an evolution, one back and
a checksum. Launches take turns (`native/bench/ft_other.c` is the others'), each gives the shortest of its
repetitions, and a round their ratio; the interval is that of the median over rounds. FFTW's MPI library is
built for one MPI, Debian's for Open MPI, so only that one is asked. MKL's cluster transform is asked where
MKLROOT says where it is. The NAS Parallel Benchmarks' own program is not asked.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median

from found import Found, at_most
from leadline.core.errors import LeadlineError
from leadline.core.statistics import median_interval
from leadline.mpi.family import Start, family
from leadline.mpi.launcher import starter
from leadline.mpi.library import Mpi
from leadline.predict.ft import CLASSES
from programs import launch, mpis, program

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "7"))
REPETITIONS = {"A": 3, "B": 2}  # of the whole benchmark in a launch; the first one warms memory and plans
TIME = {"A": 0.8, "B": 3.0}  # s, of ours, in which there are at least as many; more than these do not count
LAST = {  # the published checksum of the last iteration
    "A": (509.1487099959, 510.7917842803),
    "B": (512.4146770029, 511.5744692211),
}
FUSED: dict[str, int | str] = {"pieces": "fused", "by": "store", "kernel": "vectors"}
WAYS: dict[str, dict[str, int | str]] = {
    "exchange": {"pieces": "exchange", "by": "messages"},
    "fused": FUSED,
    "fused, result only summed up": FUSED | {"result": "summed"},
}


@dataclass(frozen=True)
class Other:
    """Another library: its program, how it is told, and what ratios of our time to its are wanted at most."""

    program: str
    told: str
    fused: float
    goal: str = ""

    def limit(self, way: str) -> tuple[float, str]:
        """What a way's time over this library's should not exceed, and more that is wanted of it."""
        return (1.0, "") if way == "exchange" else (self.fused, self.goal)


FFTW = Other("leadline-ft-fftw", "FFTW's MPI transform", 0.50, "; the goal is 0.40")
MKL = Other("leadline-ft-mkl", "MKL's cluster transform", 0.45)
COMMON: dict[str, int | str] = {
    "depth": 96,
    "padding": 0,
    "iterations": 0,
    "polls": 0,
    "kernel": "fftw",
    "result": "kept",
}


def measure() -> Iterator[Found]:
    """A row for each class and way."""
    asked = [mpi for mpi in mpis() if mpi.id.startswith("openmpi")]
    if not asked:
        raise LeadlineError("there is no Open MPI here, for which libfftw3-mpi-dev is made")
    mpi = asked[0]
    others = [FFTW] + [MKL] * ("MKLROOT" in os.environ)
    for other in others:
        try:
            program(mpi, other.program)
        except LeadlineError as problem:
            raise LeadlineError(
                f"{other.told} is not here: install libfftw3-mpi-dev for FFTW's; "
                "MKLROOT says where MKL is, or is unset"
            ) from problem
    for name in os.environ.get("BENCH_CLASSES", "AB"):
        yield from _compared(mpi, name, others)


def _compared(mpi: Mpi, name: str, others: Sequence[Other]) -> Iterator[Found]:
    """The ways of one class, each over each other library's time of the same round."""
    takes: dict[str, Callable[[], float]] = {}
    for other in others:
        takes[other.program] = partial(_other, mpi, name, other)
    for way in WAYS:
        takes[way] = partial(_ours, mpi, name, way)
    times: dict[str, list[float]] = {way: [] for way in takes}
    for number in range(ROUNDS):
        order = list(takes) if number % 2 == 0 else list(reversed(takes))
        for way in order:
            times[way].append(takes[way]())
    for other, way in product(others, WAYS):
        ratios = [ours / theirs for ours, theirs in zip(times[way], times[other.program], strict=True)]
        limit, goal = other.limit(way)
        yield Found(
            f"NAS FT class {name}, {way} over {other.told}, {mpi.id}",
            median(ratios),
            "1",
            median_interval(ratios),
            f"at most {limit:g}{goal}",
            at_most(limit),
            f"{ROUNDS} rounds; {median(times[way]):.2f} s against {median(times[other.program]):.2f} s",
        )


def _ours(mpi: Mpi, name: str, way: str) -> float:
    """The shortest time of a launch of ours, s; LeadlineError where a checksum was wrong."""
    point = COMMON | {"class": name} | WAYS[way]
    question = {"id": 0, "benchmark": "ft", "point": point, "tolerance": 0.001, "time": TIME[name]}
    for event in launch(mpi, "leadline-bench", {"points": [question]}):
        if event["event"] == "record" and event["metric"] == "time":
            return float(min(event["samples"][: REPETITIONS[name]]))
        if event["event"] in ("skip", "invalid"):
            raise LeadlineError(f"class {name}, {way}: {event['reason']}")
    raise LeadlineError(f"class {name}, {way}: no time was measured")


def _other(mpi: Mpi, name: str, other: Other) -> float:
    """The shortest time of another library's launch, s; LeadlineError where it failed or was wrong."""
    problem, last = CLASSES[name], LAST[name]
    env = family(mpi).environment(mpi)
    words = [problem.nx, problem.ny, problem.nz, problem.iterations, REPETITIONS[name], *last]
    command = [*starter(mpi)(mpi, Start(2, env=env)), str(Path(program(mpi, other.program)))]
    ended = subprocess.run(
        [*command, *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | dict(env),
        check=False,
    )
    lines = [line.split() for line in ended.stdout.splitlines() if line.endswith(("verified", "wrong"))]
    if ended.returncode != 0 or not lines or any(line[1] == "wrong" for line in lines):
        raise LeadlineError(f"{other.program} failed: {(ended.stderr or ended.stdout).strip()[-300:]}")
    return min(float(line[0]) for line in lines)
