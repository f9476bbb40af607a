"""Does the harness measure what a loop written by hand in plain C measures?

Both take their turns in one process (`native/bench/trust.cpp`). A launch gives one number, the median over
its rounds of the harness's median over the plain loop's: what makes launches differ is the same for both and
cancels, so launches are few and short. The interval is that of the median over launches.
"""

import os
from collections.abc import Iterator
from statistics import median

from found import Found, within
from leadline.mpi.library import Mpi
from leadline.statistics import median_interval
from native import launch, mpis

LAUNCHES = int(os.environ.get("BENCH_LAUNCHES", "20"))
JOB = {"rounds": 50, "tolerance": 0.02, "time": 0.005}  # of each point, as in plans/latency.toml


def measure() -> Iterator[Found]:
    """A row for each MPI of the machine."""
    for mpi in mpis():
        yield _compare(mpi)


def _compare(mpi: Mpi) -> Found:
    """The harness's 8 B latency over that of the plain loop."""
    ratios, latencies = [], []
    for _ in range(LAUNCHES):
        rounds = launch(mpi, "leadline-trust", JOB)
        ratios.append(median(each["harness"] / each["plain"] for each in rounds))
        latencies.append(median(each["plain"] for each in rounds))
    return Found(
        f"8 B ping-pong, harness over plain C, {mpi.id}",
        median(ratios),
        "1",
        median_interval(ratios),
        "within 1 %",
        within(0.01),
        f"{LAUNCHES} launches; plain C {1e9 * median(latencies):.0f} ns",
    )
