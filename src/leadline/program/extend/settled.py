"""Programs without what chance decides: who was met, which request was completed first, and by which call.

Nor with what a root alone says, that its buffer was MPI_IN_PLACE: what ranks do is found from what is alike.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from leadline.program.build import ProgramBuilder
from leadline.program.model import (
    ANY_PEER,
    FREE_SOURCE,
    IN_PLACE,
    ROOTED,
    Completion,
    Kind,
    Operation,
    Program,
)

_TESTS = {
    Completion.TEST: Completion.WAIT,
    Completion.TESTALL: Completion.WAITALL,
    Completion.TESTANY: Completion.WAITANY,
    Completion.TESTSOME: Completion.WAITSOME,
}
# Calls that complete what is ready. Single tests are how a program polls its requests in turn.
_AS_THEY_COME = frozenset(
    {Completion.WAITANY, Completion.WAITSOME, Completion.TEST, Completion.TESTANY, Completion.TESTSOME}
)
_FROM_ANY = {Kind.RECV: "peer", Kind.PROBE: "peer", Kind.SENDRECV: "source"}


_Timed = tuple[Operation, float]  # with the computation before it, s


def settled(programs: Sequence[Program]) -> list[Program]:
    """The programs as if requests had been completed in the order of their slots, one by each call.

    That is for completions that follow one another with nothing between them, as in a loop over MPI_Waitany.
    A test that completed something is the wait for it where the programs have such waits, too: how often a
    program tests before it waits is chance as well. And so is who sent what was received of any source.
    """
    used = {mode for each in programs for kind, mode in each.calls if kind == Kind.WAIT}
    waits = {int(test): int(wait) for test, wait in _TESTS.items() if {test, wait} <= used}
    return [_settled(each, waits) for each in programs]


def _settled(program: Program, waits: Mapping[int, int]) -> Program:
    if not any(
        _plain(leaf, waits) != leaf or _by_chance(leaf, waits)
        for sequence in program.sequences
        for leaf in sequence.leaves
    ):
        return program
    builder = ProgramBuilder(program.ranks, measured=program.measured)
    builder.communicators, builder.sites = program.communicators, program.sites
    builder.regions, builder.recorded = program.regions, program.recorded
    builder.partial = set(program.partial)
    for rank in range(program.ranks):
        computed = program.stats(rank)["before_mean"].tolist()
        executed = ((_plain(each, waits), computed[leaf]) for leaf, each in program.operations(rank))
        found = list(_in_order(executed))
        builder.add(rank, [each for each, _ in found], before=[before for _, before in found])
    return builder.build()


def _by_chance(leaf: Operation, waits: Mapping[int, int]) -> bool:
    if leaf.kind == Kind.WAIT:
        return leaf.mode in _AS_THEY_COME or leaf.mode in waits
    return leaf.kind in _FROM_ANY and bool(leaf.free & FREE_SOURCE)


def _plain(operation: Operation, waits: Mapping[int, int]) -> Operation:
    if operation.kind == Kind.WAIT:
        return operation._replace(mode=waits.get(operation.mode, operation.mode))
    if operation.kind in _FROM_ANY and operation.free & FREE_SOURCE:
        met = {_FROM_ANY[Kind(operation.kind)]: ANY_PEER}
        return operation._replace(**met)  # type: ignore[arg-type]
    if operation.kind in ROOTED and operation.free & IN_PLACE:
        return operation._replace(free=operation.free & ~IN_PLACE)
    return operation


def _in_order(executed: Iterable[_Timed]) -> Iterator[_Timed]:
    """Completions in the order of their slots, where they follow one another.

    What was completed and is no message, such as a receive from MPI_PROC_NULL, is a NOP among them.
    """
    run: list[_Timed] = []
    for each in executed:
        if each[0].kind == Kind.NOP or (each[0].kind == Kind.WAIT and each[0].mode in _AS_THEY_COME):
            run.append(each)
            continue
        yield from _one_by_one(run)
        run.clear()
        yield each
    yield from _one_by_one(run)


def _one_by_one(run: Sequence[_Timed]) -> Iterator[_Timed]:
    yield from (each for each in run if each[0].kind == Kind.NOP)
    calls = [
        (operation, before if number == 0 else 0.0)
        for operation, before in run
        for number in range(len(operation.gives))
    ]
    completed = sorted((slot, _met(operation, slot)) for operation, _ in run for slot in operation.gives)
    for (operation, before), (slot, met) in zip(calls, completed, strict=True):
        yield operation._replace(gives=(slot,), takes=met), before


def _met(operation: Operation, slot: int) -> tuple[int, ...]:
    """What a persistent receive of any source met, of those that were completed."""
    takes = operation.takes
    return next((takes[at : at + 3] for at in range(0, len(takes), 3) if takes[at] == slot), ())
