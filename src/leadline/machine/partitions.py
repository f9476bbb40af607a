"""The part of a machine that a job of some ranks runs on: the smallest that has room for them."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

# A topology as the native program reads it: its kind and what this kind needs.
Topology = dict[str, Any]
Values = Mapping[str, Any]


def most_nodes(kind: str, values: Values) -> int:
    """How many nodes the largest partition has."""
    return _MOST[kind](values)


def partition(kind: str, values: Values, nodes: int) -> Topology:
    """The topology of the smallest partition with room for `nodes` nodes, of which there are that many."""
    return _SMALLEST[kind](values, nodes)


def _grid_caps(values: Values) -> tuple[int, ...]:
    """The lengths that the axes of a grid may grow to."""
    return tuple(values.get("largest", values["shape"]))


def _grid(kind: str) -> Callable[[Values, int], Topology]:
    """Blocks of a torus or mesh: the last of the shortest axes doubles until there is room.

    So 512 nodes are 8x8x8, 1024 are 8x8x16, 2048 are 8x16x16, and no axis grows beyond the machine's.
    """

    def smallest(values: Values, nodes: int) -> Topology:
        caps = _grid_caps(values)
        shape = [1] * len(caps)
        while prod(shape) < nodes:
            axis = min((i for i in range(len(shape)) if shape[i] < caps[i]), key=lambda i: (shape[i], -i))
            shape[axis] = min(2 * shape[axis], caps[axis])
        wraps = kind == "torus" and prod(shape) >= values.get("torus_from", 1)
        return {"kind": "torus" if wraps else "mesh", "shape": shape}

    return smallest


_MOST: dict[str, Callable[[Values], int]] = {
    "torus": lambda values: prod(_grid_caps(values)),
    "mesh": lambda values: prod(_grid_caps(values)),
    "single": lambda values: 1,
}
_SMALLEST: dict[str, Callable[[Values, int], Topology]] = {
    "torus": _grid("torus"),
    "mesh": _grid("mesh"),
    "single": lambda values, nodes: {"kind": "single"},
}
