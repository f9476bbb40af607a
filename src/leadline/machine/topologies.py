"""The kinds of topology: what is known of each before anything is simulated.

A machine's keys for each kind are in `schema.py`. A job runs on the smallest partition that has room for its
ranks: a topology as the native program reads it, whose distances are those of `native/machine/topologies/`
(tests/machine/test_topologies.py holds them to the simulator's).
"""

from collections.abc import Mapping
from itertools import accumulate
from math import prod
from operator import mul
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leadline.core.errors import UsageError

# A topology as the native program reads it: its kind and what this kind needs.
Topology = dict[str, Any]
Values = Mapping[str, Any]
Nodes = NDArray[np.int64]  # numbers of nodes


class Kind:
    """A kind of topology: one node alone, where nothing else is said."""

    grid: ClassVar[bool] = False  # whether nodes stand in a grid, along whose axes messages go
    neighbours: ClassVar[int] = 1  # links between two nodes next to each other

    def check(self, values: Values) -> None:
        """Raise UsageError, beginning with the key, for a machine's values that cannot be together."""

    def most(self, values: Values) -> int:
        """How many nodes the largest partition of a machine has."""
        return 1

    def smallest(self, values: Values, nodes: int) -> Topology:
        """The smallest partition with room for that many nodes, of which there are enough."""
        return {"kind": "single"}

    def axes(self, topology: Topology) -> list[int]:
        """Lengths of a partition's axes; one of all its nodes where it has no grid."""
        return [int(topology.get("nodes", 1))]

    def levels(self, topology: Topology) -> list[int]:
        """What a node's place is made of, fastest first: axes, or switches upwards."""
        return self.axes(topology)

    def diameter(self, topology: Topology) -> int:
        """The most hops between two nodes."""
        return 0

    def hops(self, topology: Topology, here: Nodes, there: Nodes) -> Nodes:
        """Links on the shortest way between nodes; 0 where a node is its own."""
        return np.zeros(np.broadcast(here, there).shape, dtype=np.int64)


