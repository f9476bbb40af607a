"""More ranks: a whole that is dealt out among ranks, with what the division leaves over."""

import contextlib
from collections.abc import Callable
from math import isqrt
from typing import Any

import pytest

from leadline import program
from leadline.core.errors import UsageError
from leadline.program.extend import extend

Share = Callable[[int, int], int]  # what a rank has, by the number of ranks and its own


def first_have_more(things: int) -> Share:
    """As most programs deal out what a division leaves over."""
    return lambda ranks, rank: things // ranks + (rank < things % ranks)


def last_has_rest(things: int) -> Share:
    """All that is left over is the last one's."""
    return lambda ranks, rank: things // ranks + (things % ranks if rank == ranks - 1 else 0)


def by_bounds(things: int) -> Share:
    """Bounds are rounded down."""
    return lambda ranks, rank: (rank + 1) * things // ranks - rank * things // ranks


def last_has_one_more(things: int) -> Share:
    """Not what is left over: the last point of a grid."""
    return lambda ranks, rank: things // ranks + (rank == ranks - 1)


def gathered(share: Share) -> Any:
    """To all ranks, and to the first one; and a message of its own part to the next rank."""

    def code(comm: program.Comm) -> Any:
        blocks = {rank: 8 * share(comm.size, rank) for rank in range(comm.size)}
        for _ in range(3):
            yield comm.allgatherv(blocks)
        yield comm.scatterv(blocks)
        if comm.rank + 1 < comm.size:
            yield comm.send(comm.rank + 1, blocks[comm.rank])
        if comm.rank:
            yield comm.recv(comm.rank - 1, blocks[comm.rank - 1])
        yield comm.gatherv(blocks)

    return code


def recorded(code: Any, sizes: tuple[int, ...]) -> list[program.Program]:
    """The program at several numbers of ranks."""
    return [program.evaluate(code, ranks) for ranks in sizes]


def same(code: Any, sizes: tuple[int, ...], ranks: int) -> bool:
    """Whether the extended program is the one of that size, operation for operation."""
    found, true = extend(recorded(code, sizes), ranks).program, program.evaluate(code, ranks)
    return all(
        [each for _, each in found.operations(rank)] == [each for _, each in true.operations(rank)]
        for rank in range(ranks)
    )


@pytest.mark.parametrize("deal", [first_have_more, last_has_rest, by_bounds])
@pytest.mark.parametrize(("sizes", "ranks"), [((6, 9, 14), 25), ((7, 12, 16), 32)])
def test_blocks_with_what_a_division_leaves_over(
    deal: Callable[[int], Share], sizes: tuple[int, ...], ranks: int
) -> None:
    """Operation for operation: blocks of each rank were refused."""
    assert same(gathered(deal(1003)), sizes, ranks)


def test_what_is_no_division_is_not_taken_for_one() -> None:
    """One thing more of the last rank is what a division by the ranks before leaves over, too."""
    with pytest.raises(UsageError, match=r"blocks of a|no power"):
        extend(recorded(gathered(lambda ranks, rank: 100 + (rank * 7 + ranks) % 5), (6, 9, 14)), 25)
    with contextlib.suppress(UsageError):
        assert same(gathered(last_has_one_more(5040)), (6, 9, 14), 24)


def test_blocks_that_are_alike_follow_the_ranks() -> None:
    """As keys that are sorted into buckets; those next to a rank may be of another size."""

    def sort(comm: program.Comm) -> Any:
        all_alike = dict.fromkeys(range(comm.size), 4 * (1 << 14) // comm.size**2)
        yield comm.alltoallv(all_alike, all_alike)

    def halo(comm: program.Comm) -> Any:
        near = {(comm.rank + step) % comm.size: size for step, size in ((-1, 80), (1, 800))}
        back = {(comm.rank + step) % comm.size: size for step, size in ((-1, 800), (1, 80))}
        yield comm.alltoallv(near, back)

    assert same(sort, (4, 8, 16), 32)
    assert same(halo, (6, 9, 14), 20)


def test_edges_of_blocks_in_a_grid_have_what_is_left_over_along_their_axis() -> None:
    """100 points along each axis of 4, 5 and 6 ranks; of 7 the first two have one more."""

    def halo(comm: program.Comm) -> Any:
        grid = comm.grid(2, periodic=False)
        points = [first_have_more(100)(*each) for each in zip(grid.lengths, grid.coordinates, strict=True)]
        for axis in range(2):
            for step in (1, -1):
                offset = [step * (axis == 0), step * (axis == 1)]
                to, source = grid.neighbour(offset), grid.neighbour([-each for each in offset])
                received = [] if source is None else [comm.irecv(source, 8 * points[1 - axis], tag=axis)]
                if to is not None:
                    yield comm.send(to, 8 * points[1 - axis], tag=axis)
                if received:
                    yield comm.wait_all(received)

    assert same(halo, (16, 25, 36), 49)


def squares(rounded: Callable[[int], int]) -> Any:
    """Cells of a square, whose sides are rounded by the root of the ranks."""

    def code(comm: program.Comm) -> Any:
        yield comm.allreduce(8 * rounded(isqrt(comm.size)) ** 2)

    return code


def test_products_of_rounded_sides_are_exact_or_refused() -> None:
    """Sides of 17.75 and 10.1 points are rounded up; of 17.1 it is not known how they are rounded."""
    assert same(squares(lambda root: -(-71 // root)), (16, 25, 36, 49, 64), 100)
    with pytest.raises(UsageError, match="recordings allow both"):
        extend(recorded(squares(lambda root: 120 // root), (9, 16, 25, 36)), 49)
    assert same(squares(lambda root: 120 // root), (9, 16, 25, 36), 64)


def test_the_reason_is_that_of_the_plainest_explanation() -> None:
    """It was that no recording had a rank in the place of rank 0."""

    def mixed(comm: program.Comm) -> Any:
        def size(one: int, other: int) -> int:
            return 8 * (1 + (one * one + 3 * other + comm.size) % 7)

        others = range(comm.size)
        yield comm.bcast(8)
        yield comm.alltoallv(
            {other: size(comm.rank, other) for other in others},
            {other: size(other, comm.rank) for other in others},
        )

    with pytest.raises(UsageError, match="no rule is known for the blocks of"):
        extend(recorded(mixed, (4, 8, 16)), 32)
