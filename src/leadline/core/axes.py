"""The axes of a launch: what points must have in common to share one, in the order in which it is shown.

The columns of records, the keys that tell points apart, what a launch's provenance is filed under and the
columns of tables derive from AXES.
"""

from typing import Any, NamedTuple

import polars as pl


class Axis(NamedTuple):
    """An axis: the type of its column and what it says; `later`: null in the first records."""

    type: Any
    says: str
    later: bool = False


AXES: dict[str, Axis] = {
    "mpi": Axis(pl.String, "identity of the MPI, e.g. openmpi-4.1.4; name of the machine where simulated"),
    "stack": Axis(
        pl.String, "transports (where simulated: network) asked for, in the plan's words; default: any"
    ),
    "protocol": Axis(pl.String, "default, eager or rendezvous: what was forced"),
    "placement": Axis(pl.String, "where the ranks were put: core-group, sockets, nodes, or default"),
    "ranks": Axis(pl.Int64, "number of ranks of the launch"),
    "mapping": Axis(pl.String, "which rank sat where on a described machine; null on real ones", True),
    "partition": Axis(pl.Int64, "ranks of the part of a described machine; null on real ones", True),
    "collectives": Axis(
        pl.String,
        "the library's algorithm that was forced, or tuned: settings from results; null: its own choice",
        True,
    ),
    "progress": Axis(pl.String, "on or off: asynchronous progress asked for; null: as it is", True),
}
