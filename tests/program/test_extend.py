"""More ranks: programs made from three sizes equal those of other sizes; irregular ones are refused."""

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.program.extend import extend

AROUND = [offset for offset in product((-1, 0, 1), repeat=3) if any(offset)]


def stencil(comm: program.Comm) -> Any:
    """26 neighbours of a closed grid, smaller messages to those across edges and corners."""
    grid: Any = comm.grid(3)
    for _ in range(3):
        requests = []
        for tag, offset in enumerate(AROUND):
            size = 4096 >> sum(map(abs, offset))
            requests.append(comm.irecv(grid.neighbour([-step for step in offset]), size, tag=tag))
            requests.append(comm.isend(grid.neighbour(offset), size, tag=tag))
        yield comm.wait_all(requests)
        yield comm.compute("5 us")
        yield comm.allreduce(8)


def open_stencil(comm: program.Comm) -> Any:
    """The same in a grid with edges, where ranks have fewer neighbours."""
    grid = comm.grid(3, periodic=False)
    for _ in range(3):
        requests = []
        for tag, offset in enumerate(AROUND):
            before, after = grid.neighbour([-step for step in offset]), grid.neighbour(offset)
            requests += [comm.irecv(before, 100, tag=tag)] if before is not None else []
            requests += [comm.isend(after, 100, tag=tag)] if after is not None else []
        yield comm.wait_all(requests)
        yield comm.allreduce(8)


def conjugate_gradient(comm: program.Comm, unknowns: int = 1_000_000) -> Any:
    """Slabs: a plane to either side, and two sums a step; computation by the rank's share."""
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for _ in range(10):
        yield comm.sendrecv(after, 8 * round(unknowns ** (2 / 3)), before)
        yield comm.sendrecv(before, 8 * round(unknowns ** (2 / 3)), after)
        yield comm.compute(unknowns / comm.size * 1e-9)
        yield comm.allreduce(8)
        yield comm.allreduce(16)


async def transposing_fft(comm: program.Comm, length: int = 240) -> Any:
    """Transpositions in the rows and columns of a grid of ranks; blocks are rounded down."""
    grid = comm.grid(2)
    own_row, own_column = grid.coordinates
    row = await comm.split(own_row, own_column)
    column = await comm.split(own_column, own_row)
    assert row
    assert column
    for _ in range(3):
        await comm.compute(length**3 / comm.size * 1e-9)
        await row.alltoall(16 * length**3 // comm.size // row.size)
        await column.alltoall(16 * length**3 // comm.size // column.size)


def broadcast_in_steps(comm: program.Comm) -> Any:
    """As many repetitions as the cube root of the ranks."""
    for _ in range(round(comm.size ** (1 / 3))):
        yield comm.bcast(64, root=0)


def executed(found: program.Program, rank: int) -> list[tuple[Any, ...]]:
    """A rank's operations with the members of their communicators, however these are numbered."""
    members = found.communicators
    return [
        (operation._replace(comm=0, extra=0), tuple(members[operation.comm].members))
        for _, operation in found.operations(rank)
    ]


def recorded(code: Any, sizes: tuple[int, ...] = (8, 27, 64)) -> list[program.Program]:
    """The program at several numbers of ranks."""
    return [program.evaluate(code, ranks) for ranks in sizes]


@pytest.mark.parametrize("ranks", [125, 216])
@pytest.mark.parametrize(
    "code", [stencil, open_stencil, conjugate_gradient, transposing_fft, broadcast_in_steps]
)
def test_the_extended_program_is_the_one_of_that_size(code: Any, ranks: int) -> None:
    """Operation for operation, and its computation too."""
    found, true = extend(recorded(code), ranks).program, program.evaluate(code, ranks)
    assert found.ranks == ranks
    for rank in range(ranks):
        assert executed(found, rank) == executed(true, rank), rank
        own = [float(np.sum(each.stats(rank)["before_mean"])) for each in (found, true)]
        assert math.isclose(own[0], own[1], rel_tol=1e-9, abs_tol=1e-15)


def scattered(comm: program.Comm) -> Any:
    """Partners without a rule."""
    partner = np.random.default_rng(comm.size).permutation(comm.size).tolist()
    yield comm.wait_all([comm.irecv(partner.index(comm.rank), 8), comm.isend(partner[comm.rank], 8)])


def odd_sizes(comm: program.Comm) -> Any:
    """Bytes that no power of the ranks gives."""
    yield comm.allreduce({8: 8, 27: 8000, 64: 16}[comm.size])


def more_by_rank(comm: program.Comm) -> Any:
    """Bytes that grow with the rank's number."""
    yield comm.sendrecv((comm.rank + 1) % comm.size, comm.rank + 1, (comm.rank - 1) % comm.size)


def odd_repetitions(comm: program.Comm) -> Any:
    """Steps that no function of the ranks gives."""
    for _ in range({8: 5, 27: 50, 64: 7}[comm.size]):
        yield comm.barrier()


def uneven(comm: program.Comm) -> Any:
    """More or less work by the rank's number, without a rule."""
    for _ in range((comm.rank * 7919) % 13):
        yield comm.allreduce(8)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (scattered, "partner"),
        (odd_sizes, "no power"),
        (more_by_rank, "1 to 8 B at 8 ranks, 1 to 27 B at 27 ranks"),
        (odd_repetitions, "regular form"),
        (uneven, "regular form"),
    ],
)
def test_what_has_no_regular_form_is_refused(code: Any, why: str) -> None:
    """With the reason: a guess would be a program that nobody wrote."""
    with pytest.raises(UsageError, match=why):
        extend(recorded(code), 125)


