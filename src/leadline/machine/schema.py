"""What a machine file may say: its tables, their keys, and how the value of each key is read.

The keys of `[topology]` are those of its kinds (`topologies/`). The tables beside it are those of
`parse_machine` in `native/machine/description.cpp`, key by key; their meanings stand in
`native/machine/description.hpp` and, for people, in `docs/machines.md`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from leadline.core.collectives import OPERATIONS
from leadline.core.errors import UsageError, written
from leadline.core.paths import collective_libraries
from leadline.core.units import parse_bytes, parse_flops, parse_rate, parse_time
from leadline.core.values import count, flag, text, word


@dataclass(frozen=True)
class Kind:
    """A kind of value: how it is read, its SI unit, and whether it is a number, which needs a source."""

    read: Callable[[object], Any]
    unit: str = ""
    number: bool = True


def _whole(value: object) -> int:
    """A whole number above nothing."""
    if (number := count(value)) < 1:
        raise UsageError(f"this is 1 or more, but got {written(value)}")
    return number


def _factor(value: object) -> float:
    """A plain number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise UsageError(f"this is a plain number, 0 or more, but got {written(value)}")
    return float(value)


def _share(value: object) -> float:
    """A part of something, 0 to 1."""
    if (share := _factor(value)) > 1:
        raise UsageError(f"this is a share, 0 to 1, but got {written(value)}")
    return share


def _shape(value: object) -> tuple[int, ...]:
    """The lengths of a grid's axes."""
    if not isinstance(value, list) or not value:
        raise UsageError(f"a shape is a list of lengths like [32, 32, 32], but got {written(value)}")
    return tuple(_whole(length) for length in value)


def _widths(value: object) -> tuple[float, ...]:
    """Capacities as multiples of the link rate, one for each level."""
    if not isinstance(value, list) or not value or not all(_factor(width) for width in value):
        raise UsageError(f"widths are a list of numbers above 0 like [1, 2], but got {written(value)}")
    return tuple(_factor(width) for width in value)


TIME = Kind(parse_time, "s")
RATE = Kind(parse_rate, "B/s")
FLOPS = Kind(parse_flops, "flop/s")
BYTES = Kind(parse_bytes, "B")
COUNT = Kind(_whole, "1")
FACTOR = Kind(_factor, "1")
SHARE = Kind(_share, "1")
SHAPE = Kind(_shape, "1")
WIDTHS = Kind(_widths, "1")
FLAG = Kind(flag, number=False)
WORD = Kind(text, number=False)


_PROGRESS = Kind(word(("engine", "calls")), number=False)
_OPERATION = Kind(word(OPERATIONS), number=False)
_FILE_SYSTEM = Kind(word(("lustre", "gpfs")), number=False)


@dataclass(frozen=True)
class TableSchema:
    """One table of a machine file, or one of several rows of the same name."""

    keys: Mapping[str, Kind]
    needed: tuple[str, ...] = ()
    rows: bool = False  # written [[name]], in an order that counts


_PROTOCOL = TableSchema(
    {
        "name": WORD,
        "up_to": BYTES,
        "send_overhead": TIME,
        "receive_overhead": TIME,
        "send_packet": TIME,
        "receive_packet": TIME,
        "send_copy": RATE,
        "receive_copy": RATE,
        "header": BYTES,
        "handshake": FLAG,
        "handshake_overhead": TIME,
        "one_way": FLAG,
        "crossing_latency": TIME,
        "adaptive": FLAG,
        "waits": FLAG,
    },
    needed=("name", "send_overhead", "receive_overhead"),
    rows=True,
)

