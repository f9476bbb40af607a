"""Sequences of ranks side by side: which operations of different ranks are the same place of the code."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.program.extend.forms import LEAST, Count, turns_of
from leadline.program.extend.members import TOO_FEW, Member, Misfit
from leadline.program.extend.unrolled import alike, numbered, walk
from leadline.program.fold import fold
from leadline.program.folded import Loop, Node


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
    walked = [walk(member.program.sequence(member.rank).nodes) for member in members]
    if len({shape for shape, _, _ in walked}) > 1:
        return _by_turns(members)
    turns = _all_turns(members, [counts for _, _, counts in walked])
    columns = [list(each) for each in zip(*(leaves for _, leaves, _ in walked), strict=True)]
    nodes, _ = numbered(walked[0][0], 0)
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


def _by_turns(members: Sequence[Member]) -> Aligned:
    """The same loops of calls, such as a message to each other rank: partners and sizes change by turn."""
    every = alike(members)
    columns: list[list[int]] = []
    rows: dict[int, list[Turn]] = {}
    for column in range(len(every[0].leaves)):
        leaves = [each.leaves[column] for each in every]
        if all(len(set(each)) == 1 for each in leaves):
            columns.append([each[0] for each in leaves])
            continue
        columns.append([leaf for each in leaves for leaf in each])
        rows[column] = [
            Turn(member, turn, len(each)) for member, each in enumerate(leaves) for turn in range(len(each))
        ]
    nodes, _ = numbered(every[0].shape, 0)
    turns = _all_turns(members, [each.turns for each in every])
    return Aligned(members, nodes, columns, turns, rows, every[0].all_waited)


def _forms(values: dict[int, int]) -> list[Count]:
    """The functions of the ranks that give a loop's turns. Raises Misfit where there is none."""
    forms = turns_of(values)
    if not forms:
        told = ", ".join(f"{count} at {ranks} ranks" for ranks, count in sorted(values.items()))
        why = "no function of the ranks that is known" if len(values) >= LEAST else TOO_FEW
        raise Misfit(f"a loop is repeated {told}: {why}")
    return forms


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
