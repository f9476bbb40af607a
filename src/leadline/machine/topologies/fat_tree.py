"""A fat tree."""

from itertools import accumulate
from math import prod
from operator import mul

import numpy as np

from leadline.core.errors import UsageError
from leadline.machine.schema import COUNT, SHAPE, WIDTHS, TableSchema
from leadline.machine.topologies._kind import Kind, Nodes, Topology, Values


class FatTree(Kind):
    """A fat tree: a job has the first nodes, and so many levels of switches as these need."""

    keys = TableSchema({"arity": SHAPE, "up": SHAPE, "width": WIDTHS, "nodes": COUNT}, needed=("arity",))
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


KINDS = {"fat-tree": FatTree()}
