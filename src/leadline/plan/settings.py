"""What a plan sets for all its measurements, and each of them may set anew."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from leadline.core import toml as plan_text
from leadline.core.errors import UsageError
from leadline.core.units import parse_fraction, parse_time
from leadline.core.values import (
    Value,
    flag,
    launch_counts,
    mappings,
    partitions,
    rank_counts,
    text,
    word,
    words,
)
from leadline.mpi.family import PLACEMENTS, PROGRESS, PROTOCOLS, algorithm, transports
from leadline.mpi.launcher import AUTO, OWN, launchers

FOUND = "found"  # the word for every MPI on the machine
CORES = "cores"  # the word for one rank on every core of the machine
# How true a simulated network is; auto: the cheapest that is true as far as each message can tell.
NETWORKS = ("auto", "loggp", "flow", "packet")


@dataclass(frozen=True)
class Launches:
    """How often a point is launched anew: launches, not repetitions within one, are the sample.

    Six is the least number of launches whose median has a 95 % interval at all (1 - 2 / 2^6 = 97 %).
    """

    at_least: int = 6
    at_most: int = 60


@dataclass(frozen=True)
class Settings:
    """What a plan sets for all its measurements and each of them may set anew."""

    mpi: tuple[str, ...] = (FOUND,)
    stack: tuple[str, ...] = ("default",)
    protocol: tuple[str, ...] = ("default",)
    collectives: tuple[str, ...] = ("default",)  # the library's algorithms that are forced
    progress: tuple[str, ...] = ("default",)  # asynchronous progress: as it is, off, on
    placement: tuple[str, ...] = ("default",)
    ranks: tuple[Value, ...] = ()  # none: the least that the benchmark takes
    oversubscribe: bool = False
    hosts: tuple[str, ...] = ()
    agent: str | None = None  # the program that starts processes on other hosts; None: the launcher's own
    launcher: str = AUTO  # what starts the ranks: the batch system of this allocation, else the library's own
    tolerance: float = 0.02  # half-width of the 95 % interval of the median, as a part of the median
    launches: Launches = Launches()
    point_time: float = 0.01  # s, of one point in one launch
    point_limit: float = 20.0  # s, after which a point counts as hanging
    mapping: tuple[str, ...] = ()  # which rank sits where on a described machine; none: as the run says
    partition: tuple[int, ...] = ()  # ranks of the part of a described machine that is used; none: likewise
    network: tuple[str, ...] = ()  # how true a described machine's network is; none: likewise


def positive_time(value: Any) -> float:
    """A time above nothing, s."""
    if (seconds := parse_time(value)) <= 0:
        raise UsageError(f"this time is more than nothing, but got {value!r}")
    return seconds


def _positive_fraction(value: Any) -> float:
    """A part of one above nothing."""
    if (fraction := parse_fraction(value)) <= 0:
        raise UsageError(f"this is more than nothing, but got {value!r}")
    return fraction


# How the value of each key of `Settings` is read.
READERS: dict[str, Callable[[Any], Any]] = {
    "mpi": words(),
    "stack": words(check=transports),
    "protocol": words(PROTOCOLS),
    "collectives": words(check=algorithm),
    "progress": words(PROGRESS),
    "placement": words(PLACEMENTS),
    "ranks": rank_counts(CORES),
    "oversubscribe": flag,
    "hosts": words(),
    "agent": text,
    "launcher": word((AUTO, OWN, *launchers())),
    "tolerance": _positive_fraction,
    "launches": lambda value: Launches(*launch_counts(value)),
    "point_time": positive_time,
    "point_limit": positive_time,
    "mapping": mappings,
    "partition": partitions,
    "network": words(NETWORKS),
}


def read_settings(table: plan_text.Table, default: Settings) -> Settings:
    """The settings of a table on top of those around it."""
    given = {key: table.get(key, parse, None) for key, parse in READERS.items() if key in table.data}
    settings = replace(default, **given)
    if settings.point_limit < settings.point_time:
        key = "point_limit" if "point_limit" in given else "point_time"
        raise table.error(
            f"point_limit, {settings.point_limit:g} s, is less than point_time, {settings.point_time:g} s",
            key,
        )
    return settings