class Grid(Kind):
    """Torus and mesh: the last of the shortest axes doubles until there is room.

    So 512 nodes are 8x8x8, 1024 are 8x8x16, 2048 are 8x16x16, and no axis grows beyond the machine's. Blocks
    of a torus below `torus_from` nodes are meshes.
    """

    grid = True

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def check(self, values: Values) -> None:
        shape, caps = values["shape"], self._caps(values)
        if len(shape) != len(caps) or any(a > b for a, b in zip(shape, caps, strict=True)):
            raise UsageError(f"largest: {list(caps)} must contain the shape {list(shape)}")

    def most(self, values: Values) -> int:
        return prod(self._caps(values))

    def smallest(self, values: Values, nodes: int) -> Topology:
        caps = self._caps(values)
        shape = [1] * len(caps)
        while prod(shape) < nodes:
            room = (i for i in range(len(shape)) if shape[i] < caps[i])
            axis = min(room, key=lambda i: (shape[i], -i))
            shape[axis] = min(2 * shape[axis], caps[axis])
        wraps = self.kind == "torus" and prod(shape) >= values.get("torus_from", 1)
        ties = {"ties": values["ties"]} if wraps and "ties" in values else {}
        return {"kind": "torus" if wraps else "mesh", "shape": shape} | ties

    def axes(self, topology: Topology) -> list[int]:
        return list(map(int, topology["shape"]))

    def diameter(self, topology: Topology) -> int:
        return sum(each // 2 if self.kind == "torus" else each - 1 for each in self.axes(topology))

    def steps(self, here: Nodes, there: Nodes, side: int) -> Nodes:
        """Steps along an axis of that length, signed, the short way round where there is one."""
        step = there - here
        if self.kind == "mesh":
            return step
        step = step % side
        return np.asarray(np.where(2 * step > side, step - side, step))

    def hops(self, topology: Topology, here: Nodes, there: Nodes) -> Nodes:
        sides = self.axes(topology)
        along = zip(np.unravel_index(here, sides), np.unravel_index(there, sides), sides, strict=True)
        return np.asarray(sum(np.abs(self.steps(a, b, side)) for a, b, side in along), dtype=np.int64)

    def _caps(self, values: Values) -> list[int]:
        return list(values.get("largest", values["shape"]))


class FatTree(Kind):
    """A fat tree: a job has the first nodes, and so many levels of switches as these need."""

    neighbours = 2

    def check(self, values: Values) -> None:
        levels = len(values["arity"])
        if len(values.get("up", [0] * (levels - 1))) != levels - 1:
            raise UsageError(f"up: this has one number fewer than the {levels} of arity")
        if len(values.get("width", [0] * levels)) != levels:
            raise UsageError(f"width: this has as many numbers as arity, {levels}")
        if values.get("nodes", 1) > prod(values["arity"]):
            raise UsageError(f"nodes: the tree has {prod(values['arity'])}, but got {values['nodes']}")

    def most(self, values: Values) -> int:
        return int(values.get("nodes", prod(values["arity"])))

    def smallest(self, values: Values, nodes: int) -> Topology:
        arity = list(values["arity"])
        levels = next(n for n in range(1, len(arity) + 1) if prod(arity[:n]) >= nodes)
        tree = {"kind": "fat-tree", "arity": arity[:levels], "nodes": nodes}
        lists = {"up": levels - 1, "width": levels}
        return tree | {
            key: list(values[key])[:count] for key, count in lists.items() if key in values and count
        }

    def levels(self, topology: Topology) -> list[int]:
        arity = list(topology["arity"])
        return arity if prod(arity) == topology["nodes"] else self.axes(topology)

    def diameter(self, topology: Topology) -> int:
        return 2 * len(topology["arity"])  # up to the top and down again

    def hops(self, topology: Topology, here: Nodes, there: Nodes) -> Nodes:
        below = [1, *accumulate(topology["arity"], mul)]
        climbs = [here // each != there // each for each in below[:-1]]
        return np.asarray(2 * np.sum(climbs, axis=0, dtype=np.int64))


class Dragonfly(Kind):
    """A dragonfly: a job has one group, or shares the whole machine, whose cables do not move for it."""

    neighbours = 2

    def check(self, values: Values) -> None:
        ports, others = values["routers"] * values["links"], values["groups"] - 1
        if ports < others:
            raise UsageError(f"links: a group of {ports} global ports does not reach {others} other groups")

    def most(self, values: Values) -> int:
        return int(values["groups"] * values["routers"] * values["nodes"])

    def smallest(self, values: Values, nodes: int) -> Topology:
        whole = {"kind": "dragonfly", **values}
        return whole | {"groups": 1} if nodes <= values["routers"] * values["nodes"] else whole

    def axes(self, topology: Topology) -> list[int]:
        return [self.most(topology)]

    def levels(self, topology: Topology) -> list[int]:
        return [topology[key] for key in ("nodes", "routers", "groups")]

    def diameter(self, topology: Topology) -> int:
        groups, routers = topology["groups"], topology["routers"]
        if self.most(topology) == 1:
            return 0
        if routers == 1:
            return 2 if groups == 1 else 3
        # node, router, group, router, router, node; with a cable at every router one step fewer
        return 3 if groups == 1 else 4 if self._cables(topology) >= routers else 5

    def hops(self, topology: Topology, here: Nodes, there: Nodes) -> Nodes:
        routers, cables = topology["routers"], self._cables(topology)
        a, b = here // topology["nodes"], there // topology["nodes"]
        group, other = a // routers, b // routers
        # Routers from that of the first cable between the two groups on, at either end: a message whose
        # routers have a cable needs no way within their groups.
        near = (a - ((group - other - 1) % topology["groups"]) * cables) % routers
        far = (b - ((other - group - 1) % topology["groups"]) * cables) % routers
        across = np.where((near < cables) | (far < cables), 4, 5)
        across = np.where((near == far) & (near < cables), 3, across)
        within = np.where(here == there, 0, np.where(a == b, 2, 3))
        return np.asarray(np.where(group == other, within, across), dtype=np.int64)

    @staticmethod
    def _cables(topology: Topology) -> int:
        """Cables between two groups."""
        return int(topology["routers"] * topology["links"] // max(topology["groups"] - 1, 1))


KINDS: dict[str, Kind] = {
    "torus": Grid("torus"),
    "mesh": Grid("mesh"),
    "fat-tree": FatTree(),
    "dragonfly": Dragonfly(),
    "single": Kind(),
}


def kind_of(topology: Topology) -> Kind:
    """The kind of a partition's topology."""
    return KINDS[topology["kind"]]
