"""Sequences of ranks side by side: which operations of different ranks are the same place of the code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from leadline.program.extend.forms import LEAST, Count, turns_of
from leadline.program.fold import fold
from leadline.program.folded import Loop, Node
from leadline.program.model import Kind, Operation, Program

# Of what only the larger recordings have, such as ranks in the middle of a grid.
TOO_FEW = f"what changes is known from {LEAST} recordings or more only; record more ranks"


class Misfit(Exception):
    """An explanation that does not hold. `explained` says how far it came: operations that it did explain."""

    def __init__(self, reason: str, explained: int = 0) -> None:
        """With a reason for people."""
        super().__init__(reason)
        self.explained = explained


class Ambiguous(Misfit):
    """An explanation that holds, and allows several programs at the new number of ranks."""


@dataclass(frozen=True)
class Member:
    """A rank of a recording."""

    program: Program
    rank: int

    @cached_property
    def leaves(self) -> tuple[Operation, ...]:
        """Its operations."""
        return self.program.leaves(self.rank)

    @cached_property
    def counts(self) -> list[int]:
        """How often it executes each of them."""
        return self.program.sequence(self.rank).counts

    @cached_property
    def made(self) -> Mapping[int, int]:
        """Of its communicators: which one it is of those that the rank came to; 0 is the world."""
        found = {0: 0}
        sequence = self.program.sequence(self.rank)
        leaves, first = np.unique(sequence.order_cached, return_index=True)
        for leaf in leaves[np.argsort(first)].tolist():
            operation = self.leaves[leaf]
            if operation.kind == Kind.COMM and operation.extra:
                found.setdefault(operation.extra - 1, len(found))
        return found

    def place(self, operation: Operation) -> str:
        """Where in the program it was called, for people."""
        site = self.program.sites[operation.site]
        name = Kind(operation.kind).name.lower()
        return f"the {name} at {site}" if site else f"a {name}"


@dataclass(frozen=True)
class Aligned:
    """Places of the code in their order, as `Folded.nodes` numbers them: of each the leaf of every member.

    `turns` are the repetitions of the loops in `nodes`, in the order in which they begin, where they differ
    between recordings: all functions of the ranks that give them.
    """

    members: Sequence[Member]
    nodes: tuple[Node, ...]
    columns: Sequence[Sequence[int]]
    turns: Sequence[Sequence[Count]] = field(default=())


def align(members: Sequence[Member]) -> Aligned:
    """The members' sequences side by side. Raises Misfit where they differ in more than repetitions."""
    if len({member.program.sequence(member.rank).length for member in members}) == 1:
        return _by_execution(members)
    return _by_loops(members)


def _by_execution(members: Sequence[Member]) -> Aligned:
    """As many operations each: the first of all belong together, then the second, and so on."""
    orders: npt.NDArray[np.int64] = np.stack(
        [member.program.sequence(member.rank).order_cached for member in members]
    )
    different, where = np.unique(orders, axis=1, return_inverse=True)
    nodes, items = fold(np.asarray(where).ravel().tolist())
    return Aligned(members, nodes, [different[:, item].tolist() for item in items])


def _by_loops(members: Sequence[Member]) -> Aligned:
    """The same loops, with other numbers of turns."""
    walked = [_walk(member.program.sequence(member.rank).nodes) for member in members]
    if len({shape for shape, _, _ in walked}) > 1:
        lengths = sorted({member.program.sequence(member.rank).length for member in members})
        raise Misfit(
            f"ranks that should do the same have different numbers of operations ({lengths[0]:,} to "
            f"{lengths[-1]:,}), and their loops differ"
        )
    turns = []
    for number in range(len(walked[0][2])):
        values: dict[int, set[int]] = {}
        for member, (_, _, counts) in zip(members, walked, strict=True):
            values.setdefault(member.program.ranks, set()).add(counts[number])
        if any(len(each) > 1 for each in values.values()):
            raise Misfit("ranks that should do the same repeat a loop differently often")
        turns.append(_forms({ranks: next(iter(each)) for ranks, each in values.items()}))
    columns = [list(each) for each in zip(*(leaves for _, leaves, _ in walked), strict=True)]
    nodes, _ = _numbered(walked[0][0], 0)
    return Aligned(members, nodes, columns, turns)


def _forms(values: dict[int, int]) -> list[Count]:
    """The functions of the ranks that give a loop's turns. Raises Misfit where there is none."""
    forms = turns_of(values)
    if not forms:
        told = ", ".join(f"{count} at {ranks} ranks" for ranks, count in sorted(values.items()))
        why = "no function of the ranks that is known" if len(values) >= LEAST else TOO_FEW
        raise Misfit(f"a loop is repeated {told}: {why}")
    return forms


_Shape = tuple[object, ...]


def _walk(nodes: Sequence[Node]) -> tuple[_Shape, list[int], list[int]]:
    """The nesting of loops, the leaves in their order, and the turns of each loop."""
    shape: list[object] = []
    leaves: list[int] = []
    turns: list[int] = []
    for node in nodes:
        if isinstance(node, int):
            shape.append(0)
            leaves.append(node)
            continue
        turns.append(node.turns)
        inner, more, counts = _walk(node.body)
        shape.append(inner)
        leaves += more
        turns += counts
    return tuple(shape), leaves, turns


def _numbered(shape: _Shape, first: int) -> tuple[tuple[Node, ...], int]:
    """Nodes of a nesting, leaves numbered as they stand; loops of one turn, until theirs are known."""
    nodes: list[Node] = []
    for each in shape:
        if isinstance(each, tuple):
            body, first = _numbered(each, first)
            nodes.append(Loop(1, body))
        else:
            nodes.append(first)
            first += 1
    return tuple(nodes), first


def with_turns(nodes: tuple[Node, ...], turns: Sequence[int]) -> tuple[Node, ...]:
    """The nodes with the loops' turns, in the order in which they begin; a loop of none is left out."""
    rest = list(turns)

    def go(part: Sequence[Node]) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in part:
            if isinstance(node, int):
                found.append(node)
                continue
            count = rest.pop(0)
            body = go(node.body)
            if count > 0:
                found.append(Loop(count, body))
        return tuple(found)

    return go(nodes)
