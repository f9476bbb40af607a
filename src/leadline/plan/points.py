"""Points of a plan: one benchmark with one value for each of its sweeps, and the launch that it needs."""

from collections.abc import Mapping
from dataclasses import dataclass

from leadline.core.axes import LaunchAxes
from leadline.core.collectives import TUNED, called
from leadline.core.record_files import PointKey, point_key
from leadline.core.units import format_bytes
from leadline.core.values import Value
from leadline.plan.settings import Launches


@dataclass(frozen=True, kw_only=True)
class Point(LaunchAxes):
    """One benchmark at one value of each of its sweeps, in one kind of launch."""

    benchmark: str
    values: Mapping[str, Value]
    oversubscribe: bool
    hosts: tuple[str, ...]
    agent: str | None
    launcher: str
    tolerance: float
    launches: Launches
    point_time: float
    point_limit: float
    time: float | None  # s, for all launches of all points of its measurement; None: no share of its own
    measure: int  # which measurement of the plan it belongs to
    headline: bool  # taken over many short launches

    @property
    def operation(self) -> str | None:
        """The operation whose algorithm is forced; None where none is."""
        return None if self.collectives in (None, TUNED) else called(self.benchmark, self.values)

    @property
    def shmem(self) -> bool:
        """Whether the point uses OpenSHMEM, which changes how the library must be set for a launch."""
        return any(str(value).endswith("-shmem") for value in self.values.values())

    @property
    def launch_key(self) -> tuple[object, ...]:
        """What must be the same in two points for them to share a launch."""
        how = (self.oversubscribe, self.hosts, self.agent, self.launcher, self.shmem, self.operation)
        return (*self.axes.values(), *how)

    @property
    def key(self) -> PointKey:
        """What tells this point's records from those of others (`leadline.core.record_files.point_key`)."""
        return point_key(self.benchmark, self.axes, self.values)

    def describe(self) -> str:
        """The point in a few words: "pingpong bytes=8 B buffers=reused, openmpi-4.1.4, 2 ranks"."""
        values = [
            f"{name}={format_bytes(value) if name == 'bytes' and isinstance(value, int) else value}"
            for name, value in self.values.items()
        ]
        return f"{' '.join([self.benchmark, *values])}, {self.describe_launch()}"