def test_a_partner_that_two_rules_explain_is_refused_where_they_differ() -> None:
    """Half of all ranks further and another highest bit: where these are not the same, nothing is guessed."""

    def to_the_middle(comm: program.Comm) -> Any:
        """Powers of two alone have both."""
        yield comm.sendrecv(comm.rank ^ (comm.size // 2), 8, comm.rank ^ (comm.size // 2))

    with pytest.raises(UsageError, match="a grid of 4x4x4"):  # one step in grids of 2x2x2 and 2x4x4
        extend(recorded(to_the_middle, (8, 16, 32)), 64)
    found = extend(recorded(to_the_middle, (8, 16, 32)), 64, (64,))
    assert executed(found.program, 3) == executed(program.evaluate(to_the_middle, 64), 3)
    with pytest.raises(UsageError, match=r"recordings allow both|partner"):
        extend(recorded(to_the_middle, (8, 16, 32)), 100)


def test_free_sources_need_no_rule_of_their_own() -> None:
    """A master that takes answers from anybody is not extended as if it had waited for certain ranks."""

    def master(comm: program.Comm) -> Any:
        """Each worker answers once."""
        if comm.rank == 0:
            for _ in range(comm.size - 1):
                yield comm.recv(program.ANY, 8)
        else:
            yield comm.send(0, 8)

    found = extend(recorded(master), 125)
    assert executed(found.program, 0) == executed(program.evaluate(master, 125), 0)


def test_three_sizes_are_asked_for() -> None:
    """Two points lie on every power."""
    with pytest.raises(UsageError, match="3 or more different"):
        extend(recorded(stencil, (8, 27)), 64)
    with pytest.raises(UsageError, match="same number of ranks"):
        extend(recorded(conjugate_gradient, (4, 8, 16, 16)), 64)
    with pytest.raises(UsageError, match="a grid of 5x5x4 has 100 ranks, but got 125"):
        extend(recorded(stencil), 125, (5, 5, 4))
    with pytest.raises(UsageError, match="a grid of 5x5 has 25 ranks, but got 125"):
        extend(recorded(stencil), 125, (5, 5))


def test_the_command_writes_the_program(tmp_path: Path) -> None:
    """And it is read again."""
    names = []
    for ranks in (8, 27, 64):
        names.append(str(tmp_path / f"{ranks}.program"))
        program.evaluate(stencil, ranks).write(Path(names[-1]))
    target = tmp_path / "large.program"
    result = CliRunner().invoke(main, ["extend", *names, "--ranks", "512", "--output", str(target)])
    assert result.exit_code == 0, result.output
    assert "512 ranks" in result.output
    assert program.read(target).ranks == 512
    refused = CliRunner().invoke(main, ["extend", *names[:2], "--ranks", "512"])
    assert refused.exit_code == 2
