"""More ranks: what acts on a half of an axis, or on one axis, is right, or refused where grids are open."""

from collections.abc import Callable
from typing import Any

import pytest

from leadline import program
from leadline.core.errors import UsageError
from leadline.core.grids import even_grid
from leadline.program.extend import extend

Places = tuple[int, ...]
Move = Callable[[Places, Places], Places | None]  # the place that a message goes to, of a place in a grid


def sending(dimensions: int, move: Move) -> Any:
    """A message of each rank that has a place to send it to, in a grid as near to a cube as can be."""

    def code(comm: program.Comm) -> Any:
        """Sends and receives, and a sum."""
        lengths = even_grid(comm.size, dimensions)
        ends = [move(place(rank, lengths), lengths) for rank in range(comm.size)]
        numbers = [None if end is None else number(end, lengths) for end in ends]
        requests = [comm.irecv(rank, 100) for rank, end in enumerate(numbers) if end == comm.rank]
        own = numbers[comm.rank]
        requests += [] if own is None else [comm.isend(own, 100)]
        if requests:
            yield comm.wait_all(requests)
        yield comm.allreduce(8)

    return code


def place(rank: int, lengths: Places) -> Places:
    """The last axis is the fastest."""
    places = []
    for length in reversed(lengths):
        places.append(rank % length)
        rank //= length
    return tuple(reversed(places))


def number(places: Places, lengths: Places) -> int:
    """The rank at a place."""
    rank = 0
    for own, length in zip(places, lengths, strict=True):
        rank = rank * length + own
    return rank


def moved(axis: int, end: Callable[[int, int], int | None]) -> Move:
    """Along one axis, by the place there and the axis's length."""

    def move(places: Places, lengths: Places) -> Places | None:
        to = end(places[axis], lengths[axis])
        return None if to is None else (*places[:axis], to, *places[axis + 1 :])

    return move


def ahead(own: int, length: int) -> int | None:
    """The next place of an axis with an end."""
    return own + 1 if own + 1 < length else None


