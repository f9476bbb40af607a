"""Where a plan is run: on this machine, or on a described one."""

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from leadline.native.launch import Event
from leadline.native.registry import SweepContext
from leadline.plan.points import Point
from leadline.plan.settings import Settings


class Executor(Protocol):
    """What launches points: real ranks, simulated ones, or a test."""

    source: str  # of the records: launches of simulated points do not differ, so that one is the answer

    def refuse(self, point: Point) -> tuple[str, str] | None:
        """Status (skipped or failed) and reason where a point cannot be launched here; None where it can.

        The first point of a launch configuration has it prepared: built, set, probed.
        """

    def launch(self, points: Sequence[Point], tick: Callable[[], None]) -> Generator[Event, None, None]:
        """Launch points, measured ones of one configuration; the events' ids are their places in `points`.

        The events are those of `leadline.native.launch`, and `fail` for a point not worth another.
        """

    def oversubscribed(self, point: Point) -> bool:
        """Whether the point's ranks are more than the cores there are."""

    def misplaced(self, point: Point, places: Sequence[Mapping[str, Any]]) -> str | None:
        """Why these places of the ranks are not what the point asked for; None where they are."""

    def transport(self, point: Point) -> str | None:
        """What the library reported as its transport in this launch configuration."""

    def facts(self) -> list[dict[str, object]]:
        """What was found out about each launch configuration, for the provenance."""


@runtime_checkable
class Target(Protocol):
    """Where a plan is run: what the plan's words mean there, and what launches its points."""

    @property
    def strict(self) -> bool:
        """Whether a point that two measurements ask for is a mistake."""

    def settings(self, asked: Settings) -> Settings:
        """What of a plan's settings holds here; UsageError for what cannot."""

    def mpis(self, word: str) -> Sequence[str]:
        """The identities that a plan's word for MPIs means."""

    def cores(self, hosts: Sequence[str], agent: str | None, partition: int | None) -> int:
        """How many ranks "cores" is, where a plan names these hosts and this agent."""

    def nodes(self, hosts: Sequence[str], partition: int | None) -> int:
        """How many ranks "nodes" is, where a plan names these hosts."""

    def sweep_context(self, ranks: int, partition: int | None) -> SweepContext:
        """What the default values of sweeps may depend on."""

    def collectives(self, words: Sequence[str], point: Point) -> Sequence[str | None]:
        """Which algorithms of its library a point is asked with; None for the library's own choice."""

    def check(self, points: Sequence[Point]) -> None:
        """Raise UsageError or LeadlineError for points that must not be begun here."""

    def facts(self, points: Sequence[Point]) -> Mapping[str, object]:
        """What the provenance of these points' records says of the target before the first launch."""

    def executor(self, directory: Path, files: Path, say: Callable[[str], None]) -> Executor:
        """What launches points here.

        `directory` takes the files of launches, `files` those that benchmarks write where the target names no
        other place; `say` hears what is being prepared.
        """
