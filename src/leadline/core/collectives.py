"""Collective operations by MPI's names, as plans, libraries and results speak of them."""

from collections.abc import Mapping
from typing import Any

SIZED = (
    *("bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall"),
    *("reduce_scatter", "scan"),
)
OPERATIONS = ("barrier", *SIZED)
# Their `bytes` are those of one rank's block; those of the others are the whole message.
BLOCKS = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter")
VARYING = {each: f"{each}v" for each in ("gather", "scatter", "allgather", "alltoall")}

TUNED = "tuned"  # the word for launches with settings that were chosen from results


def called(benchmark: str, values: Mapping[str, object]) -> str | None:
    """The operation of a point as a library's settings name it: "allgatherv", "reduce_scatter_block".

    None where no algorithm of the library can be chosen: another benchmark, a form that does not block, an
    algorithm of Leadline's own.
    """
    if benchmark not in OPERATIONS or values.get("form", "blocking") != "blocking":
        return None
    if values.get("algorithm", "library") != "library":
        return None
    plain = values.get("variation", "none") == "none"
    if benchmark == "reduce_scatter":
        return "reduce_scatter_block" if plain else benchmark
    return benchmark if plain else VARYING.get(benchmark)


def data(operation: str, ranks: int, size: int) -> int:
    """All the data of an operation, B: `size` of each rank's block, or of the message."""
    block = operation.removesuffix("_block").removesuffix("v") in BLOCKS
    return size * ranks if block else size


def members(communicator: Any, ranks: int | None) -> int | None:
    """How many ranks a communicator has; None where its name does not tell."""
    if ranks is None:
        return None
    return {None: ranks, "world": ranks, "dup": ranks, "world-1": ranks - 1}.get(communicator)
