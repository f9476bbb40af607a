"""The axes of a launch: what points must have in common to share one.

`LaunchAxes` is the only list of them, in the order in which they are shown. The columns of records, the keys
of plans, the points and what tells them apart, what a launch's provenance is filed under, and the columns of
tables derive from its fields: a new axis is one more field. Which words a library knows is checked where the
libraries are (`leadline.plan.settings`), and what a word does is up to the targets.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated, get_type_hints

from leadline.core.values import Value, mappings, partitions, rank_counts, words

DEFAULT = "default"  # as the library has it by itself
FOUND = "found"  # the word for every MPI on the machine
CORES = "cores"  # the word for one rank on every core of the machine
NODES = "nodes"  # the word for one rank on every node
PROTOCOLS = (DEFAULT, "eager", "rendezvous")
PROGRESS = (DEFAULT, "off", "on")  # of messages while the program computes
PLACEMENTS = {
    DEFAULT: "one rank a core, in the order of the cores",
    "core-group": "cores of one group (those that share the last-level cache)",
    "sockets": "neighbouring ranks on different packages of one node",
    "nodes": "neighbouring ranks on different nodes",
    "unbound": "bound to no core, where a site allows nothing else; the kernel may move ranks",
}
UNBOUND = "unbound"


@dataclass(frozen=True)
class Axis:
    """An axis: what its column says, how a plan's value of it is read, and how a point's is shown.

    `setting` is what a plan asks for that does not name the axis, () where the benchmark or the target
    decides. `text` is a point's value in words. `names_series`: figures have a series for each value.
    `later`: null in the first records, and for the word "default".
    """

    says: str
    read: Callable[[object], tuple[Value, ...]]
    setting: tuple[Value, ...] = (DEFAULT,)
    text: str = "{}"
    names_series: bool = False
    later: bool = False


# An axis that later versions added: null where a plan leaves it at "default".
later = partial(Axis, later=True)


@dataclass(frozen=True, kw_only=True)
class LaunchAxes:
    """The value of each axis in one launch."""

    mpi: Annotated[
        str,
        Axis(
            "identity of the MPI, e.g. openmpi-4.1.4; name of the machine where simulated",
            words(),
            (FOUND,),
            names_series=True,
        ),
    ]
    stack: Annotated[
        str,
        Axis(
            "transports (where simulated: network) asked for, in the plan's words; default: any",
            words(),
            names_series=True,
        ),
    ] = DEFAULT
    protocol: Annotated[str, Axis("default, eager or rendezvous: what was forced", words(PROTOCOLS))] = (
        DEFAULT
    )
    placement: Annotated[
        str,
        Axis(
            "where the ranks were put: core-group, sockets, nodes, unbound, or default",
            words(PLACEMENTS),
            names_series=True,
        ),
    ] = DEFAULT
    ranks: Annotated[int, Axis("number of ranks of the launch", rank_counts(CORES, NODES), (), "{} ranks")]
    mapping: Annotated[
        str | None,
        later(
            "mapping of ranks to a described machine's nodes; null on real ones",
            mappings,
            (),
            "mapping {}",
        ),
    ] = None
    partition: Annotated[
        int | None,
        later(
            "ranks of the part of a described machine; null on real ones", partitions, (), "a partition of {}"
        ),
    ] = None
    collectives: Annotated[
        str | None,
        later(
            "the library's algorithm that was forced, or tuned: settings from results; null: its own choice",
            words(),
            text="collectives {}",
        ),
    ] = None
    progress: Annotated[
        str | None,
        later(
            "on or off: asynchronous progress asked for; null: as it is",
            words(PROGRESS),
            text="progress {}",
        ),
    ] = None

    @property
    def axes(self) -> dict[str, Value | None]:
        """The value of each axis by its name."""
        return {name: getattr(self, name) for name in AXES}

    def describe_launch(self) -> str:
        """The values that do not go without saying: "openmpi-4.1.4, sockets, 2 ranks"."""
        told = [(AXES[name], value) for name, value in self.axes.items() if value not in (None, DEFAULT)]
        return ", ".join(axis.text.format(value) for axis, value in told)


_HINTS = get_type_hints(LaunchAxes, include_extras=True)
AXES: dict[str, Axis] = {each.name: _HINTS[each.name].__metadata__[0] for each in fields(LaunchAxes)}
