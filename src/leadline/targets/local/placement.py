"""Are the ranks where the plan wanted them? Judged from where each rank saw itself with hwloc."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

Place = Mapping[str, Any]  # host, package, group, core (-1: not bound within one), cores: how many it may use


def binding(places: Sequence[Place]) -> str:
    """Each rank's place in a few words.

    >>> binding([{"host": "a", "core": 0}, {"host": "a", "core": -1}])
    'a:0 a:*'
    """
    return " ".join(f"{p['host']}:{p['core'] if p['core'] >= 0 else '*'}" for p in places)


def misplaced(placement: str, places: Sequence[Place]) -> str | None:
    """Why these places are not what `placement` means; None where they are.

    Every placement binds each rank to a core of its own; `core-group` keeps all ranks within one core group,
    `sockets` puts neighbouring ranks on different packages of a node, `nodes` on different nodes.
    """
    cores = [(p["host"], p["core"]) for p in places]
    seen = binding(places)
    if any(core < 0 for _, core in cores):
        return f"the launcher did not bind every rank to a core: {seen}"
    if len(set(cores)) < len(cores):
        return f"the launcher put two ranks on one core: {seen}"
    neighbours = list(pairwise(places))
    if placement == "core-group" and any(_group(a) != _group(b) for a, b in neighbours):
        return f"asked for one core group, but the ranks were on several: {seen}"
    if placement == "sockets" and any(
        a["host"] != b["host"] or a["package"] == b["package"] for a, b in neighbours
    ):
        return f"asked for neighbouring ranks on different sockets of a node, but they were on {seen}"
    if placement == "nodes" and any(a["host"] == b["host"] for a, b in neighbours):
        return f"asked for neighbouring ranks on different nodes, but they were on {seen}"
    return None


def _group(place: Place) -> tuple[object, ...]:
    return place["host"], place["package"], place["group"]
