"""The kinds of topology: their keys in a machine file, and what is known of each before it is simulated.

A file of this package names its kinds in `KINDS`; `native/machine/topologies/` simulates them. A job runs on
the smallest partition that has room for its ranks: a topology as the native program reads it, whose distances
are the simulator's (tests/machine/test_topologies.py holds them to it).
"""

from leadline.core.plugins import Plugins
from leadline.machine.topologies._kind import Kind, Nodes, Topology, Values

__all__ = ["KINDS", "Kind", "Nodes", "Topology", "Values", "kind_of"]

KINDS: dict[str, Kind] = {
    name: kind for file in Plugins(__name__, "unknown topology {}").all() for name, kind in file.KINDS.items()
}


def kind_of(topology: Topology) -> Kind:
    """The kind of a partition's topology."""
    return KINDS[topology["kind"]]
