"""More ranks: partners far away are right, or refused where the recordings allow several."""

from collections.abc import Callable
from math import isqrt
from typing import Any

import pytest

from leadline import program
from leadline.core.errors import UsageError
from leadline.program.extend import extend
from leadline.program.model import IN_PLACE, Kind


def away(distance: Callable[[int], int]) -> Any:
    """A message to the rank that is so much further, by a function of the ranks."""

    def code(comm: program.Comm) -> Any:
        far = distance(comm.size)
        yield comm.sendrecv((comm.rank + far) % comm.size, 100, (comm.rank - far) % comm.size)

    return code


def recorded(code: Any, sizes: tuple[int, ...]) -> list[program.Program]:
    """The program at several numbers of ranks."""
    return [program.evaluate(code, ranks) for ranks in sizes]


@pytest.mark.parametrize(
    ("distance", "sizes", "ranks"),
    [
        (lambda ranks: ranks // 2, (8, 12, 20), 32),
        (lambda ranks: ranks // 3, (8, 12, 24), 32),
        (lambda ranks: ranks // 4, (8, 12, 24), 32),
        (lambda ranks: 2 * ranks // 3, (8, 12, 24), 32),
        (lambda ranks: ranks // 2, (7, 12, 15), 33),
        (lambda ranks: -(-ranks // 2), (7, 12, 15), 33),
        (lambda ranks: 5, (8, 12, 18), 64),
        (lambda ranks: ranks - 5, (8, 12, 18), 64),
        (lambda ranks: 1, (8, 12, 16), 20),
        (lambda ranks: 1, (4, 8, 16), 32),
        (lambda ranks: ranks - 2, (8, 16, 32), 64),
    ],
)
def test_partners_far_away_are_those_of_the_new_program(
    distance: Callable[[int], int], sizes: tuple[int, ...], ranks: int
) -> None:
    """Operation for operation: what is the same in all recordings stays, and parts of the ranks grow."""
    code = away(distance)
    found, true = extend(recorded(code, sizes), ranks).program, program.evaluate(code, ranks)
    for rank in range(ranks):
        assert [each for _, each in found.operations(rank)] == [each for _, each in true.operations(rank)]


@pytest.mark.parametrize(
    ("distance", "sizes", "ranks", "why"),
    [
        # One step along the first axis of grids of 2x4, 3x4 and 4x4: 8 ranks further of 4x8, it was said.
        (lambda ranks: 4, (8, 12, 16), 32, "a grid of 32 or of 4x8"),
        (lambda ranks: ranks - 4, (8, 12, 16), 32, "a grid of 32 or of 4x8"),
        # Two steps along the first axis of grids of 4x2, 4x3 and 4x4.
        (lambda ranks: ranks // 2, (8, 12, 16), 32, "a grid of 8x4"),
        # 2, 3 and 4 are a quarter, a fifth rounded up, and the root.
        (lambda ranks: ranks // 4, (8, 12, 16), 32, "the recordings allow both"),
        (isqrt, (6, 12, 18), 36, "the recordings allow both"),
        # 2, 3 and 3 are a quarter rounded up, and a step along grids of 3x2, 3x3 and 4x3.
        (lambda ranks: -(-ranks // 4), (6, 9, 12), 18, "the recordings"),
        # Rounded down and up are the same of even numbers alone.
        (lambda ranks: ranks // 2, (8, 12, 16), 25, "may be 12 or 13"),
    ],
)
def test_partners_that_two_rules_give_are_refused_where_these_differ(
    distance: Callable[[int], int], sizes: tuple[int, ...], ranks: int, why: str
) -> None:
    """By a grid of other dimensions as well: the first that fitted was taken."""
    with pytest.raises(UsageError, match=why):
        extend(recorded(away(distance), sizes), ranks)


@pytest.mark.parametrize(("grid", "step"), [((32,), 4), ((4, 8), 8)])
def test_a_grid_decides_what_a_step_is(grid: tuple[int, ...], step: int) -> None:
    """Of a program whose recordings fit a line of ranks and a plane."""
    found = extend(recorded(away(lambda ranks: 4), (8, 12, 16)), 32, grid).program
    assert [next(iter(found.operations(rank)))[1].peer for rank in range(32)] == [
        (rank + step) % 32 for rank in range(32)
    ]


def test_rows_of_the_same_length_in_all_recordings_do_not_decide() -> None:
    """Two steps in rows of four lead to the rank with another bit, at any number of ranks."""

    def rows(comm: program.Comm) -> Any:
        """Of a grid as near to a square as can be: 4 in a row of 8, 12 and 16 ranks."""
        width = comm.grid(2).lengths[1]
        first, place = comm.rank - comm.rank % width, comm.rank % width
        yield comm.sendrecv(first + (place + 2) % width, 100, first + (place - 2) % width)

    with pytest.raises(UsageError, match="the recordings allow both"):
        extend(recorded(rows, (8, 12, 16)), 32)


def test_a_halo_of_squares_needs_no_grid_named() -> None:
    """Rows and columns together are those of no other grid; columns alone are 2, 3 and 4 ranks further."""

    def halo(comm: program.Comm) -> Any:
        """Both ways in a plane that closes on itself."""
        grid = comm.grid(2)
        for axis in range(2):
            yield comm.sendrecv(grid.shift(axis, 1), 100, grid.shift(axis, -1))

    found, true = extend(recorded(halo, (4, 9, 16)), 36).program, program.evaluate(halo, 36)
    for rank in range(36):
        assert [each for _, each in found.operations(rank)] == [each for _, each in true.operations(rank)]


def test_a_root_in_place_does_what_the_others_do() -> None:
    """It alone says so, and the ranks are alike all the same; what all ranks say stays."""

    def code(comm: program.Comm, told: bool = True) -> Any:
        yield comm.reduce(800, root=0)
        yield comm.allreduce(800)
        *others, reduced, whole = comm.owner.operations
        free = IN_PLACE if told and comm.rank == 0 else 0
        comm.owner.operations = [*others, reduced._replace(free=free), whole._replace(free=IN_PLACE)]

    found = extend(recorded(code, (5, 7, 8)), 12).program
    true = program.evaluate(code, 12, told=False)
    for rank in range(12):
        assert [each for _, each in found.operations(rank)] == [each for _, each in true.operations(rank)]
    assert {leaf.free for leaf in found.leaves(0) if leaf.kind == Kind.ALLREDUCE} == {IN_PLACE}
