"""More ranks: loops whose turns have other partners, such as a message to each rank, are written out."""

from typing import Any

import pytest

from leadline import program
from leadline.core.errors import UsageError
from leadline.program.extend import extend


def recursive_doubling(comm: program.Comm) -> Any:
    """An exchange with the rank of another bit in each turn, twice as much each time."""
    bit = 1
    while bit < comm.size:
        yield comm.sendrecv(comm.rank ^ bit, 8 * bit, comm.rank ^ bit)
        bit *= 2


def recursive_halving(comm: program.Comm) -> Any:
    """The highest bit first, half as much each time."""
    bit = comm.size // 2
    while bit:
        yield comm.sendrecv(comm.rank ^ bit, 256 * bit // comm.size, comm.rank ^ bit)
        bit //= 2


def dissemination(comm: program.Comm) -> Any:
    """Twice as far in each turn, and both ends under way."""
    far = 1
    while far < comm.size:
        receive = comm.irecv((comm.rank - far) % comm.size, 8)
        yield comm.wait_all([receive, comm.isend((comm.rank + far) % comm.size, 8)])
        far *= 2


def each_to_each(comm: program.Comm) -> Any:
    """A rank further in each turn."""
    for far in range(1, comm.size):
        yield comm.sendrecv((comm.rank + far) % comm.size, 64, (comm.rank - far) % comm.size)


def master_and_workers(comm: program.Comm) -> Any:
    """Work to each in turn, and answers from each, several times."""
    for _ in range(3):
        if comm.rank == 0:
            for worker in range(1, comm.size):
                yield comm.send(worker, 64)
            for worker in range(1, comm.size):
                yield comm.recv(worker, 8)
        else:
            yield comm.recv(0, 64)
            yield comm.compute("9 us")
            yield comm.send(0, 8)


def answers_under_way(comm: program.Comm) -> Any:
    """A message to each worker and one from each, all of them begun before the wait for all."""
    if comm.rank == 0:
        others = range(1, comm.size)
        receives = [comm.irecv(worker, 8) for worker in others]
        yield comm.wait_all(receives + [comm.isend(worker, 64) for worker in others])
    else:
        yield comm.recv(0, 64)
        yield comm.send(0, 8)


def all_under_way(comm: program.Comm) -> Any:
    """From each other rank and to each, twice."""
    others = range(1, comm.size)
    for _ in range(2):
        receives = [comm.irecv((comm.rank - far) % comm.size, 64) for far in others]
        yield comm.wait_all(receives + [comm.isend((comm.rank + far) % comm.size, 64) for far in others])


def waited_apart(comm: program.Comm) -> Any:
    """The last one that was begun is waited for first."""
    begun = [comm.irecv(far, 8) for far in range(comm.size) if far != comm.rank]
    begun += [comm.isend(far, 8) for far in range(comm.size) if far != comm.rank]
    for request in reversed(begun):
        yield comm.wait(request)


def every_root(comm: program.Comm) -> Any:
    """Each rank's broadcast."""
    for root in range(comm.size):
        yield comm.bcast(80, root=root)


def less_each_time(comm: program.Comm) -> Any:
    """Blocks a little smaller in each turn, as in an elimination."""
    for root in range(comm.size):
        yield comm.bcast(8 * (5040 - root), root=root)


def squares_away(comm: program.Comm) -> Any:
    """1, 4 and 9 ranks further: no rule that is known."""
    for turn in range(1, comm.size):
        yield comm.sendrecv((comm.rank + turn**2) % comm.size, 8, (comm.rank - turn**2) % comm.size)


def recorded(code: Any, sizes: tuple[int, ...]) -> list[program.Program]:
    """The program at several numbers of ranks."""
    return [program.evaluate(code, ranks) for ranks in sizes]


@pytest.mark.parametrize(
    ("code", "sizes", "ranks"),
    [
        (recursive_doubling, (4, 8, 16), 32),  # six turns, the root rounded up, need 64 ranks
        (recursive_doubling, (8, 16, 32, 64), 512),
        (recursive_halving, (8, 16, 32, 64), 256),
        (dissemination, (8, 27, 64), 100),
        (each_to_each, (8, 27, 64), 100),
        (master_and_workers, (4, 8, 16), 33),
        (every_root, (6, 9, 12), 25),
        (answers_under_way, (8, 27, 64), 100),
        (all_under_way, (4, 8, 16), 33),
    ],
)
def test_partners_that_change_by_turn_are_those_of_the_new_program(
    code: Any, sizes: tuple[int, ...], ranks: int
) -> None:
    """Operation for operation: all were refused, as their loops differ."""
    found, true = extend(recorded(code, sizes), ranks).program, program.evaluate(code, ranks)
    for rank in range(ranks):
        assert [each for _, each in found.operations(rank)] == [each for _, each in true.operations(rank)]


@pytest.mark.parametrize(
    ("code", "sizes", "ranks", "why"),
    [
        (squares_away, (8, 27, 64), 100, "no rule is known"),
        (less_each_time, (4, 9, 16, 25), 36, "change from turn to turn"),
        (waited_apart, (4, 8, 16), 32, "regular form"),
        (recursive_doubling, (2, 4, 8), 16, "record more ranks"),  # 1, 2 and 4 are too few to tell
        (recursive_doubling, (8, 16, 32), 64, "recordings allow both"),
        (recursive_doubling, (8, 16, 32, 64), 100, "recordings allow both"),
        (recursive_halving, (8, 16, 32, 64), 512, "no whole number"),
        (each_to_each, (8, 27, 64), 2500, "4,194,304"),
    ],
)
def test_partners_that_change_by_turn_are_refused_where_they_are_not_known(
    code: Any, sizes: tuple[int, ...], ranks: int, why: str
) -> None:
    """By too few turns, by no rule, or by one that leads to no rank."""
    with pytest.raises(UsageError, match=why):
        extend(recorded(code, sizes), ranks)


async def rows_and_columns(comm: program.Comm) -> Any:
    """A product of matrices: each rank of a row is its root once, and so is each of a column."""
    grid = comm.grid(2)
    place = grid.coordinates
    row = await comm.split(place[0], place[1])
    column = await comm.split(place[1], place[0])
    assert row
    assert column
    for turn in range(grid.lengths[1]):
        await row.bcast(80, root=turn)
        await column.bcast(40, root=turn % column.size)


def in_stages(comm: program.Comm) -> Any:
    """As many stages as there are ranks in a row, one of them without a receive: of two there is no loop."""
    grid = comm.grid(2)
    for axis in range(2):
        for stage in range(grid.lengths[1]):
            if stage:
                yield comm.recv(grid.shift(axis, -1), 80, tag=axis)
            if stage + 1 < grid.lengths[1]:
                yield comm.send(grid.shift(axis, 1), 80, tag=axis)


def skewed(comm: program.Comm) -> Any:
    """Rows are moved by their number, columns by theirs; then both in as many steps."""
    grid = comm.grid(2)
    own = grid.coordinates
    yield comm.sendrecv(grid.shift(1, -own[0]), 80, grid.shift(1, own[0]))
    yield comm.sendrecv(grid.shift(0, -own[1]), 80, grid.shift(0, own[1]))
    for _ in range(grid.lengths[1]):
        yield comm.sendrecv(grid.shift(1, -1), 80, grid.shift(1, 1))


async def onto_the_diagonal(comm: program.Comm) -> Any:
    """Sums of each row go to the rank on the diagonal, which gives them to its column."""
    grid = comm.grid(2)
    own = grid.coordinates
    row, column = await comm.split(own[0], own[1]), await comm.split(own[1], own[0])
    assert row
    assert column
    for _ in range(3):
        await row.reduce(80, root=own[0])
        await column.bcast(80, root=own[1])


def dealt_out(comm: program.Comm) -> Any:
    """Rows of a matrix belong to the ranks in turn, two or three to each."""
    for row in range(2 * comm.size + 1):
        yield comm.bcast(64, root=row % comm.size)


def around_a_ring(comm: program.Comm) -> Any:
    """As many steps as there are other ranks: of 4, 8 and 12 also 4 times the logarithm less 5."""
    for _ in range(comm.size - 1):
        yield comm.sendrecv((comm.rank + 1) % comm.size, 80, (comm.rank - 1) % comm.size)


@pytest.mark.parametrize(
    ("code", "sizes", "ranks"),
    [
        (rows_and_columns, (16, 20, 36), 49),
        (in_stages, (4, 9, 16, 25, 36), 49),
        (skewed, (9, 16, 25, 36), 49),
        (onto_the_diagonal, (9, 16, 25), 36),
        (dealt_out, (6, 9, 14), 20),
        (around_a_ring, (4, 8, 12), 16),
    ],
)
def test_turns_by_the_place_in_a_grid_are_those_of_the_new_program(
    code: Any, sizes: tuple[int, ...], ranks: int
) -> None:
    """As products of matrices and sweeps have them; all were refused."""
    found, true = extend(recorded(code, sizes), ranks).program, program.evaluate(code, ranks)
    for rank in range(ranks):
        one, two = (
            [
                (each._replace(comm=0, extra=0), tuple(made.communicators[each.comm].members))
                for _, each in made.operations(rank)
            ]
            for made in (found, true)
        )
        assert one == two
