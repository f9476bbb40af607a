"""Torus and mesh."""

from math import prod

import numpy as np

from leadline.core.errors import UsageError
from leadline.core.values import word
from leadline.machine import schema
from leadline.machine.schema import COUNT, SHAPE, TableSchema
from leadline.machine.topologies._kind import Kind, Nodes, Topology, Values

_TIES = schema.Kind(word(("parity", "growing")), number=False)


class Grid(Kind):
    """Torus and mesh: the last of the shortest axes doubles until there is room.

    So 512 nodes are 8x8x8, 1024 are 8x8x16, 2048 are 8x16x16, and no axis grows beyond the machine's. Blocks
    of a torus below `torus_from` nodes are meshes.
    """

    grid = True

    def __init__(self, kind: str, keys: TableSchema) -> None:
        """A torus or a mesh, with its keys."""
        self.kind = kind
        self.keys = keys

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


KINDS = {
    "torus": Grid(
        "torus",
        TableSchema(
            {"shape": SHAPE, "largest": SHAPE, "torus_from": COUNT, "ties": _TIES}, needed=("shape",)
        ),
    ),
    "mesh": Grid("mesh", TableSchema({"shape": SHAPE, "largest": SHAPE}, needed=("shape",))),
}
