"""More ranks: what several laws explain is refused where they differ, and no recording is left out."""

from collections.abc import Callable
from math import ceil, isqrt, log2
from typing import Any

import pytest

from leadline import program
from leadline.core.errors import UsageError
from leadline.core.grids import even_grid
from leadline.program.extend import Extension, extend
from leadline.program.model import Kind


def repeated(count: Callable[[int], int]) -> Any:
    """As many sums as a function of the ranks says."""

    def code(comm: program.Comm) -> Any:
        for _ in range(count(comm.size)):
            yield comm.allreduce(8)

    return code


def sized(size: Callable[[int], int]) -> Any:
    """A broadcast of as many bytes as a function of the ranks says."""

    def code(comm: program.Comm) -> Any:
        yield comm.bcast(size(comm.size), root=0)

    return code


def extended(code: Any, sizes: tuple[int, ...], ranks: int) -> Extension:
    """The program at a number of ranks, from those at several sizes."""
    return extend([program.evaluate(code, each) for each in sizes], ranks)


def bytes_of(found: Extension) -> int:
    """Of the first operation of rank 0."""
    return next(iter(found.program.operations(0)))[1].bytes


def logarithm(ranks: int) -> int:
    """Rounded up."""
    return ceil(log2(ranks))


@pytest.mark.parametrize(
    ("count", "sizes", "ranks"),
    [
        (logarithm, (4, 8, 16), 32),  # the square root rounded up gives 2, 3 and 4 as well
        (logarithm, (8, 16, 32), 1024),
        (logarithm, (4, 8, 16, 32), 25),  # rounded down it gives the same of powers of two
        (isqrt, (8, 27, 64), 256),  # 3 times the cube root, less 4
        (lambda ranks: ranks // 4, (8, 16, 32), 256),
        (lambda ranks: 240 // ranks, (4, 8, 16), 100),
        (lambda ranks: min(ranks, 20), (8, 16, 32), 64),
    ],
)
def test_repetitions_that_two_functions_give_are_refused_where_these_differ(
    count: Callable[[int], int], sizes: tuple[int, ...], ranks: int
) -> None:
    """And both numbers are told."""
    with pytest.raises(UsageError, match=r"may be repeated .* the recordings allow both"):
        extended(repeated(count), sizes, ranks)


@pytest.mark.parametrize(
    ("count", "sizes", "ranks"),
    [
        (logarithm, (4, 8, 16, 32), 256),
        (logarithm, (8, 27, 64), 100),
        (isqrt, (8, 16, 32), 100),
        (lambda ranks: ranks // 2, (4, 8, 16), 128),
        (lambda ranks: ranks // 2 + 5, (4, 9, 16), 101),
        (lambda ranks: 240 // ranks, (8, 27, 64), 125),
        (lambda ranks: 2 * (ranks - 1), (4, 8, 16), 128),
        (lambda ranks: 12, (4, 8, 16), 128),
    ],
)
def test_repetitions_are_right_where_the_recordings_leave_no_choice(
    count: Callable[[int], int], sizes: tuple[int, ...], ranks: int
) -> None:
    """Where all functions that hold agree at the new number of ranks."""
    found = extended(repeated(count), sizes, ranks).program
    assert sum(each.kind == Kind.ALLREDUCE for _, each in found.operations(0)) == count(ranks)


@pytest.mark.parametrize(
    ("size", "sizes", "ranks"),
    [
        (lambda ranks: 64 + 8 * ranks, (4, 8, 16), 32),  # 48 times the square root, in words rounded down
        (lambda ranks: 64 + 8 * ranks, (4, 8, 16), 1024),
        (lambda ranks: ceil(1000 / ranks), (4, 8, 16), 32),  # rounded up 32, to the nearest 31
        (lambda ranks: 8 * logarithm(ranks), (4, 8, 16), 64),
        (
            lambda ranks: 4096 + 16 * ranks,
            (8, 16, 32),
            512,
        ),  # 128 times the square root, rounded up, and 3840
    ],
)
def test_sizes_that_two_laws_give_are_refused_where_these_differ(
    size: Callable[[int], int], sizes: tuple[int, ...], ranks: int
) -> None:
    """By more than the rounding of large numbers."""
    with pytest.raises(UsageError, match=r"the size of .* may be .* the recordings allow both"):
        extended(sized(size), sizes, ranks)


@pytest.mark.parametrize(
    ("size", "sizes", "ranks"),
    [
        (lambda ranks: 4096 + 16 * ranks, (8, 27, 64), 512),
        (lambda ranks: 64 + 8 * ranks, (4, 9, 16), 1024),
        (lambda ranks: 64 + 8 * ranks, (4, 8, 16, 32), 1024),
        (lambda ranks: 1024 + 512 * logarithm(ranks), (8, 27, 64), 512),
        (lambda ranks: ranks * ranks, (4, 8, 16), 32),
        (lambda ranks: 8 * ranks, (4, 8, 16), 512),
        (lambda ranks: 1000 // ranks, (4, 8, 16), 32),
        (lambda ranks: 5000, (4, 8, 16), 512),
    ],
)
def test_sizes_are_exact_where_all_laws_agree(
    size: Callable[[int], int], sizes: tuple[int, ...], ranks: int
) -> None:
    """Sums with a constant are laws as powers are."""
    found = extended(sized(size), sizes, ranks)
    assert bytes_of(found) == size(ranks)
    assert found.errors["bytes"] == 0


def test_how_far_a_size_may_be_off_at_the_new_number_of_ranks_is_told() -> None:
    """A whole number divided by 25, which nothing says is rounded down in words or in bytes."""
    found = extended(sized(lambda ranks: 4 * (8192 // ranks)), (4, 9, 16), 25)
    true = 4 * (8192 // 25)
    assert abs(bytes_of(found) - true) <= found.errors["bytes"] * bytes_of(found) + 1e-6
    assert 0 < found.errors["bytes"] <= 0.01


def test_a_near_power_is_refused_where_a_sum_is_much_nearer_and_differs() -> None:
    """Sizes of 4,000 B and more that hardly change are within 5 % of a constant, but not at many ranks."""

    def code(comm: program.Comm) -> Any:
        """Ranks with odd numbers have a byte more."""
        yield comm.sendrecv(comm.rank ^ 1, 4096 + 16 * comm.size + comm.rank % 2, comm.rank ^ 1)

    with pytest.raises(UsageError, match="recordings allow both"):
        extended(code, (8, 16, 32), 512)


@pytest.mark.parametrize("ranks", [25, 49])
def test_no_recording_is_left_out(ranks: int) -> None:
    """In grids of three dimensions ranks of 4 and 9 have one place, those of 16 another: it was ignored."""

    def above_ten(comm: program.Comm) -> Any:
        """A sum in large programs only."""
        if comm.size > 10:
            yield comm.allreduce(8)

    with pytest.raises(UsageError, match="different numbers of operations"):
        extended(above_ten, (4, 9, 16), ranks)


def test_a_recording_between_others_is_not_left_out_either() -> None:
    """At 16 ranks alone the program differs, and 16 ranks alone have a place of their own in such grids."""

    def at_sixteen(comm: program.Comm) -> Any:
        """A sum at one number of ranks."""
        if comm.size == 16:
            yield comm.allreduce(8)

    with pytest.raises(UsageError, match="different numbers of operations"):
        extended(at_sixteen, (4, 9, 16, 25), 49)


def test_ranks_of_the_larger_recordings_only_take_sizes_from_others() -> None:
    """Those inside a grid of 9 and 16 send as much as those at its edges, which 4 ranks have too."""

    def halo(comm: program.Comm) -> Any:
        """To neighbours in an open grid, by its length."""
        grid = comm.grid(2, periodic=False)
        for tag, step in enumerate(((0, 1), (1, 0))):
            before, after = grid.neighbour([-each for each in step]), grid.neighbour(step)
            size = 8 * (360 // isqrt(comm.size))
            requests = [] if before is None else [comm.irecv(before, size, tag=tag)]
            requests += [] if after is None else [comm.isend(after, size, tag=tag)]
            yield comm.wait_all(requests)

    found, true = extended(halo, (4, 9, 16), 25).program, program.evaluate(halo, 25)
    for rank in range(25):
        assert [each for _, each in found.operations(rank)] == [each for _, each in true.operations(rank)]


def test_sizes_that_two_recordings_alone_have_are_refused_where_they_change() -> None:
    """Two numbers are on many laws."""

    def inside(comm: program.Comm) -> Any:
        """A message to itself of ranks that are not at the edges."""
        side = isqrt(comm.size)
        if 0 < comm.rank // side < side - 1 and 0 < comm.rank % side < side - 1:
            yield comm.sendrecv(comm.rank, 64 * side, comm.rank)

    with pytest.raises(UsageError, match="record more ranks"):
        extended(inside, (4, 9, 16), 25)


def test_squares_do_not_say_how_a_grid_is_turned() -> None:
    """Messages along the rows of a grid: 32 ranks may be rows of 8 or of 4, which only `grid` tells."""

    def rows(width: int) -> Any:
        def code(comm: program.Comm) -> Any:
            first = comm.rank - comm.rank % width
            right, left = first + (comm.rank + 1) % width, first + (comm.rank - 1) % width
            yield comm.sendrecv(right, 100, left, 100)

        return code

    every = [program.evaluate(rows(isqrt(ranks)), ranks) for ranks in (9, 16, 25)]
    with pytest.raises(UsageError, match="4x8 or of 8x4"):
        extend(every, 32)
    for grid in ((4, 8), (8, 4)):
        true = program.evaluate(rows(grid[1]), 32)
        found = extend(every, 32, grid).program
        assert all(found.leaves(rank) == true.leaves(rank) for rank in range(32))
    assert extend(every, 36, (6, 6)).grid == (6, 6)
    with pytest.raises(UsageError, match="6x6 or of 3x3x4"):  # rows of 3, 4 and 5 are those of cubes, too
        extend(every, 36)


@pytest.mark.parametrize(("sizes", "ranks"), [((8, 27, 64), 125), ((4, 8, 16), 32)])
def test_sizes_of_complex_numbers_are_no_parts_of_them(sizes: tuple[int, ...], ranks: int) -> None:
    """Where the recordings have no remainder: 8 B more were said to be exact, and are told."""
    found, true = extended(sized(lambda ranks: 16 * (2520**3 // ranks**2)), sizes, ranks), 2520**3 // ranks**2
    assert abs(bytes_of(found) - 16 * true) <= found.errors["bytes"] * bytes_of(found) + 1e-6
    assert 0 < found.errors["bytes"] < 1e-5


@pytest.mark.parametrize(("sizes", "ranks"), [((6, 12, 24), 48), ((8, 16, 32, 64), 128)])
def test_words_are_likelier_than_complex_numbers(sizes: tuple[int, ...], ranks: int) -> None:
    """840 B are no multiple of 16, as sizes of the recordings are."""
    assert bytes_of(extended(sized(lambda ranks: 8 * (5040 // ranks)), sizes, ranks)) == 8 * (5040 // ranks)


def test_two_sizes_alone_decide_no_law() -> None:
    """288 and 1,000 B are 712 times a side of 1x2x3, 2x2x3 and 2x3x4, less 424: at 48 ranks 1,712 B."""
    with pytest.raises(UsageError, match="two values only"):
        extended(sized(lambda ranks: min(1000, 8 * ranks * ranks)), (6, 12, 24), 48)


@pytest.mark.parametrize("repetitions", [False, True])
def test_what_follows_a_side_of_the_grid_does_so_in_a_grid_that_is_named(repetitions: bool) -> None:
    """Of 64 ranks in a grid of 4x16 a side is 16: it was 8, as in the grid that is nearest to a square."""

    def code(lengths: Callable[[int], tuple[int, ...]]) -> Any:
        def halo(comm: program.Comm) -> Any:
            grid = comm.grid(lengths(comm.size))
            for axis in range(2):
                yield comm.sendrecv(grid.shift(axis, 1), 80, grid.shift(axis, -1))
            side = grid.lengths[1]
            for _ in range(2 * side + 1 if repetitions else 1):
                yield comm.bcast(8 if repetitions else 24 + 40 * side)

        return halo

    every = [
        program.evaluate(code(lambda ranks: even_grid(ranks, 2)), ranks) for ranks in (20, 42, 56, 72, 88)
    ]
    found, true = extend(every, 64, (4, 16)).program, program.evaluate(code(lambda ranks: (4, 16)), 64)
    assert [each for _, each in found.operations(5)] == [each for _, each in true.operations(5)]
