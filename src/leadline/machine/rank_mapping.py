"""Placements of ranks on a described machine: where a node stands, and which core of it a rank has.

The native program reads mappings itself (`native/machine/mapping.hpp`); here is what must be known of them
before it runs, and what a search for better ones needs.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leadline.core.errors import UsageError
from leadline.core.formatting import counted
from leadline.machine.topologies import kind_of

# A row a rank: the coordinates of its node, then the number of its core.
Placements = NDArray[np.int32]

_LETTERS = "XYZABCDEFGHIJKLMNOPQRS"
_TYPE = np.int32


def lengths(topology: dict[str, object]) -> list[int]:
    """Lengths of a topology's axes; one of all its nodes where it has no grid."""
    return kind_of(topology).axes(topology)


def letters(topology: dict[str, object]) -> str:
    """The letters of a topology's axes, and T for the cores of a node."""
    return _LETTERS[: len(lengths(topology))] + "T"


def usual(topology: dict[str, object]) -> str:
    """Nodes first along the axes of a grid, as Blue Gene's XYZT; elsewhere a node's cores first."""
    axes = letters(topology)
    return axes if len(axes) > 2 else "TX"


def in_order(order: str, topology: dict[str, object], per_node: int, ranks: int) -> Placements:
    """The first placements of an order of axes, of which the first varies fastest."""
    sides = [*lengths(topology), per_node]
    names = letters(topology)
    placements: Placements = np.empty((ranks, len(sides)), dtype=_TYPE)
    rest = np.arange(ranks, dtype=np.int64)
    for letter in order:
        axis = names.index(letter)
        placements[:, axis] = rest % sides[axis]
        rest //= sides[axis]
    return placements


def nodes_of(placements: Placements, topology: dict[str, object]) -> NDArray[np.int64]:
    """The number of each placement's node; of a grid the last axis varies fastest."""
    node = np.zeros(len(placements), dtype=np.int64)
    for axis, side in enumerate(lengths(topology)):
        node = node * side + placements[:, axis]
    return node


@dataclass(frozen=True)
class Place:
    """Where placements are: the lengths of the axes and the cores of a node, and what that is called."""

    sides: tuple[int, ...]
    name: str  # in a sentence: "a partition of 512 ranks of bgp"

    @classmethod
    def of(cls, topology: dict[str, object], per_node: int, name: str) -> "Place":
        """The place that a topology is."""
        return cls((*lengths(topology), per_node), name)

    @property
    def letters(self) -> str:
        return _LETTERS[: len(self.sides) - 1] + "T"


def read(path: Path, place: Place, ranks: int | None = None) -> Placements:
    """The placements in a file, a line a rank; those of the first `ranks` where a number is given.

    Raises UsageError, naming file and line, for what is no placement there, or is one twice, and for a file
    that ends too early. A file is read once as long as it stays as it is.
    """
    try:
        stamp = path.stat()
    except OSError as problem:
        raise UsageError(f"mapping: cannot read {path}: {problem.strerror}") from None
    return _read(path, (stamp.st_mtime_ns, stamp.st_size), place, ranks)


@lru_cache(maxsize=64)
def _read(path: Path, state: tuple[int, int], place: Place, ranks: int | None) -> Placements:
    """`read`, remembered by what the answer depends on."""
    try:
        rows = path.read_text(encoding="ascii").rstrip().splitlines()
    except (OSError, ValueError) as problem:
        raise UsageError(f"mapping: cannot read {path}: {problem}") from None
    lines = counted(len(rows), "line")
    if ranks is not None and len(rows) < ranks:
        wanted = counted(ranks, "rank")
        raise UsageError(f"mapping: {path} has {lines}, one a rank, but the job has {wanted}")
    if len(rows) > prod(place.sides):
        raise UsageError(f"mapping: {path} has {lines}, one a rank, but got {place.name}")
    rows = rows[:ranks]
    axes = len(place.sides)
    try:
        placements = np.array([row.split() for row in rows], dtype=_TYPE).reshape(len(rows), axes)
    except (ValueError, OverflowError):
        line, row = next((n, row) for n, row in enumerate(rows, 1) if not _is_seat(row, axes))
        raise UsageError(
            f"mapping: {path}, line {line}: a place on {place.name} is {axes} whole numbers "
            f"({place.letters}), but got {row!r}"
        ) from None
    _check(placements, place, f"mapping: {path}")
    placements.flags.writeable = False
    return placements


def _is_seat(row: str, count: int) -> bool:
    """Whether a line has as many whole numbers as it must."""
    words = row.split()
    return len(words) == count and all(word.lstrip("-").isdecimal() and len(word) < 10 for word in words)


def _check(placements: Placements, place: Place, file: str) -> None:
    """UsageError for a placement that is not there or is taken twice."""
    beyond = (placements < 0) | (placements >= place.sides)
    if beyond.any():
        rank, axis = np.argwhere(beyond)[0]
        raise UsageError(
            f"{file}, line {rank + 1}: {place.letters[axis]} is of 0 to {place.sides[axis] - 1} on "
            f"{place.name}, but got {placements[rank, axis]}: the file is for another machine or size"
        )
    number = np.ravel_multi_index(tuple(placements.T), place.sides)
    _, first, at = np.unique(number, return_index=True, return_inverse=True)
    twice = np.flatnonzero(first[at] != np.arange(len(placements)))
    if len(twice):
        line = int(twice[0])
        raise UsageError(f"{file}, line {line + 1}: line {first[at[line]] + 1} has this place already")
