"""Sequences of ranks side by side: which operations of different ranks are the same place of the code."""

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.program.extend.forms import LEAST, Count, turns_of
from leadline.program.fold import fold
from leadline.program.folded import Loop, Node
from leadline.program.model import COLLECTIVES, Form, Kind, Operation, Program

# What must be the same wherever the code is the same.
SAME = ("kind", "tag", "request", "mode", "form", "type", "reduction", "free")
_LONGEST = 1 << 16  # operations of a rank whose loops are looked for without its partners: each is looked at
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

    @cached_property
    def unrolled(self) -> "_Unrolled":
        """Its loops, whoever the partners are and whatever the sizes. Raises Misfit where there are none."""
        return _unrolled(self)

    def place(self, operation: Operation) -> str:
        """Where in the program it was called, for people."""
        site = self.program.sites[operation.site]
        name = Kind(operation.kind).name.lower()
        return f"the {name} at {site}" if site else f"a {name}"


class Turn(NamedTuple):
    """One turn of a loop, of so many that a member makes."""

    member: int
    turn: int
    turns: int


@dataclass(frozen=True)
class Aligned:
    """Places of the code in their order, as `Folded.nodes` numbers them: of each the leaf of every member.

    `turns` are the repetitions of the loops in `nodes`, in the order in which they begin, where they differ
    between recordings: all functions of the ranks that give them. `turns_of` are of the columns that are not
    the same in each turn of their loop: they have a leaf of each turn of every member. `all_waited` is for
    members each wait of which is for all that they began: see `slots`.
    """

    members: Sequence[Member]
    nodes: tuple[Node, ...]
    columns: Sequence[Sequence[int]]
    turns: Sequence[Sequence[Count]] = field(default=())
    turns_of: Mapping[int, Sequence[Turn]] = field(default_factory=dict)
    all_waited: bool = False


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
        return _by_turns(members)
    turns = _all_turns(members, [counts for _, _, counts in walked])
    columns = [list(each) for each in zip(*(leaves for _, leaves, _ in walked), strict=True)]
    nodes, _ = _numbered(walked[0][0], 0)
    return Aligned(members, nodes, columns, turns)


def _all_turns(members: Sequence[Member], counts: Sequence[Sequence[int]]) -> list[list[Count]]:
    """The functions of each loop's turns, of all that every member makes."""
    turns = []
    for number in range(len(counts[0])):
        values: dict[int, set[int]] = {}
        for member, each in zip(members, counts, strict=True):
            values.setdefault(member.program.ranks, set()).add(each[number])
        if any(len(each) > 1 for each in values.values()):
            raise Misfit("ranks that should do the same repeat a loop differently often")
        turns.append(_forms({ranks: next(iter(each)) for ranks, each in values.items()}))
    return turns


class _Unrolled(NamedTuple):
    """A sequence whose loops are those of its calls, which may have another partner or size in each turn.

    `kinds` are what is called at each place, `leaves` those of each turn of the innermost loop there.
    """

    shape: "_Shape"
    kinds: tuple[Hashable, ...]
    turns: list[int]
    leaves: list[list[int]]
    all_waited: bool


def _by_turns(members: Sequence[Member]) -> Aligned:
    """The same loops of calls, such as a message to each other rank: partners and sizes change by turn."""
    every = [member.unrolled for member in members]
    if len({(each.shape, each.kinds) for each in every}) > 1:
        lengths = sorted({member.program.sequence(member.rank).length for member in members})
        raise Misfit(
            f"ranks that should do the same have different numbers of operations ({lengths[0]:,} to "
            f"{lengths[-1]:,}), and their loops differ"
        )
    columns: list[list[int]] = []
    rows: dict[int, list[Turn]] = {}
    for column in range(len(every[0].kinds)):
        leaves = [each.leaves[column] for each in every]
        if all(len(set(each)) == 1 for each in leaves):
            columns.append([each[0] for each in leaves])
            continue
        columns.append([leaf for each in leaves for leaf in each])
        rows[column] = [
            Turn(member, turn, len(each)) for member, each in enumerate(leaves) for turn in range(len(each))
        ]
    nodes, _ = _numbered(every[0].shape, 0)
    turns = _all_turns(members, [each.turns for each in every])
    return Aligned(members, nodes, columns, turns, rows, every[0].all_waited)


