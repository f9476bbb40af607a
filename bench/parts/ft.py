"""How long does NAS FT take here beside FFTW's own MPI transform, both verified, on two ranks?

The whole benchmark: initial state, one transform there, and for each iteration an evolution, one back and
a checksum. Launches of the two take turns (`native/bench/ft_mpi.c` is the other one), each gives the
shortest of its repetitions, and a round their ratio; the interval is that of the median over rounds.
FFTW's MPI library is built for one MPI, Debian's for Open MPI, so only that one is asked. The NAS
Parallel Benchmarks and MKL are not on this machine, and no figure of theirs is given.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from found import Found, at_most
from leadline.errors import LeadlineError
from leadline.mpi.family import Start, family
from leadline.mpi.launcher import starter
from leadline.mpi.library import Mpi
from leadline.predict.ft import CLASSES
from leadline.statistics import median_interval
from native import launch, mpis, program

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "7"))
REPETITIONS = {"A": 3, "B": 2}  # of the whole benchmark in a launch; the first one warms memory and plans
TIME = {"A": 0.8, "B": 3.0}  # s, of ours, in which there are at least as many; more than these do not count
OTHER = "leadline-ft-mpi"
LAST = {  # the published checksum of the last iteration
    "A": (509.1487099959, 510.7917842803),
    "B": (512.4146770029, 511.5744692211),
}
FUSED: dict[str, int | str] = {"pieces": "fused", "by": "store", "kernel": "vectors"}
WAYS: dict[str, tuple[dict[str, int | str], float]] = {  # the point, and what its ratio should not exceed
    "exchange": ({"pieces": "exchange", "by": "messages"}, 1.0),
    "fused": (FUSED, 0.50),
    "fused, result only summed up": (FUSED | {"result": "summed"}, 0.50),
}
GOAL = {name: "; the goal is 0.40" for name, (_, limit) in WAYS.items() if limit == 0.50}
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
    try:
        program(mpi, OTHER)
    except LeadlineError as problem:
        raise LeadlineError("FFTW's MPI library is not here: install libfftw3-mpi-dev") from problem
    for name in os.environ.get("BENCH_CLASSES", "AB"):
        yield from _compared(mpi, name)


def _compared(mpi: Mpi, name: str) -> Iterator[Found]:
    """The ways of one class, each over FFTW's time of the same round."""
    times: dict[str, list[float]] = {way: [] for way in (OTHER, *WAYS)}
    takes: dict[str, Callable[[], float]] = {OTHER: lambda: _other(mpi, name)}
    for way in WAYS:
        takes[way] = lambda way=way: _ours(mpi, name, way)  # type: ignore[misc]
    for number in range(ROUNDS):
        order = list(takes) if number % 2 == 0 else list(reversed(takes))
        for way in order:
            times[way].append(takes[way]())
    for way, (_, limit) in WAYS.items():
        ratios = [ours / theirs for ours, theirs in zip(times[way], times[OTHER], strict=True)]
        yield Found(
            f"NAS FT class {name}, {way} over FFTW's MPI transform, {mpi.id}",
            median(ratios),
            "1",
            median_interval(ratios),
            f"at most {limit:g}{GOAL.get(way, '')}",
            at_most(limit),
            f"{ROUNDS} rounds; {median(times[way]):.2f} s against {median(times[OTHER]):.2f} s",
        )


def _ours(mpi: Mpi, name: str, way: str) -> float:
    """The shortest time of a launch of ours, s; LeadlineError where a checksum was wrong."""
    point = COMMON | {"class": name} | WAYS[way][0]
    question = {"id": 0, "benchmark": "ft", "point": point, "tolerance": 0.001, "time": TIME[name]}
    for event in launch(mpi, "leadline-bench", {"points": [question]}):
        if event["event"] == "record" and event["metric"] == "time":
            return float(min(event["samples"][: REPETITIONS[name]]))
        if event["event"] in ("skip", "invalid"):
            raise LeadlineError(f"class {name}, {way}: {event['reason']}")
    raise LeadlineError(f"class {name}, {way}: no time was measured")


def _other(mpi: Mpi, name: str) -> float:
    """The shortest time of a launch of FFTW's, s; LeadlineError where it failed or a checksum was wrong."""
    problem, last = CLASSES[name], LAST[name]
    env = family(mpi).environment(mpi)
    words = [problem.nx, problem.ny, problem.nz, problem.iterations, REPETITIONS[name], *last]
    command = [*starter(mpi)(mpi, Start(2, env=env)), str(Path(program(mpi, OTHER)))]
    ended = subprocess.run(
        [*command, *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | dict(env),
        check=False,
    )
    lines = [line.split() for line in ended.stdout.splitlines() if line.endswith(("verified", "wrong"))]
    if ended.returncode != 0 or not lines or any(line[1] == "wrong" for line in lines):
        raise LeadlineError(f"{OTHER} failed: {(ended.stderr or ended.stdout).strip()[-300:]}")
    return min(float(line[0]) for line in lines)
