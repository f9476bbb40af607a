"""Are the ranks where the plan wanted them? Judged from where each rank saw itself with hwloc."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from leadline.core.axes import DEFAULT, UNBOUND

# host, boot, network, package, group, core (-1: not bound within one), cores: how many it may use
Place = Mapping[str, Any]


def binding(places: Sequence[Place]) -> str:
    """Each rank's place in a few words.

    >>> binding([{"host": "a", "core": 0}, {"host": "a", "core": -1}])
    'a:0 a:*'
    """
    return " ".join(f"{p['host']}:{p['core'] if p['core'] >= 0 else '*'}" for p in places)


def misplaced(
    placement: str,
    places: Sequence[Place],
    *,
    bound: bool = True,
    node_cores: int | None = None,
    hosts: int = 0,
    site: str | None = None,
) -> str | None:
    """Why these places are not what `placement` means; None where they are.

    Every placement but `unbound` binds each rank to a core of its own, unless it is not to (`bound`);
    `default` fills a node of `node_cores` cores (None: unknown) before the next, `core-group` keeps all ranks
    within one core group, `sockets` puts neighbouring ranks on different packages of a node, `nodes` on
    different nodes. `hosts` is how many nodes were named (0: none); `site` is what in the site's
    configuration keeps the launcher from binding.
    """
    unbound = _unbound(places, site) if bound and placement != UNBOUND else None
    return unbound or _crowded_out(placement, places, node_cores, hosts) or _apart(placement, places)


def _unbound(places: Sequence[Place], site: str | None) -> str | None:
    """Why not every rank has a core of its own, and what would give it one."""
    cores = [(p["host"], p["core"]) for p in places]
    seen = binding(places)
    if any(core < 0 for _, core in cores):
        why = f"; {site}" if site else ""
        return (
            f"the launcher did not bind every rank to a core: {seen}{why}; launcher = 'mpirun' may bind "
            "them, and placement = 'unbound' measures them as they are"
        )
    if len(set(cores)) < len(cores):
        return (
            f"the launcher put two ranks on one core: {seen}; an allocation of whole nodes (--exclusive) "
            "gives each a core"
        )
    return None


def _crowded_out(placement: str, places: Sequence[Place], node_cores: int | None, hosts: int) -> str | None:
    """Why the ranks are on more nodes than they should be."""
    seen = binding(places)
    nodes = len({p["host"] for p in places})
    if hosts and nodes > hosts:
        return f"{hosts} hosts were named, but the ranks were on {nodes}: {seen}"
    if placement in (DEFAULT, UNBOUND) and node_cores and nodes > -(-len(places) // node_cores):
        return (
            f"placement {placement} fills a node of {node_cores} cores before the next, but the ranks were "
            f"on {nodes} nodes: {seen}; allocate whole nodes (--exclusive), or ask for placement = 'nodes'"
        )
    return None


def _apart(placement: str, places: Sequence[Place]) -> str | None:
    """Why neighbouring ranks are not as far from each other as the placement wants them."""
    seen = binding(places)
    neighbours = list(pairwise(places))
    if placement == "core-group" and any(_group(a) != _group(b) for a, b in neighbours):
        return f"asked for one core group, but the ranks were on several: {seen}"
    if placement == "sockets" and any(
        a["host"] != b["host"] or a["package"] == b["package"] for a, b in neighbours
    ):
        return f"asked for neighbouring ranks on different sockets of a node, but they were on {seen}"
    if placement == "nodes" and any(a["host"] == b["host"] for a, b in neighbours):
        return f"asked for neighbouring ranks on different nodes, but they were on {seen}"
    if placement == "nodes" and (one := next((p for p in neighbours if _one_machine(*p)), None)):
        return (
            f"asked for neighbouring ranks on different nodes, but {one[0]['host']} and {one[1]['host']} are "
            f"one machine with one network: {seen}"
        )
    return None


def by_memory(places: Sequence[Place], exchanged: float, sent: float) -> str | None:
    """Why messages between "nodes" that are namespaces of one machine did not cross their network.

    `exchanged` and `sent` in B: what the first rank sent to the last, and what its interfaces sent
    meanwhile. None where they did, or where the nodes are different machines.
    """
    first, last = places[0], places[-1]
    if first["host"] == last["host"] or not first.get("boot") or first["boot"] != last.get("boot"):
        return None
    if sent >= exchanged:
        return None
    return (
        f"messages between {first['host']} and {last['host']} went over shared memory: of {exchanged:.0f} B "
        f"the network interfaces sent {sent:.0f} B; stack = 'tcp' uses the network"
    )


def _one_machine(a: Place, b: Place) -> bool:
    """Whether two hosts are names of one machine that share its network as well."""
    same = a.get("boot") and a.get("boot") == b.get("boot")
    return bool(same and a.get("network") == b.get("network"))


def _group(place: Place) -> tuple[object, ...]:
    return place["host"], place["package"], place["group"]
