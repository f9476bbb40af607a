"""Records of a library whose operations cost what a model says: consistent unless a test plants otherwise."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from leadline.core.collectives import BLOCKS, OPERATIONS, SIZED
from planted import QUIET, frame_of

RANKS = 4
SIZES = (8, 32, 1024, 2048, 4096, 8192, 1 << 20)
LATENCY, BANDWIDTH = 1e-6, 5e9  # s, B/s
# How many times the latency each costs, and how many times all the data goes over a wire: every sum on the
# right of a guideline is larger than what stands on its left.
COSTS = {"barrier": (1.0, 0.0), "bcast": (2.0, 1.0), "reduce": (2.0, 1.0), "allreduce": (2.6, 1.5)}
COSTS |= {"gather": (1.5, 0.8), "scatter": (1.5, 0.8), "allgather": (1.8, 0.9), "alltoall": (2.5, 1.2)}
COSTS |= {"reduce_scatter": (2.2, 1.1), "scan": (2.4, 1.3)}
ALGORITHMS = ("binomial", "ring")

Plant = Callable[[str, Mapping[str, Any]], float]  # by how much a point is slower than the model says


def model(operation: str, values: Mapping[str, Any]) -> float:
    """What an operation takes, s: its own algorithm is half as slow again, a nonblocking form a tenth."""
    size = values.get("bytes", 0) * (RANKS if operation in BLOCKS else 1)
    latency, passes = COSTS[operation]
    time: float = latency * LATENCY + passes * size / BANDWIDTH
    time *= 1.5 if values["algorithm"] != "library" else 1.0
    time *= 1.1 if values["form"] == "nonblocking" else 1.0
    return time * (1.05 if values["variation"] == "equal" else 1.0)


def points() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every operation at every size; for the plain ones also the other forms that guidelines speak of."""
    plain = {"communicator": "world", "form": "blocking", "cadence": "back-to-back"}
    plain |= {"algorithm": "library", "variation": "none"}
    others: list[dict[str, Any]] = [{}, {"communicator": "dup"}, {"form": "nonblocking"}]
    others += [{"algorithm": name} for name in ALGORITHMS]
    for operation in OPERATIONS:
        varied = [{"variation": "equal"}] if operation in BLOCKS else []
        sizes: tuple[int | None, ...] = SIZES if operation in SIZED else (None,)
        for size, other in product(sizes, [*others, *varied]):
            values = {**plain, **other} | ({"bytes": size} if size is not None else {})
            if operation in ("reduce", "allreduce", "reduce_scatter", "scan"):
                values |= {"reduction": "sum", "type": "double"}
            if operation in ("bcast", "reduce", "gather", "scatter"):
                values |= {"root": 0}
            yield operation, values


def records(
    seed: int = 1,
    *,
    launches: int = 10,
    spread: float = 0.03,
    common: float = 0.05,
    plant: Plant = lambda operation, values: 1.0,
    cost: Callable[[str, Mapping[str, Any]], float] = model,
    **fields: Any,
) -> pl.DataFrame:
    """A run: launches differ by `common` for all points alike, and by `spread` for each of its own."""
    rng = np.random.default_rng(seed)
    shared = rng.lognormal(0, common, launches)
    rows = []
    for operation, values in points():
        times = cost(operation, values) * plant(operation, values)
        for launch, each in enumerate(shared * rng.lognormal(0, spread, launches)):
            rows.append(
                {
                    **QUIET,
                    **values,
                    **{"benchmark": operation, "metric": "time", "ranks": RANKS, "launch": launch},
                    **{"samples": [float(times * each)], **fields},
                }
            )
    return frame_of(rows)
