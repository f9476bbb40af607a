"""The part of a machine that a job of some ranks runs on: the smallest that has room for them.

What each kind of topology may say is in `schema.py`; `native/machine/topologies/` has one file for each kind.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, Protocol

from leadline.core.errors import UsageError

# A topology as the native program reads it: its kind and what this kind needs.
Topology = dict[str, Any]
Values = Mapping[str, Any]


class Kind(Protocol):
    """What must be known of a kind of topology."""

    def check(self, values: Values) -> None:
        """Raise UsageError, beginning with the key, for values that cannot be together."""

    def most(self, values: Values) -> int:
        """How many nodes the largest partition has."""

    def smallest(self, values: Values, nodes: int) -> Topology:
        """The smallest partition with room for that many nodes, of which there are enough."""


class Grid:
    """Torus and mesh: the last of the shortest axes doubles until there is room.

    So 512 nodes are 8x8x8, 1024 are 8x8x16, 2048 are 8x16x16, and no axis grows beyond the machine's.
    """

    def __init__(self, kind: str) -> None:
        """A torus, whose blocks below `torus_from` nodes are meshes, or a mesh."""
        self.kind = kind

    def check(self, values: Values) -> None:
        """The largest grid has the axes of the machine's, none of them shorter."""
        shape, caps = values["shape"], self._caps(values)
        if len(shape) != len(caps) or any(a > b for a, b in zip(shape, caps, strict=True)):
            raise UsageError(f"largest: {list(caps)} must contain the shape {list(shape)}")

    def most(self, values: Values) -> int:
        """All nodes of the largest grid."""
        return prod(self._caps(values))

    def smallest(self, values: Values, nodes: int) -> Topology:
        """A block that is as even as it can be."""
        caps = self._caps(values)
        shape = [1] * len(caps)
        while prod(shape) < nodes:
            room = (i for i in range(len(shape)) if shape[i] < caps[i])
            axis = min(room, key=lambda i: (shape[i], -i))
            shape[axis] = min(2 * shape[axis], caps[axis])
        wraps = self.kind == "torus" and prod(shape) >= values.get("torus_from", 1)
        return {"kind": "torus" if wraps else "mesh", "shape": shape}

    def _caps(self, values: Values) -> list[int]:
        """The lengths that the axes may grow to."""
        return list(values.get("largest", values["shape"]))


class FatTree:
    """A fat tree: a job has the first nodes, and so many levels of switches as these need."""

    def check(self, values: Values) -> None:
        """One list fits the other."""
        levels = len(values["arity"])
        if len(values.get("up", [0] * (levels - 1))) != levels - 1:
            raise UsageError(f"up: this has one number fewer than the {levels} of arity")
        if len(values.get("width", [0] * levels)) != levels:
            raise UsageError(f"width: this has as many numbers as arity, {levels}")
        if values.get("nodes", 1) > prod(values["arity"]):
            raise UsageError(f"nodes: the tree has {prod(values['arity'])}, but got {values['nodes']}")

    def most(self, values: Values) -> int:
        """All nodes that there are."""
        return int(values.get("nodes", prod(values["arity"])))

    def smallest(self, values: Values, nodes: int) -> Topology:
        """The lowest levels that hold the nodes."""
        arity = list(values["arity"])
        levels = next(n for n in range(1, len(arity) + 1) if prod(arity[:n]) >= nodes)
        tree = {"kind": "fat-tree", "arity": arity[:levels], "nodes": nodes}
        lists = {"up": levels - 1, "width": levels}
        return tree | {
            key: list(values[key])[:count] for key, count in lists.items() if key in values and count
        }


class Dragonfly:
    """A dragonfly: a job has one group, or shares the whole machine, whose cables do not move for it."""

    def check(self, values: Values) -> None:
        """Each group reaches each other one."""
        ports, others = values["routers"] * values["links"], values["groups"] - 1
        if ports < others:
            raise UsageError(f"links: a group of {ports} global ports does not reach {others} other groups")

    def most(self, values: Values) -> int:
        """All nodes of all groups."""
        return int(values["groups"] * values["routers"] * values["nodes"])

    def smallest(self, values: Values, nodes: int) -> Topology:
        """One group where it has room, else all."""
        whole = {"kind": "dragonfly", **values}
        return whole | {"groups": 1} if nodes <= values["routers"] * values["nodes"] else whole


class Single:
    """One node alone."""

    def check(self, values: Values) -> None:
        """There is nothing to be wrong."""

    def most(self, values: Values) -> int:
        """One."""
        return 1

    def smallest(self, values: Values, nodes: int) -> Topology:
        """The node."""
        return {"kind": "single"}


KINDS: dict[str, Kind] = {
    "torus": Grid("torus"),
    "mesh": Grid("mesh"),
    "fat-tree": FatTree(),
    "dragonfly": Dragonfly(),
    "single": Single(),
}