def half_further(own: int, length: int) -> int:
    """Half an axis further, which closes on itself."""
    return (own + length // 2) % length


def from_first_half(own: int, length: int) -> int | None:
    """From the first half of an axis to the second one."""
    return own + length // 2 if own < length // 2 else None


def mirrored(own: int, length: int) -> int | None:
    """The same place seen from the other end."""
    return length - 1 - own if 2 * own != length - 1 else None


def in_first_rows(places: Places, lengths: Places) -> Places | None:
    """One step along rows that close on themselves, in the first half of them."""
    return (places[0], (places[1] + 1) % lengths[1]) if places[0] < lengths[0] // 2 else None


def in_second_row(places: Places, lengths: Places) -> Places | None:
    """One step along the second row, which has an end."""
    return (1, places[1] + 1) if places[0] == 1 and places[1] + 1 < lengths[1] else None


def recorded(code: Any, sizes: tuple[int, ...]) -> list[program.Program]:
    """The program at several numbers of ranks."""
    return [program.evaluate(code, ranks) for ranks in sizes]


def same(code: Any, sizes: tuple[int, ...], ranks: int, grid: Places | None = None) -> bool:
    """Whether the extended program is the one of that size, operation for operation."""
    found, true = extend(recorded(code, sizes), ranks, grid).program, program.evaluate(code, ranks)
    return all(
        [each for _, each in found.operations(rank)] == [each for _, each in true.operations(rank)]
        for rank in range(ranks)
    )


@pytest.mark.parametrize(
    ("dimensions", "move", "sizes", "ranks"),
    [
        (2, moved(1, half_further), (6, 9, 12), 24),  # two steps back along rows of 3 and 4
        (2, moved(1, half_further), (4, 9, 16), 36),  # one step in grids of 1x2x2, 1x3x3 and 2x2x4
        (2, moved(1, mirrored), (8, 12, 16), 20),  # ranks with two other bits, in rows of 4
        (2, moved(0, mirrored), (6, 9, 12), 24),
        (1, moved(0, from_first_half), (5, 8, 12), 20),  # half of the rows of 5x1, 4x2 and 4x3, and of 5x4
        (2, in_first_rows, (6, 9, 12), 24),  # the first of 2, 3 and 3 rows
        (2, in_first_rows, (12, 18, 27), 48),  # the first of 3 rows everywhere
        (2, in_second_row, (6, 9, 12), 24),  # the last of 2 rows, the odd one of 3
        (3, moved(2, ahead), (4, 9, 16), 36),  # rows of 3x3x4 and of 6x6
        (3, moved(2, ahead), (9, 16, 25), 36),
        (2, moved(1, from_first_half), (8, 12, 16), 20),  # the first two of rows of 4, and two further
    ],
)
def test_what_acts_on_a_part_of_an_axis_is_refused_where_it_may_be_another_part(
    dimensions: int, move: Move, sizes: tuple[int, ...], ranks: int
) -> None:
    """Each was extended to another program, without a word."""
    with pytest.raises(UsageError, match=r"recordings (fit both|do not decide)"):
        extend(recorded(sending(dimensions, move), sizes), ranks)


@pytest.mark.parametrize(
    ("dimensions", "move", "sizes", "ranks"),
    [
        (1, moved(0, from_first_half), (5, 9, 12), 20),
        (2, moved(1, from_first_half), (5, 7, 9), 13),
        (1, moved(0, from_first_half), (6, 9, 12), 24),
        (2, moved(1, ahead), (4, 9, 16), 25),
        (2, moved(0, ahead), (9, 16, 25), 49),
        (1, moved(0, mirrored), (5, 7, 9), 11),
        (2, moved(1, half_further), (16, 25, 36), 49),
        (2, in_first_rows, (16, 25, 36), 64),
    ],
)
def test_what_acts_on_a_part_of_an_axis_is_right_where_recordings_tell(
    dimensions: int, move: Move, sizes: tuple[int, ...], ranks: int
) -> None:
    """Halves of all ranks and of axes that are long enough, and steps along one axis alone."""
    assert same(sending(dimensions, move), sizes, ranks)


def test_a_length_that_is_the_same_everywhere_may_stay_so() -> None:
    """Rows of four ranks: of 32 ranks there are eight such rows, or four of eight."""
    code = sending(2, moved(1, ahead))
    with pytest.raises(UsageError, match=r"recordings (fit both|do not decide)"):
        extend(recorded(code, (8, 12, 16)), 32)


@pytest.mark.parametrize(("color", "right"), [(lambda rank, ranks: 2 * rank // ranks, True), (None, False)])
def test_communicators_of_blocks_are_known(color: Callable[[int, int], int] | None, right: bool) -> None:
    """Halves of the ranks at 10, 14 and 22; quarters at 8, 12 and 16 are rows of cubes, too."""

    async def code(comm: program.Comm) -> Any:
        """A sum in each."""
        own = color(comm.rank, comm.size) if color else 4 * comm.rank // comm.size
        part = await comm.split(own, comm.rank)
        assert part
        await part.allreduce(80)

    if right:
        found, true = extend(recorded(code, (10, 14, 22)), 34).program, program.evaluate(code, 34)
        one, two = ({tuple(each.members) for each in made.communicators} for made in (found, true))
        assert one == two
    else:
        with pytest.raises(UsageError, match=r"recordings (fit both|do not decide)"):
            extend(recorded(code, (8, 12, 16)), 32)


def chain(comm: program.Comm) -> Any:
    """To the next two ranks on either side of a line with ends."""
    near = [comm.rank + step for step in (-2, -1, 1, 2) if 0 <= comm.rank + step < comm.size]
    for _ in range(3):
        received = [comm.irecv(peer, 80) for peer in near]
        yield comm.wait_all(received + [comm.isend(peer, 80) for peer in near])


def collected(comm: program.Comm) -> Any:
    """The first of every four ranks takes what the others have."""
    first = comm.rank - comm.rank % 4
    for _ in range(3):
        if comm.rank == first:
            for peer in range(first + 1, first + 4):
                yield comm.recv(peer, 80)
        else:
            yield comm.send(first, 80)
        yield comm.barrier()


@pytest.mark.parametrize(("code", "sizes"), [(chain, (8, 12, 16)), (collected, (8, 16, 24))])
def test_what_many_ranks_do_is_no_chance(code: Any, sizes: tuple[int, ...]) -> None:
    """Half of the smallest recording's ranks have all neighbours, or two blocks do the same."""
    assert same(code, sizes, 32)
    with pytest.raises(UsageError, match=r"recordings|regular form"):
        extend(recorded(code, (4, 8, 12)), 32)


def sides_of(dimensions: int, lengths: Places | None = None) -> Any:
    """A halo whose messages are the edges or the faces of blocks of a square or a cube."""

    def code(comm: program.Comm) -> Any:
        """Both ways along each axis."""
        grid = comm.grid(lengths or dimensions)
        for axis in range(dimensions):
            size = 8
            for other, length in enumerate(grid.lengths):
                size *= 1 if other == axis else 5040 // length
            for step in (1, -1):
                receive = comm.irecv(grid.shift(axis, -step), size)
                yield comm.wait_all([receive, comm.isend(grid.shift(axis, step), size)])

    return code


def test_edges_of_blocks_follow_the_other_side_of_the_grid() -> None:
    """Of grids of 2x4, 3x9 and 8x8, that are no powers of the ranks: they were refused."""
    assert same(sides_of(2), (8, 27, 64), 100)


def test_faces_of_cubes_are_refused_where_the_grid_is_no_cube() -> None:
    """At 5x5x6 they are up to 16 % from the power of the ranks, which was taken for exact."""
    every = recorded(sides_of(3), (8, 27, 64))
    with pytest.raises(UsageError, match="recordings allow both"):
        extend(every, 150, (5, 5, 6))
    assert same(sides_of(3), (8, 27, 64), 125)


def test_a_copy_of_a_communicator_has_all_its_ranks() -> None:
    """It might have been the first 64 ranks of 125, it was said."""

    async def code(comm: program.Comm) -> Any:
        """A sum in a copy, as libraries have it."""
        copied = await comm.dup()
        assert copied
        await copied.allreduce(8)

    assert same(code, (8, 27, 64), 125)
