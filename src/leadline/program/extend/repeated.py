"""How often the loops of ranks that do the same are repeated at another number of ranks."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from leadline.program.extend.align import with_turns, written_out
from leadline.program.extend.fit import Group
from leadline.program.extend.forms import Count, told_apart
from leadline.program.extend.grids import Lengths
from leadline.program.extend.members import Ambiguous, Misfit
from leadline.program.extend.peers import ByTurn
from leadline.program.extend.sized import Column
from leadline.program.extend.unrolled import slots
from leadline.program.folded import Folded, Node
from leadline.program.model import COLLECTIVES


def repeated(group: Group, rank: int, lengths: Lengths, sides: Lengths) -> Group:
    """The group of a new rank in a grid of such lengths: with its loops' turns, written out if they differ.

    `sides` are the lengths as laws count them. Raises Misfit where the recordings do not say how many turns.
    """
    aligned = group.aligned
    if not aligned.turns:
        return group
    ranks = prod(lengths)
    allowed = _allowed(group, rank, lengths)
    nodes = with_turns(
        aligned.nodes,
        [
            _turns([form.in_grid(sides) for form in forms], ranks, allowed.get(loop))
            for loop, forms in enumerate(aligned.turns)
        ],
    )
    if not aligned.turns_of and not aligned.all_waited:
        return replace(group, aligned=replace(aligned, nodes=nodes))
    nodes, placed = written_out(nodes, aligned.turns_of)
    columns = [replace(group.columns[column], turn=turn) for column, turn in placed]
    if aligned.all_waited:
        columns = _with_slots(nodes, columns)
    return Group(replace(aligned, nodes=nodes), columns)


def _with_slots(nodes: tuple[Node, ...], columns: list[Column]) -> list[Column]:
    """The columns with their requests, where each wait is for all that were begun."""
    operations = tuple(column.operation for column in columns)
    executed = Folded(operations, nodes).order().tolist()
    found: dict[int, tuple[int, tuple[int, ...]]] = {}
    for place, own in zip(executed, slots(operations[place] for place in executed), strict=True):
        if found.setdefault(place, own) != own:
            raise Misfit(f"the requests of {columns[place].where} change from turn to turn")
    for place, (request, waited) in found.items():
        operation = operations[place]
        if operation.kind not in COLLECTIVES:
            operation = operation._replace(gives=waited or operation.gives)
        columns[place] = replace(columns[place], operation=operation._replace(request=request))
    return columns


def _allowed(group: Group, rank: int, lengths: Lengths) -> dict[int, range]:
    """Of loops whose turns lead from rank to rank: how many turns there may be.

    As many as there are bits for, or as there are ranks, where it came to each rank of all recordings.
    """
    found: dict[int, range] = {}
    sizes = [prod(lengths)]
    sizes += [column.makes[0].place(rank, lengths).size for column in group.columns if column.makes]
    loops = 0

    def go(part: Sequence[Node], loop: int) -> None:
        nonlocal loops
        for node in part:
            if not isinstance(node, int):
                loops += 1
                go(node.body, loops - 1)
                continue
            column = group.columns[node]
            by_turn = [one for each in column.partners.values() for one in each if isinstance(one, ByTurn)]
            if column.turn and not column.communicator and any(one.bits for one in by_turn):
                found[loop] = range((sizes[0] - 1).bit_length() + 1)
            if column.reaches:
                turns = column.reaches.reaches(sizes[column.communicator])
                found[loop] = range(turns, turns + 1)

    go(group.aligned.nodes, -1)
    return found


def _turns(forms: Sequence[Count], ranks: int, allowed: range | None) -> int:
    """How often a loop is repeated. Raises Misfit where functions that the recordings allow differ."""
    if not any(form.sure for form in forms):
        raise Ambiguous(
            "how often a loop is repeated has two values only, which several functions may give; "
            "record another number of ranks"
        )
    told = told_apart(forms, ranks)
    told = {turns: name for turns, name in told.items() if allowed is None or turns in allowed} or told
    if len(told) > 1:
        (one, name), (other, another) = list(told.items())[:2]
        raise Ambiguous(
            f"a loop may be repeated {one:,} times at {ranks:,} ranks ({name}) or {other:,} ({another}): the "
            "recordings allow both; record another number of ranks"
        )
    return next(iter(told))
