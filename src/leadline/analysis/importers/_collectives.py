"""Collectives of other suites as points of ours: the names, and the coordinates that a suite leaves unsaid.

The cadence says how the suite's loop calls the operation; it is a coordinate like others, so a point measured
by another definition is another point.
"""

from collections.abc import Mapping

_PLAIN = {"communicator": "world", "form": "blocking", "algorithm": "library"}
_ROOT: dict[str, int | str] = {"root": 0}
_BLOCKS: dict[str, int | str] = {"variation": "none"}
_OPERATIONS: Mapping[str, Mapping[str, int | str]] = {
    "barrier": {},
    "bcast": _ROOT,
    "broadcast": _ROOT,
    "reduce": {"root": 0, "reduction": "sum"},
    "allreduce": {"reduction": "sum"},
    "gather": _ROOT | _BLOCKS,
    "scatter": _ROOT | _BLOCKS,
    "allgather": _BLOCKS,
    "alltoall": _BLOCKS,
}
_NAMES = {"broadcast": "bcast"}
# Types of the suites' reductions under the names that points use.
TYPES = {"mpi_int": "int32", "mpi_long": "int64", "mpi_float": "float", "mpi_double": "double"}


def meaning(name: str, cadence: str, number_type: str) -> tuple[str, dict[str, int | str]] | None:
    """Our benchmark and coordinates for a suite's operation; None where none of ours asks the same.

    `number_type` is that of what is reduced, in the suite's word.
    """
    operation = name.lower()
    if operation not in _OPERATIONS:
        return None
    found: dict[str, int | str] = {**_PLAIN, **_OPERATIONS[operation], "cadence": cadence}
    if "reduction" in found:
        found["type"] = TYPES.get(number_type, number_type)
    return _NAMES.get(operation, operation), found
