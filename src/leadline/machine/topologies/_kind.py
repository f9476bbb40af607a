"""What is asked of a kind of topology before anything is simulated."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leadline.machine.schema import TableSchema

# A topology as the native program reads it: its kind and what this kind needs.
Topology = dict[str, Any]
Values = Mapping[str, Any]
Nodes = NDArray[np.int64]  # numbers of nodes


class Kind:
    """A kind of topology: one node alone, where nothing else is said."""

    keys: TableSchema = TableSchema({})  # of the table [topology], beside `kind`
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
