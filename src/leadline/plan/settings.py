"""What a plan sets for all its measurements, and each of them may set anew."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from leadline.core import toml as plan_text
from leadline.core.axes import AXES
from leadline.core.errors import UsageError
from leadline.core.paths import network_tiers
from leadline.core.units import parse_fraction, parse_time
from leadline.core.values import (
    Value,
    flag,
    launch_counts,
    text,
    word,
    words,
)
from leadline.mpi.family import algorithm, transports
from leadline.mpi.launcher import AUTO, OWN, launchers

# How true a simulated network is; auto: the cheapest that is true as far as each message can tell.
NETWORKS = ("auto", *network_tiers())


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

    # What is asked for of each axis of a launch; (): the benchmark or the target decides.
    axes: Mapping[str, tuple[Value, ...]] = field(
        default_factory=lambda: {name: axis.setting for name, axis in AXES.items()}
    )
    oversubscribe: bool = False
    hosts: tuple[str, ...] = ()
    agent: str | None = None  # the program that starts processes on other hosts; None: the launcher's own
    launcher: str = AUTO  # what starts the ranks: the batch system of this allocation, else the library's own
    tolerance: float = 0.02  # half-width of the 95 % interval of the median, as a part of the median
    launches: Launches = Launches()
    point_time: float = 0.01  # s, of one point in one launch
    point_limit: float = 20.0  # s, after which a point counts as hanging
    network: tuple[str, ...] = ()  # how true a described machine's network is; none: as the run says

    def words(self, axis: str) -> tuple[str, ...]:
        """What is asked for of an axis whose values are words."""
        return tuple(str(each) for each in self.axes[axis])

    def with_axes(self, axes: Mapping[str, tuple[Value, ...]], **others: Any) -> "Settings":
        """These settings with other values of some axes, and of other settings."""
        return replace(self, axes={**self.axes, **axes}, **others)


def positive_time(value: object) -> float:
    """A time above nothing, s."""
    if (seconds := parse_time(value)) <= 0:
        raise UsageError(f"time must be positive, but got {value!r}")
    return seconds


def _positive_fraction(value: object) -> float:
    """A part of one above nothing."""
    if (fraction := parse_fraction(value)) <= 0:
        raise UsageError(f"this must be positive, but got {value!r}")
    return fraction


# How the value of each axis is read; which of these words are known depends on the MPI families.
AXIS_READERS: dict[str, Callable[[object], tuple[Value, ...]]] = {
    **{name: axis.read for name, axis in AXES.items()},
    "stack": words(check=transports),
    "collectives": words(check=algorithm),
}
# How the value of each other key of `Settings` is read.
_READERS: dict[str, Callable[[object], object]] = {
    "oversubscribe": flag,
    "hosts": words(),
    "agent": text,
    "launcher": word((AUTO, OWN, *launchers())),
    "tolerance": _positive_fraction,
    "launches": lambda value: Launches(*launch_counts(value)),
    "point_time": positive_time,
    "point_limit": positive_time,
    "network": words(NETWORKS),
}
KEYS = (*AXIS_READERS, *_READERS)


def read_settings(table: plan_text.Table, default: Settings) -> Settings:
    """The settings of a table on top of those around it."""
    nothing: tuple[Value, ...] = ()
    axes = {key: table.get(key, parse, nothing) for key, parse in AXIS_READERS.items() if key in table.data}
    given = {key: table.get(key, parse, None) for key, parse in _READERS.items() if key in table.data}
    settings = default.with_axes(axes, **given)
    if settings.point_limit < settings.point_time:
        key = "point_limit" if "point_limit" in given else "point_time"
        raise table.error(
            f"point_limit, {settings.point_limit:g} s, is less than point_time, {settings.point_time:g} s",
            key,
        )
    return settings
