"""More ranks: what recordings have and no rule decides, such as the order of completion."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from leadline import program
from leadline.program.build import ProgramBuilder
from leadline.program.extend import extend
from leadline.program.model import ANY_PEER, Communicator, Completion, Construction, Form, Kind, Operation

Code = Callable[[int, int], Iterator[Operation]]  # the operations of a rank of so many


def built(code: Code, ranks: int, *made: Communicator) -> program.Program:
    """A program as recordings are: with calls that no written program has."""
    builder = ProgramBuilder(ranks)
    builder.communicators += made
    for rank in range(ranks):
        builder.add(rank, code(rank, ranks))
    return builder.build()


def executed(found: program.Program, rank: int) -> list[Operation]:
    """A rank's operations."""
    return [operation for _, operation in found.operations(rank)]


def extended(code: Code, sizes: tuple[int, ...], ranks: int) -> program.Program:
    """From programs of several sizes."""
    return extend([built(code, each) for each in sizes], ranks).program


def around(rank: int, ranks: int) -> Iterator[Operation]:
    """Two receives and two sends are begun, in a ring."""
    for request, (kind, step) in enumerate(
        ((Kind.RECV, -1), (Kind.RECV, 1), (Kind.SEND, 1), (Kind.SEND, -1)), 1
    ):
        yield Operation(
            int(kind), peer=(rank + step) % ranks, bytes=80, request=request, form=Form.NONBLOCKING
        )


def completed(mode: Completion, *requests: int) -> Operation:
    """By such a call."""
    return Operation(int(Kind.WAIT), mode=int(mode), gives=requests)


def any_order(rank: int, ranks: int) -> Iterator[Operation]:
    """A loop over MPI_Waitany, in another order each time."""
    chance = random.Random(100 * rank + ranks)
    for _ in range(5):
        yield from around(rank, ranks)
        for request in chance.sample((1, 2, 3, 4), 4):
            yield completed(Completion.WAITANY, request)


def in_order(rank: int, ranks: int) -> Iterator[Operation]:
    """The same in the order of the requests."""
    for _ in range(5):
        yield from around(rank, ranks)
        yield from (completed(Completion.WAITANY, request) for request in (1, 2, 3, 4))


def some(rank: int, ranks: int) -> Iterator[Operation]:
    """A loop over MPI_Waitsome, with as many at once as are ready."""
    chance = random.Random(100 * rank + ranks)
    for _ in range(5):
        yield from around(rank, ranks)
        cut = chance.randint(1, 3)
        order = chance.sample((1, 2, 3, 4), 4)
        yield completed(Completion.WAITSOME, *order[:cut])
        yield completed(Completion.WAITSOME, *order[cut:])


@pytest.mark.parametrize(("code", "mode"), [(any_order, Completion.WAITANY), (some, Completion.WAITSOME)])
def test_the_order_of_completion_is_chance(code: Code, mode: Completion) -> None:
    """Requests are completed in the order of their slots, one by each call: such programs were refused."""
    found = extended(code, (6, 9, 14), 20)
    for rank in range(20):
        assert executed(found, rank) == [
            each._replace(mode=int(mode)) if each.kind == Kind.WAIT else each for each in in_order(rank, 20)
        ]


def test_what_a_test_completes_is_waited_for() -> None:
    """Whether a test came late enough is chance, too."""

    def polled(rank: int, ranks: int) -> Iterator[Operation]:
        chance = random.Random(100 * rank + ranks)
        for _ in range(5):
            yield from around(rank, ranks)
            mode = Completion.TESTALL if chance.random() < 0.5 else Completion.WAITALL
            yield completed(mode, 1, 2, 3, 4)

    found = extended(polled, (6, 9, 14), 20)
    modes = {each.mode for rank in range(20) for each in executed(found, rank) if each.kind == Kind.WAIT}
    assert modes == {Completion.WAITALL}


def test_what_is_no_message_is_completed_in_any_order_too() -> None:
    """A receive from MPI_PROC_NULL, at the ends of a line."""

    def line(rank: int, ranks: int) -> Iterator[Operation]:
        chance = random.Random(100 * rank + ranks)
        for _ in range(3):
            peers = [peer for peer in (rank - 1, rank + 1) if 0 <= peer < ranks]
            for request, peer in enumerate(peers, 1):
                yield Operation(
                    int(Kind.RECV), peer=peer, bytes=8, request=request, form=int(Form.NONBLOCKING)
                )
            for peer in peers:
                yield Operation(int(Kind.SEND), peer=peer, bytes=8)
            ends = [completed(Completion.WAITANY, request) for request in range(1, len(peers) + 1)]
            ends += [Operation(int(Kind.NOP))] * (2 - len(peers))
            yield from chance.sample(ends, len(ends))

    found = extended(line, (6, 9, 14), 20)
    assert [Kind(each.kind).name for each in executed(found, 0)[:4]] == ["RECV", "SEND", "NOP", "WAIT"]


@pytest.mark.parametrize("construction", [Construction.CART, Construction.GRAPH, Construction.SPLIT])
def test_a_communicator_of_all_ranks_stays_one(construction: Construction) -> None:
    """It might have been the first 16 ranks of 24, it was said of each program with MPI_Cart_create."""

    def grid(rank: int, ranks: int) -> Iterator[Operation]:
        yield Operation(int(Kind.COMM), extra=2, mode=int(construction))
        yield Operation(int(Kind.ALLREDUCE), comm=1, bytes=8)

    def of(ranks: int) -> program.Program:
        return built(grid, ranks, Communicator(range(ranks), int(construction)))

    found = extend([of(8), of(12), of(16)], 24).program
    assert tuple(found.communicators[1].members) == tuple(range(24))
    assert executed(found, 5) == executed(of(24), 5)


def test_answers_of_any_worker_come_in_any_order() -> None:
    """A master that deals out five tasks to each in turn; whose answers it took differs from turn to turn."""

    def farm(rank: int, ranks: int) -> Iterator[Operation]:
        chance = random.Random(ranks)
        if rank:
            for _ in range(5):
                yield Operation(int(Kind.RECV), bytes=64)
                yield Operation(int(Kind.SEND), bytes=8, tag=2)
            return
        workers = [worker for _ in range(5) for worker in range(1, ranks)]
        yield from (Operation(int(Kind.SEND), peer=worker, bytes=64) for worker in workers)
        for worker in chance.sample(workers, len(workers)):
            yield Operation(int(Kind.RECV), peer=worker, bytes=8, tag=2, free=1)

    found = extended(farm, (5, 8, 16), 32)
    own = executed(found, 0)
    assert [each.peer for each in own if each.kind == Kind.SEND] == 5 * list(range(1, 32))
    assert [each.peer for each in own if each.kind == Kind.RECV] == 155 * [ANY_PEER]


def test_tags_may_count_turns_or_name_ranks() -> None:
    """A step's number, and the sender's: loops were not seen as such, and tags had to be the same for all."""

    def steps(comm: program.Comm) -> Any:
        after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        for step in range(comm.size - 1):
            yield comm.sendrecv(after, 64, before, tag=10 + step)
        received = comm.irecv(before, 8, tag=100 + before)
        yield comm.send(after, 8, tag=100 + comm.rank)
        yield comm.wait(received)

    found = extend([program.evaluate(steps, ranks) for ranks in (5, 8, 14)], 20).program
    true = program.evaluate(steps, 20)
    assert all(executed(found, rank) == executed(true, rank) for rank in range(20))
