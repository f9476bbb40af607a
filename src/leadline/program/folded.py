"""A sequence of operations with its repetitions folded, and sequences that wait in a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from leadline.program.model import Operation


class Loop(NamedTuple):
    """A part of a sequence that is executed again and again."""

    turns: int
    body: "tuple[Node, ...]"


Node: TypeAlias = "int | Loop"  # an int is the index of a leaf


@dataclass(frozen=True)
class Folded:
    """What ranks execute: leaves in the order in which they stand, and how they are repeated.

    Where `relative`, the peers of messages are differences to the executing rank, modulo the communicator's
    ranks.
    """

    leaves: "tuple[Operation, ...]"
    nodes: tuple[Node, ...]
    relative: bool = False

    @cached_property
    def length(self) -> int:
        """Operations that are executed."""
        return _length(self.nodes)

    @cached_property
    def counts(self) -> list[int]:
        """How often each leaf is executed."""
        counted: list[int] = np.bincount(self.order(), minlength=len(self.leaves)).tolist()
        return counted

    @cached_property
    def order_cached(self) -> npt.NDArray[np.int64]:
        """The leaf of each executed operation, kept."""
        return _order(self.nodes)

    def order(self) -> npt.NDArray[np.int64]:
        """The leaf of each executed operation."""
        return _order(self.nodes)


def _length(nodes: Sequence[Node]) -> int:
    return sum(1 if isinstance(node, int) else node.turns * _length(node.body) for node in nodes)


def _order(nodes: Sequence[Node]) -> npt.NDArray[np.int64]:
    parts: list[npt.NDArray[np.int64]] = []
    plain: list[int] = []
    for node in nodes:
        if isinstance(node, int):
            plain.append(node)
            continue
        parts.append(np.array(plain, np.int64))
        plain = []
        parts.append(np.tile(_order(node.body), node.turns))
    parts.append(np.array(plain, np.int64))
    return np.concatenate(parts)


class Stored(Sequence[Folded]):
    """Sequences of a file, each decoded once it is asked for: who executes a program elsewhere asks for none.

    Known without that are how many `operations` all ranks execute, and the `calls`: kinds with modes.
    """

    def __init__(
        self, decode: Callable[[int], Folded], size: int, operations: int, calls: frozenset[tuple[int, int]]
    ) -> None:
        self.operations, self.calls = operations, calls
        self._decode, self._size = decode, size
        self._decoded: dict[int, Folded] = {}

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Folded: ...
    @overload
    def __getitem__(self, index: slice) -> list[Folded]: ...
    def __getitem__(self, index: int | slice) -> Folded | list[Folded]:
        """The sequence, or sequences. Raises UsageError where the file does not have what it says."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(self._size))]
        if index not in self._decoded:
            self._decoded[index] = self._decode(range(self._size)[index])
        return self._decoded[index]
