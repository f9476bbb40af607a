"""What MPI's handles stand for in a rank's record, communicators and requests, and what these met."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from leadline.program.model import Communicator


class Communicators:
    """Communicators by their members, the same for all ranks.

    Ranks make communicators of the same members in the same order, so the number of those that are alive
    tells them apart; one that is freed makes room, so that a loop which makes and frees one folds.
    """

    def __init__(self, made: list[Communicator]) -> None:
        self.made = made
        self._known: dict[tuple[object, int], int] = {}

    def index(self, communicator: Communicator, turn: int) -> int:
        """The number of the `turn`-th of its kind."""
        key = (
            (communicator.members, communicator.remote, communicator.construction, communicator.parent),
            turn,
        )
        if key not in self._known:
            self._known[key] = len(self.made)
            self.made.append(communicator)
        return self._known[key]


@dataclass
class Group:
    """A communicator of a rank."""

    index: int
    members: tuple[int, ...]
    remote: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()
    cartesian: bool = False  # two neighbours of each dimension, down and up
    key: object = None
    turn: int = 0
    elsewhere: bool = False  # some of its processes are not recorded


@dataclass
class Slot:
    """A request: its number, and the receive that it completes."""

    number: int
    persistent: bool = False
    receive: int | None = None  # index of the operation
    active: bool = True  # of a persistent one: started, and not over
    turns: int = 0  # messages that the receive has met
    met: list[tuple[int, int, int]] = field(default_factory=list)  # of any source: operation, source, tag
    several: bool = False  # they were of more than one
    collective: bool = False
    both: bool = False  # of an Isendrecv
    started: int = -1  # index of the operation that last started a persistent one
    given_back: int = -1  # index of the operation that did so before it was over
    half: int = 0  # number of the send that the same request completes


def parts_of(peers: Iterable[int], sizes: Sequence[int]) -> tuple[int, ...]:
    """Blocks that are not empty, as (peer, bytes, ...)."""
    return tuple(
        value
        for peer, size in zip(peers, sizes, strict=False)
        if size and peer >= 0
        for value in (peer, size)
    )


def blocks_of_neighbours(
    group: Group, size: int, gives: Sequence[int], takes: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What goes to the neighbours of a group and what comes from them; `size` each where none is given."""
    to = gives or [size] * len(group.targets)
    coming = takes or [size] * len(group.sources)
    order = _crossed if group.cartesian else list
    return parts_of(group.targets, to), parts_of(order(group.sources), order(coming))


def _crossed(values: Sequence[int]) -> list[int]:
    """Of each dimension up before down: what goes down comes from up, also where both are one rank."""
    return [value for down in range(0, len(values) - 1, 2) for value in (values[down + 1], values[down])]
