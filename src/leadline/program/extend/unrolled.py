"""Sequences in the loops of their calls, which may have another partner, size or tag in each turn."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from leadline.program.extend.members import SAME, Member, Misfit
from leadline.program.fold import fold
from leadline.program.folded import Loop, Node
from leadline.program.model import COLLECTIVES, Form, Kind, Operation

_LONGEST = 1 << 16  # operations of a rank whose loops are looked for without its partners: each is looked at

Shape = tuple[object, ...]


class Unrolled(NamedTuple):
    """A sequence in loops: the `leaves` at each place of the code, one of each turn of the loop there."""

    shape: Shape
    turns: list[int]
    leaves: list[list[int]]
    all_waited: bool


class _Loops(NamedTuple):
    """Nodes, and what is called at each of their leaves."""

    nodes: tuple[Node, ...]
    calls: tuple[Hashable, ...]


class _Called(NamedTuple):
    """What a member calls: of each operation the leaf and what a loop's turns have in common."""

    leaves: list[int]
    calls: list[Hashable]
    all_waited: bool


def alike(members: Sequence[Member]) -> list[Unrolled]:
    """The members' sequences in the loops of the longest one, in which all may be written.

    Of few ranks a loop may have one turn, which is seen in larger recordings only. Raises Misfit where there
    are no such loops.
    """
    lengths = sorted({member.program.sequence(member.rank).length for member in members})
    if lengths[-1] > _LONGEST:
        raise Misfit(f"ranks that should do the same have different loops, of {lengths[-1]:,} operations")
    longest = max(
        range(len(members)), key=lambda each: members[each].program.sequence(members[each].rank).length
    )
    for tags in (False, True):
        loops = _loops(members[longest], tags=tags)
        found = [written for each in members if (written := _written_in(each, loops, tags=tags))]
        if len(found) == len(members):
            return found
    raise Misfit(
        f"ranks that should do the same have different numbers of operations ({lengths[0]:,} to "
        f"{lengths[-1]:,}), and their loops differ"
    )


def _loops(member: Member, *, tags: bool) -> _Loops:
    """The loops of a member."""
    if ("loops", tags) not in member.remembered:
        numbers: dict[Hashable, int] = {}
        called = _called(member, tags=tags)
        nodes, items = fold(numbers.setdefault(call, len(numbers)) for call in called.calls)
        names = list(numbers)
        member.remembered["loops", tags] = _Loops(nodes, tuple(names[item] for item in items))
    found: _Loops = member.remembered["loops", tags]
    return found


def _written_in(member: Member, loops: _Loops, *, tags: bool) -> Unrolled | None:
    """A member in such loops; None where it is not written in them."""
    known = "written", loops, tags
    if known not in member.remembered:
        member.remembered[known] = _written(_called(member, tags=tags), loops.nodes, loops.calls)
    found: Unrolled | None = member.remembered[known]
    return found


def _called(member: Member, *, tags: bool) -> _Called:
    if ("called", tags) not in member.remembered:
        member.remembered["called", tags] = _calls(member, tags=tags)
    found: _Called = member.remembered["called", tags]
    return found


def _calls(member: Member, *, tags: bool) -> _Called:
    """What a member calls, whatever the partners and sizes; where `tags` may differ, whatever these are."""
    executed = member.program.sequence(member.rank).order_cached.tolist()
    operations = [member.leaves[leaf] for leaf in executed]
    all_waited = [
        (each.request, () if each.kind in COLLECTIVES else each.gives) for each in operations
    ] == slots(operations)
    calls = [_call(member, leaf, all_waited=all_waited, tags=tags) for leaf in member.leaves]
    return _Called(executed, [calls[leaf] for leaf in executed], all_waited)