def _unrolled(member: Member) -> _Unrolled:
    sequence = member.program.sequence(member.rank)
    if sequence.length > _LONGEST:
        raise Misfit(f"ranks that should do the same have different loops, of {sequence.length:,} operations")
    executed = sequence.order_cached.tolist()
    operations = [member.leaves[leaf] for leaf in executed]
    all_waited = [
        (each.request, () if each.kind in COLLECTIVES else each.gives) for each in operations
    ] == slots(operations)
    numbers: dict[Hashable, int] = {}
    of_leaf = [numbers.setdefault(_called(member, leaf, all_waited), len(numbers)) for leaf in member.leaves]
    nodes, items = fold(of_leaf[leaf] for leaf in executed)
    shape, _, turns = _walk(nodes)
    found: list[list[int]] = [[] for _ in items]
    rest = iter(executed)

    def go(body: Sequence[Node], turn: int) -> None:
        for node in body:
            if not isinstance(node, int):
                for each in range(node.turns):
                    go(node.body, each)
                continue
            leaf, known = next(rest), found[node]
            if turn == len(known):
                known.append(leaf)
            elif known[turn] != leaf:
                raise Misfit(
                    "partners or sizes change from one repetition of a loop within another to the next"
                )

    go(nodes, 0)
    kinds = list(numbers)
    return _Unrolled(shape, tuple(kinds[item] for item in items), turns, found, all_waited)


def slots(operations: Iterable[Operation]) -> list[tuple[int, tuple[int, ...]]]:
    """The request of each operation, and the requests that it waits for, if every wait is for all of them.

    That is how programs have a message to each other rank under way, as many as there are ranks.
    """
    begun = 0
    found: list[tuple[int, tuple[int, ...]]] = []
    for each in operations:
        if each.kind == Kind.WAIT:
            found.append((0, tuple(range(1, begun + 1))))
            begun = 0
        else:
            begun += each.form == Form.NONBLOCKING
            found.append((begun if each.form == Form.NONBLOCKING else 0, ()))
    return found


def _called(member: Member, leaf: Operation, all_waited: bool) -> Hashable:
    """What a loop's turns have in common: all but partners and sizes."""
    if all_waited:
        leaf = leaf._replace(request=0, gives=() if leaf.kind == Kind.WAIT else leaf.gives)
    own = () if leaf.kind in COLLECTIVES else (leaf.gives, leaf.takes)
    # Communicators that are made one after another are told apart.
    new = member.made.get(leaf.extra - 1) if leaf.kind == Kind.COMM else leaf.extra
    same = tuple(getattr(leaf, name) for name in SAME)
    return same, member.made.get(leaf.comm), member.program.sites[leaf.site], new, own


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


def written_out(
    nodes: Sequence[Node], apart: Container[int]
) -> tuple[tuple[Node, ...], list[tuple[int, Turn | None]]]:
    """The nodes with all turns of the loops that have leaves which are not the same in each, in their order.

    With the leaf that each of the new ones was, and the turn of those.
    """
    placed: list[tuple[int, Turn | None]] = []

    def go(part: Sequence[Node], turn: Turn | None) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in part:
            if isinstance(node, int):
                found.append(len(placed))
                placed.append((node, turn if node in apart else None))
            elif any(isinstance(each, int) and each in apart for each in node.body):
                for each in range(node.turns):
                    found += go(node.body, Turn(0, each, node.turns))
            else:
                found.append(Loop(node.turns, go(node.body, None)))
        return tuple(found)

    return go(nodes, None), placed