# Tables that the native program reads as they are.
PARTS: dict[str, TableSchema] = {
    "links": TableSchema({"rate": RATE, "hop": TIME, "base": TIME}, needed=("rate", "hop", "base")),
    "packets": TableSchema({"payload": BYTES, "overhead": BYTES, "granule": BYTES}),
    "node": TableSchema(
        {
            "cores": COUNT,
            "sockets": COUNT,
            "threads": COUNT,
            "thread_gain": FACTOR,
            "ranks": COUNT,
            "injection": RATE,
            "reception": RATE,
            "local": RATE,
            "local_by_network": FLAG,
            "local_latency": TIME,
            "socket_latency": TIME,
            "message_gap": TIME,
            "loggops": FLAG,
            "match": TIME,
            "poll": TIME,
            "put_overhead": TIME,
            "flops": FLOPS,
            "memory": RATE,
            "rendezvous_credits": COUNT,
            "ahead": COUNT,  # the name of rendezvous_credits until version 0.2
            "contend": SHARE,
            "control_first": FLAG,
            "progress": _PROGRESS,
        },
        needed=("cores", "ranks"),
    ),
    "protocol": _PROTOCOL,
    "local_protocol": _PROTOCOL,
    "own_protocol": _PROTOCOL,
    "cold": TableSchema(
        {
            "walked": BYTES,
            "time": TIME,
            "overhead": TIME,
            "copy": RATE,
            "handshake_overhead": TIME,
            "handshake_copy": RATE,
        },
        needed=("walked", "time"),
        rows=True,
    ),
    "barrier_network": TableSchema({"latency": TIME, "overhead": TIME}, needed=("latency",)),
    "collective_network": TableSchema(
        {
            "rate": RATE,
            "latency": TIME,
            "nodes": COUNT,
            "overhead": TIME,
            "float_factor": FACTOR,
            "product_factor": FACTOR,
        },
        needed=("rate", "latency"),
    ),
    "coalesce": TableSchema({"up_to": BYTES, "wait": TIME}, needed=("up_to", "wait")),
    "noise": TableSchema({"interval": TIME, "detour": TIME}, needed=("interval", "detour")),
    "collective": TableSchema(
        {"operation": _OPERATION, "up_to": BYTES, "ranks_up_to": COUNT, "algorithm": WORD},
        needed=("operation", "algorithm"),
        rows=True,
    ),
}

# What the native program knows nothing of: read by `leadline.tune.storage`, whose `_model` says what each
# number
# means.
BESIDE: dict[str, TableSchema] = {
    "storage": TableSchema(
        {
            "file_system": _FILE_SYSTEM,
            "targets": COUNT,
            "target_rate": RATE,
            "share": FACTOR,
            "spread": FACTOR,
            "persistent": FACTOR,
            "block": BYTES,
            "unit": BYTES,
            "client_ranks": COUNT,
            "client_rate": RATE,
            "stream": RATE,
            "exchange": RATE,
            "dirty": BYTES,
            "sync": TIME,
            "call": TIME,
            "lock": TIME,
            "lock_queue": FACTOR,
            "open": TIME,
            "object": TIME,
            "stripes": COUNT,
            "stripe": BYTES,
            "aggregators": COUNT,
            "buffer": BYTES,
        },
        needed=(
            *(
                "file_system",
                "targets",
                "target_rate",
                "share",
                "spread",
                "persistent",
                "unit",
                "client_ranks",
            ),
            *(
                "client_rate",
                "stream",
                "exchange",
                "dirty",
                "sync",
                "call",
                "lock",
                "lock_queue",
                "open",
                "object",
            ),
        ),
    ),
}

# Numbers and switches of the native program that stand in no table.
TOP: dict[str, Kind] = {
    "collective_overhead": TIME,
    "copy": RATE,
    "reduce": RATE,
    "reduce_streams": FLAG,
    "transit_first": FLAG,
    "buffer": BYTES,
    "line_broadcast": FLAG,
    "line_reduce": RATE,
    "lines_from": BYTES,
    "library": Kind(word(collective_libraries()), number=False),
}

# Keys beside the tables that do nothing without another one.
WITHOUT: dict[str, tuple[str, ...]] = {
    "reduce_streams": ("reduce",),
    "lines_from": ("line_broadcast", "line_reduce"),
}

# Keys that are for grids of nodes.
LINES = ("line_broadcast", "line_reduce", "lines_from")

# What a file says of itself.
ABOUT = ("title", "about", "extends", "sources")
