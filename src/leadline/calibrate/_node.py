"""What a run says of a node beside its messages: matching, the way between sockets, sums, and noise."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.estimates import launch_estimates
from leadline.analysis.series import draw_jointly, pingpong, series
from leadline.calibrate._values import Value, from_launches
from leadline.core.record import MEASURED

Array = NDArray[np.float64]

SOLVER_BYTES, SOLVER_FLOPS = 16, 6  # of an update: read and written once; five additions and a product
PLAIN = {"communicator": "world", "form": "blocking", "cadence": "back-to-back", "algorithm": "library"}
KNOWN = 0.05  # of a collective's time: what it takes beside messages is known to no less
SMALL = 1024  # B; up to here two sockets differ by their distance, beyond also by their copies


def match(records: pl.DataFrame) -> Value | None:
    """Time for each queue entry that a match passes by; None where matching was not measured.

    Of each launch the slope of the latency by depth, with relative residuals: long queues leave the caches
    and would else decide alone. From receives that wait, where there are any: the simulator charges a search
    that finds its message, and not the vain one through unexpected messages before a receive is posted.
    """
    wanted = records.filter((pl.col("benchmark") == "matching") & (pl.col("metric") == "latency"))
    if wanted.is_empty():
        return None
    posted = wanted.filter(pl.col("queue") == "posted")
    wanted = posted if posted.height else wanted
    slopes = []
    for part in launch_estimates(wanted).partition_by("run", "launch", "queue", "bytes"):
        depths, times = part.get_column("depth").to_numpy(), part.get_column("median").to_numpy()
        if np.unique(depths).size > 1 and (times > 0).all():
            matrix = np.stack([1 / times, depths / times], axis=1)
            slopes.append(float(np.linalg.lstsq(matrix, np.ones_like(times), rcond=None)[0][1]))
    return from_launches(slopes, "s", ("matching",)) if slopes else None


def socket_latency(near: pl.DataFrame, far: pl.DataFrame) -> Value | None:
    """What small messages take longer between sockets; None where they were not measured there."""
    parts = [next(iter(pingpong(each)), None) for each in (near, far)]
    if parts[0] is None or parts[1] is None:
        return None
    both = [parts[0], parts[1]]
    common = np.intersect1d(both[0].sizes, both[1].sizes)
    common = common[common <= SMALL]
    if not common.size:
        return None
    places = [np.searchsorted(part.sizes, common) for part in both]
    typical = [part.typical[place] for part, place in zip(both, places, strict=True)]
    drawn = [draw[:, place] for draw, place in zip(draw_jointly(both), places, strict=True)]
    value = max(0.0, float(np.median(typical[1] - typical[0])))
    draws = np.maximum(0.0, np.median(drawn[1] - drawn[0], axis=1))
    return Value.drawn(value, draws, min(part.launches for part in both), "s", ("pingpong",))


def collective_overhead(near: pl.DataFrame) -> Value | None:
    """What a core takes to begin a collective, beside its messages; None where it is small or not measured.

    An allgather of two ranks is one exchange, by any library's choice: what it takes longer than messages
    that cross (`bibandwidth` with a window of 1) of as many bytes.
    """
    gathers = [each for each in series(near, "allgather", "time") if each.keys.items() >= PLAIN.items()]
    crossing = [each for each in series(near, "bibandwidth", "bandwidth") if each.keys.get("window") == 1]
    if not gathers or not crossing:
        return None
    exchange = replace(crossing[0], medians=2 * crossing[0].sizes / crossing[0].medians)
    both = [gathers[0], exchange]
    common = np.intersect1d(both[0].sizes, both[1].sizes)
    common = common[common <= SMALL]
    if not common.size:
        return None
    places = [np.searchsorted(part.sizes, common) for part in both]
    whole, messages = (part.typical[place] for part, place in zip(both, places, strict=True))
    drawn = [draw[:, place] for draw, place in zip(draw_jointly(both), places, strict=True)]
    value = float(np.median(whole - messages))
    if value < KNOWN * float(np.median(whole)):
        return None
    draws = np.maximum(0.0, np.median(drawn[0] - drawn[1], axis=1))
    return Value.drawn(value, draws, min(part.launches for part in both), "s", ("allgather", "bibandwidth"))


def rate_of_cores(records: pl.DataFrame, benchmark: str) -> Value | None:
    """Rate at which a core combines operands (`combine`) or copies (`copy`), B/s; None where not measured.

    Of each launch the median over sizes, on the most ranks: in a collective all do so at once.
    """
    wanted = records.filter((pl.col("benchmark") == benchmark) & (pl.col("metric") == "time"))
    launches = launch_estimates(wanted).filter(pl.col("median") > 0) if wanted.height else wanted
    if launches.is_empty():
        return None
    most = launches.filter(pl.col("ranks") == pl.col("ranks").max())
    rates = (
        most.with_columns(rate=pl.col("bytes") / pl.col("median"))
        .group_by("launch")
        .agg(pl.col("rate").median())
    )
    return from_launches(rates.get_column("rate").to_list(), "B/s", (benchmark,))


def noise(records: pl.DataFrame) -> dict[str, Value] | None:
    """Mean interval between detours of a core, and their mean length; None where not measured, or none.

    Detours that come at random (exponential intervals, mean t) and last as they like (exponential lengths,
    mean d) take the share l = d / t. A sample of N ranks and W seconds has N W / t of them, and the longest
    stays below x with probability exp(-(N W / t) exp(-x / d)): from l and the median x of the longest follow
    d and t. Of the two solutions the one with more and shorter detours is taken, for a sample without any is
    rare (J. Lambert's W gives it).
    """
    wanted = records.filter((pl.col("benchmark") == "noise") & (pl.col("source") == MEASURED))
    found = []
    for part in wanted.partition_by("launch", "ranks"):
        samples = {row["metric"]: _kept(row) for row in part.iter_rows(named=True)}
        row = part.row(0, named=True)
        if {"lost", "longest"} <= samples.keys() and row["duration"] and samples["lost"].size:
            # Only the harness's alignment lies between two samples.
            length = row["duration"] / len(row["samples"])
            lost, longest = float(samples["lost"].mean()), float(np.median(samples["longest"]))
            if lost > 0 and longest > 0:
                found.append(_detours(lost, longest, row["ranks"] * length))
    if not found:
        return None
    intervals, lengths = zip(*found, strict=True)
    return {
        "interval": from_launches(intervals, "s", ("noise",)),
        "detour": from_launches(lengths, "s", ("noise",)),
    }


def computing(records: pl.DataFrame, cores: int) -> dict[str, Value]:
    """What the node's memory moves, B/s, and a core computes, flop/s; nothing where jacobi was not measured.

    The solver's bound is a copy by all ranks at once, 16 B a point, and the memory's where every core has a
    rank; fewer do not tell, since memory is full before all cores are. Its fastest point on one rank, six
    operations an update, is what a core computes at least.
    """
    of_solver = (pl.col("benchmark") == "jacobi") & (pl.col("source") == MEASURED)
    launches = launch_estimates(records.filter(of_solver & pl.col("metric").is_in(["bound", "rate"])))
    found: dict[str, Value] = {}
    bounds = launches.filter((pl.col("metric") == "bound") & (pl.col("ranks") >= cores))
    if bounds.height:
        largest = bounds.filter(pl.col("edge") == pl.col("edge").max())
        copied = (largest.get_column("median") * SOLVER_BYTES).to_list()
        found["memory"] = from_launches(copied, "B/s", ("jacobi",))
    rates = launches.filter((pl.col("metric") == "rate") & (pl.col("ranks") == 1))
    if rates.height:
        by = [name for name in ("edge", "kernel", "depth", "halo", "scaling") if name in rates.columns]
        points = rates.partition_by(by)
        fastest = max(points, key=lambda point: float(np.median(point.get_column("median").to_numpy())))
        operations = (fastest.get_column("median") * SOLVER_FLOPS).to_list()
        found["flops"] = from_launches(operations, "flop/s", ("jacobi",))
    return found


def _kept(row: dict[str, object]) -> Array:
    """The samples of a record without the warm-up."""
    samples, warmup = row["samples"], row["warmup"] or 0
    assert isinstance(samples, Iterable) and isinstance(warmup, int)
    return np.array(list(samples)[warmup:], dtype=np.float64)


def _detours(lost: float, longest: float, watched: float) -> tuple[float, float]:
    """Interval and length of detours: from the share lost, the median longest, the time of all ranks."""
    from scipy.special import lambertw  # noqa: PLC0415  (slow to import)

    # v exp(-v) = x ln 2 / (N W l) with v = x / d; beyond 1/e the longest is too long for the share, and
    # detours of its own length come nearest.
    right = longest * np.log(2) / (watched * lost)
    v = -float(lambertw(-right, -1).real) if right < np.exp(-1) else 1.0
    detour = longest / v
    return detour / lost, detour
