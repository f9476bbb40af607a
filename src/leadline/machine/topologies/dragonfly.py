"""A dragonfly."""

import numpy as np

from leadline.core.errors import UsageError
from leadline.machine.schema import COUNT, FACTOR, TableSchema
from leadline.machine.topologies._kind import Kind, Nodes, Topology, Values


class Dragonfly(Kind):
    """A dragonfly: a job has one group, or shares the whole machine, whose cables do not move for it."""

    keys = TableSchema(
        {
            "groups": COUNT,
            "routers": COUNT,
            "nodes": COUNT,
            "links": COUNT,
            "local": FACTOR,
            "global": FACTOR,
        },
        needed=("groups", "routers", "nodes", "links"),
    )
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


KINDS = {"dragonfly": Dragonfly()}