def _call(member: Member, leaf: Operation, *, all_waited: bool, tags: bool) -> Hashable:
    """What a loop's turns have in common: all but partners and sizes, and tags where these may differ."""
    if all_waited:
        leaf = leaf._replace(request=0, gives=() if leaf.kind == Kind.WAIT else leaf.gives)
    if tags:
        leaf = leaf._replace(tag=0)
    own = () if leaf.kind in COLLECTIVES else (leaf.gives, leaf.takes)
    # Communicators that are made one after another are told apart.
    new = member.made.get(leaf.extra - 1) if leaf.kind == Kind.COMM else leaf.extra
    same = tuple(getattr(leaf, name) for name in SAME)
    return same, member.made.get(leaf.comm), member.program.sites[leaf.site], new, own


def _written(called: _Called, nodes: Sequence[Node], calls: Sequence[Hashable]) -> Unrolled | None:
    """What a member calls in the loops of `nodes`, whose leaves are `calls`; None where it is not so."""
    turns = _matched(nodes, calls, called.calls)
    if turns is None:
        return None
    found: list[list[int]] = [[] for _ in calls]
    rest = iter(called.leaves)

    def go(body: Sequence[Node], turn: int, loop: int) -> int:
        for node in body:
            if isinstance(node, int):
                _keep(found[node], turn, next(rest))
                continue
            after = loop + 1
            for each in range(turns[loop]):
                after = go(node.body, each, loop + 1)
            loop = after
        return loop

    go(nodes, 0, 0)
    return Unrolled(walk(nodes)[0], turns, found, called.all_waited)


def _keep(known: list[int], turn: int, leaf: int) -> None:
    if turn == len(known):
        known.append(leaf)
    elif known[turn] != leaf:
        raise Misfit("partners or sizes change from one repetition of a loop within another to the next")


class _Loop(NamedTuple):
    number: int
    body: "tuple[int | _Loop, ...]"


_Match = tuple[int, Mapping[int, int]]  # how far it came, and the turns of loops


def _matched(
    nodes: Sequence[Node], calls: Sequence[Hashable], executed: Sequence[Hashable]
) -> list[int] | None:
    """The turns of each loop, one or more, in which the loops say what was executed; None if they do not."""
    loops = 0

    def with_numbers(body: Sequence[Node]) -> "tuple[int | _Loop, ...]":
        nonlocal loops
        found: list[int | _Loop] = []
        for node in body:
            if isinstance(node, int):
                found.append(node)
                continue
            loops += 1
            number = loops - 1
            found.append(_Loop(number, with_numbers(node.body)))
        return tuple(found)

    body = (*with_numbers(nodes), len(calls))  # what is no call ends both
    found = _match(body, [*calls, None], [*executed, None], 0, {})
    return None if found is None else [found[1][number] for number in range(loops)]


def _match(
    body: "Sequence[int | _Loop]",
    calls: Sequence[Hashable],
    executed: Sequence[Hashable],
    at: int,
    turns: Mapping[int, int],
) -> _Match | None:
    """As many turns of each loop as can be; a loop within another has the same turns each time."""
    for place, node in enumerate(body):
        if isinstance(node, int):
            if at >= len(executed) or executed[at] != calls[node]:
                return None
            at += 1
            continue
        ends: list[_Match] = []
        known = turns.get(node.number)
        while known is None or len(ends) < known:
            found = _match(node.body, calls, executed, *(ends[-1] if ends else (at, turns)))
            if found is None:
                break
            ends.append(found)
        for count in (known,) if known else range(len(ends), 0, -1):
            if count > len(ends):
                return None
            after, inner = ends[count - 1]
            rest = _match(body[place + 1 :], calls, executed, after, {**inner, node.number: count})
            if rest is not None:
                return rest
        return None
    return at, turns


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


def walk(nodes: Sequence[Node]) -> tuple[Shape, list[int], list[int]]:
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
        inner, more, counts = walk(node.body)
        shape.append(inner)
        leaves += more
        turns += counts
    return tuple(shape), leaves, turns


def numbered(shape: Shape, first: int) -> tuple[tuple[Node, ...], int]:
    """Nodes of a nesting, leaves numbered as they stand; loops of one turn, until theirs are known."""
    nodes: list[Node] = []
    for each in shape:
        if isinstance(each, tuple):
            body, first = numbered(each, first)
            nodes.append(Loop(1, body))
        else:
            nodes.append(first)
            first += 1
    return tuple(nodes), first
