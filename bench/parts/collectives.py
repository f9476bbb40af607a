"""Does a collective of the harness cost what a bare loop of it in plain C costs, back to back?

As `trust` does it for the ping-pong: both take their turns in one process (`native/bench/trust.cpp`), each
launch gives the median over its rounds of the harness's median over the loop's.
"""

from collections.abc import Iterator

from found import Found
from parts import trust
from programs import mpis

CALL: dict[str, int | str] = {
    "communicator": "world",
    "form": "blocking",
    "cadence": "back-to-back",
    "algorithm": "library",
}
POINTS: dict[str, tuple[str, dict[str, int | str]]] = {
    "barrier": ("barrier", CALL),
    "8 B bcast": ("bcast", CALL | {"bytes": 8, "root": 0}),
    "8 B allreduce": ("allreduce", CALL | {"bytes": 8, "reduction": "sum", "type": "double"}),
}


def measure() -> Iterator[Found]:
    """A row for each MPI of the machine and each operation."""
    for mpi in mpis():
        for said, (benchmark, point) in POINTS.items():
            yield trust.compare(mpi, benchmark, point, said)
