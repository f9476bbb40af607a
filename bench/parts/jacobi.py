"""How much of the memory's bandwidth do Jacobi's sweeps reach, and how far beyond a plain loop do they come?

Two ranks, 400 x 400 x 400 points each. A turn is a launch of the triple loop that one would write down
(`native/bench/stencil.c`, -O3 -march=native) and one of the application `jacobi`, with streaming stores, one
sweep at a time and several in one go through memory. What makes turns differ is the same for both and
cancels in their ratio. The bound is that of a single sweep: 16 B a point at the bandwidth of a copy by
streaming stores, measured after each sample on the same cores.
"""

import os
from collections.abc import Iterator, Mapping
from statistics import median

from found import Found, at_least
from leadline.core.statistics import median_interval
from leadline.mpi.library import Mpi
from leadline.native.launch import Event
from programs import launch, mpis

TURNS = int(os.environ.get("BENCH_TURNS", "8"))
EDGE = 400
DEPTH = int(os.environ.get("BENCH_DEPTH", "4"))  # sweeps in one go through memory
LIMITS = {"tolerance": 0.02, "time": 2.0}
SHARE, GAIN = 0.9, 2.5  # the targets


def measure() -> Iterator[Found]:
    """Two rows, on the machine's first MPI: halos are a thousandth of the time."""
    mpi = mpis()[0]
    plain: list[float] = []
    single: list[float] = []
    shares: list[float] = []
    blocked: list[float] = []
    for _ in range(TURNS):
        plain.append(median(each["rate"] for each in launch(mpi, "leadline-stencil", {})))
        found = sweeps(mpi)
        single.append(found[0]["rate"])
        shares.append(found[0]["share"])
        blocked.append(found[1]["rate"])
    note = f"{TURNS} turns; plain loop {_told(plain)}, single sweeps {_told(single)}, "
    note += f"{DEPTH} in one go {_told(blocked)}"
    yield Found(
        f"jacobi, two ranks, L = {EDGE}: share of the bandwidth's bound on single sweeps, {mpi.id}",
        median(shares),
        "1",
        median_interval(shares),
        f"at least {SHARE}",
        at_least(SHARE),
        note,
    )
    for what, rates, least in (("single sweeps", single, 1.0), (f"{DEPTH} sweeps in one go", blocked, GAIN)):
        ratios = [rate / loop for rate, loop in zip(rates, plain, strict=True)]
        yield Found(
            f"jacobi, two ranks, L = {EDGE}: {what} over a plain triple loop, {mpi.id}",
            median(ratios),
            "1",
            median_interval(ratios),
            f"at least {least:g}",
            at_least(least),
            f"{TURNS} turns",
        )


def sweeps(mpi: Mpi) -> list[Mapping[str, float]]:
    """One launch: medians of the metrics with one sweep at a time, and with DEPTH."""
    same = {"edge": EDGE, "scaling": "weak", "grid": "1d", "ends": "fixed", "kernel": "streaming"}
    points = [
        {"id": index, "benchmark": "jacobi", "point": {**same, "depth": depth, "halo": "blocking"}} | LIMITS
        for index, depth in enumerate((1, DEPTH))
    ]
    events = launch(mpi, "leadline-bench", {"points": points})
    return [medians(events, index) for index in range(len(points))]


def medians(events: list[Event], point: int) -> Mapping[str, float]:
    """The median of each metric of a point, without the warm-up."""
    records = [each for each in events if each["event"] == "record" and each["id"] == point]
    return {each["metric"]: median(each["samples"][each["warmup"] :]) for each in records}


def _told(rates: list[float]) -> str:
    """Points a second in the millions."""
    return f"{median(rates) / 1e6:.0f} MLUPs/s"
