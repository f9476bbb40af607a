"""Does the harness measure what a loop written by hand in plain C measures?

Both take their turns in one process (`native/bench/trust.cpp`). A launch gives one number, the median over
its rounds of the harness's median over the plain loop's: what makes launches differ is the same for both and
cancels, so launches are few and short. The interval is that of the median over launches.
"""

import os
from collections.abc import Iterator
from statistics import median

from found import Found, within
from leadline.core.statistics import median_interval
from leadline.mpi.library import Mpi
from programs import launch, mpis

LAUNCHES = int(os.environ.get("BENCH_LAUNCHES", "20"))
LIMITS = {"tolerance": 0.02, "time": 0.005}  # of each point, as in plans/latency.toml
ROUNDS = 50


def measure() -> Iterator[Found]:
    """A row for each MPI of the machine."""
    for mpi in mpis():
        yield compare(mpi, "pingpong", {"bytes": 8, "buffers": "reused"}, "8 B ping-pong")


def compare(mpi: Mpi, benchmark: str, point: dict[str, int | str], said: str) -> Found:
    """The time that the harness finds at a point of a benchmark over that of the plain loop of its name."""
    question = {"id": 0, "benchmark": benchmark, "point": point} | LIMITS
    ratios, times = [], []
    for _ in range(LAUNCHES):
        rounds = launch(mpi, "leadline-trust", {"points": [question], "rounds": ROUNDS})
        ratios.append(median(each["harness"] / each["plain"] for each in rounds))
        times.append(median(each["plain"] for each in rounds))
    return Found(
        f"{said}, harness over plain C, {mpi.id}",
        median(ratios),
        "1",
        median_interval(ratios),
        "within 1 %",
        within(0.01),
        f"{LAUNCHES} launches; plain C {1e9 * median(times):.0f} ns",
    )
