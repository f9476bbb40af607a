"""Programs as data: folded without loss, shared by equal ranks, the same after writing and reading."""

import random
import re
from collections.abc import Callable, Generator, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline import program
from leadline.core.errors import UsageError
from leadline.program import files
from leadline.program.build import ProgramBuilder
from leadline.program.fold import fold
from leadline.program.folded import Folded, Loop
from leadline.program.model import Kind, Operation


def halo(comm: program.Comm, size: str = "8 KiB", steps: int = 10) -> Any:
    """Six neighbours in a periodic grid, then a sum over all."""
    grid = comm.grid(3)
    around = [grid.shift(axis, by) for axis in range(3) for by in (-1, 1)]
    for _ in range(steps):
        requests = [comm.irecv(peer, size) for peer in around]
        requests += [comm.isend(peer, size) for peer in around]
        yield comm.wait_all(requests)
        yield comm.compute("3 us")
        yield comm.allreduce(8)


def stencil(comm: program.Comm, steps: int) -> Any:
    """All 26 neighbours in a periodic grid, then the least time step of all."""
    grid = comm.grid(3)
    around = [grid.neighbour(step) for step in product((-1, 0, 1), repeat=3) if any(step)]
    for _ in range(steps):
        requests = [comm.irecv(peer, 1024) for peer in around if peer is not None]
        requests += [comm.isend(peer, 1024) for peer in around if peer is not None]
        yield comm.wait_all(requests)
        yield comm.compute("20 us")
        yield comm.allreduce(8)


async def rows(comm: program.Comm) -> None:
    """A sum over the row of each, then a message down the column; the last row has no communicator."""
    row = await comm.split(comm.rank // 4 if comm.rank < 8 else None, -comm.rank)
    if row is not None:
        assert row.size == 4
        assert row.rank == 3 - comm.rank % 4
        await row.allreduce("1 KiB")
        await row.sendrecv((row.rank + 1) % 4, 64, (row.rank - 1) % 4)
    await comm.barrier()


def unfolded(items: list[int]) -> list[int]:
    """What folding and unfolding make of it."""
    nodes, leaves = fold(items)
    folded = Folded(tuple(Operation(Kind.NOP, tag=item) for item in leaves), nodes)
    return [folded.leaves[leaf].tag for leaf in folded.order().tolist()]


@pytest.mark.parametrize("seed", range(200))
def test_a_folded_sequence_unfolds_to_itself(seed: int) -> None:
    """Whatever repeats, at whatever depth and however irregularly."""
    chance = random.Random(seed)
    items: list[int] = []
    while len(items) < 80:
        part = [chance.randrange(3) for _ in range(chance.randint(1, 5))]
        items += part * chance.randint(1, 4)
        if chance.random() < 0.3:
            items += items[-30:]
    assert unfolded(items) == items


def test_loops_within_loops_are_found() -> None:
    """Five turns of: three times 0, then 1, then twice 2 and 3."""
    nodes, leaves = fold(([0] * 3 + [1] + [2, 3] * 2) * 5)
    assert nodes == (Loop(5, (Loop(3, (0,)), 1, Loop(2, (2, 3)))),)
    assert leaves == [0, 1, 2, 3]


def test_ranks_of_a_periodic_grid_share_a_few_sequences(tmp_path: Path) -> None:
    """By differences of ranks inner ranks are equal, so a thousand steps of 64 ranks take a few kilobytes."""
    made = program.evaluate(halo, ranks=64, steps=1000)
    made.write(tmp_path / "halo.program")
    assert made.operations_in_all == 64 * 1000 * 14
    assert len(made.sequences) < 64
    assert (tmp_path / "halo.program").stat().st_size < 50_000


@pytest.mark.full
def test_a_thousand_steps_of_26_neighbours_take_less_than_a_megabyte(tmp_path: Path) -> None:
    """Of 64 ranks, with a global time step; and what is read again has as many operations."""
    program.evaluate(lambda comm: stencil(comm, 1000), 64).write(tmp_path / "stencil.program")
    assert (tmp_path / "stencil.program").stat().st_size < 1_000_000
    assert files.read(tmp_path / "stencil.program").operations_in_all == 64 * 1000 * (2 * 26 + 2)


@pytest.mark.parametrize(("code", "ranks"), [(halo, 27), (rows, 12)])
def test_what_is_written_is_read(tmp_path: Path, code: Any, ranks: int) -> None:
    """Operations, computation, communicators and names are the same."""
    made = program.evaluate(code, ranks=ranks)
    made.recorded["command"] = ["./app"]
    made.write(tmp_path / "one.program")
    again = program.read(tmp_path / "one.program")
    assert again.recorded == {"command": ["./app"]}
    for rank in range(ranks):
        assert list(again.operations(rank)) == list(made.operations(rank))
        assert (again.stats(rank) == made.stats(rank)).all()
    assert [tuple(each.members) for each in again.communicators] == [
        tuple(each.members) for each in made.communicators
    ]


def test_computation_is_kept_exactly() -> None:
    """3 us before each allreduce and nothing before the rest, whatever the number of turns."""
    made = program.evaluate(halo, ranks=27, steps=7)
    for leaf, operation in enumerate(made.leaves(5)):
        expected = 3e-6 if operation.kind == Kind.ALLREDUCE else 0.0
        assert made.stats(5)["before_mean"][leaf] == expected


def test_split_gives_ranks_by_key_and_none_without_a_colour() -> None:
    """Members are world ranks in the order of their keys; peers count those."""
    made = program.evaluate(rows, ranks=12)
    assert [tuple(each.members) for each in made.communicators[1:]] == [(3, 2, 1, 0), (7, 6, 5, 4)]
    sent = [each for _, each in made.operations(3) if each.kind == Kind.SENDRECV]
    assert [(each.comm, each.peer, each.source) for each in sent] == [(1, 1, 3)]
    assert [each.kind for _, each in made.operations(11)] == [Kind.COMM, Kind.BARRIER]


def test_times_are_summed_up_per_leaf_and_kept_beside(tmp_path: Path) -> None:
    """Two turns, with 1 and 3 us of computation and 10 and 20 us inside; the sum is the run time."""
    builder = ProgramBuilder(1, measured=True)
    times = np.array([[1_000, 11_000], [14_000, 34_000]])
    builder.add(0, [Operation(Kind.BARRIER)] * 2, times=times)
    made = builder.build()
    made.write(tmp_path / "one.program")
    again = program.read(tmp_path / "one.program")
    found = again.times(0)
    assert found is not None
    assert found.tolist() == times.tolist()
    assert again.sequence(0).nodes == (Loop(2, (0,)),)
    stats = again.stats(0)[0]
    assert stats["before_mean"] == pytest.approx(2e-6)
    assert (stats["before_min"], stats["before_max"]) == pytest.approx((1e-6, 3e-6))
    assert (stats["inside_min"], stats["inside_max"]) == pytest.approx((1e-5, 2e-5))
    assert again.table()["leave"].to_list() == [11_000, 34_000]


def _with_header(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """The same file with another header."""
    header, data, start = files._header(path, files.MAGIC, "program")
    change(header)
    path.write_bytes(files._begin(files.MAGIC, header) + data[start:])


def test_sequences_are_decoded_when_they_are_asked_for(tmp_path: Path) -> None:
    """Without them are known the number of operations and the kinds; what a sequence lacks is said then."""
    path = tmp_path / "one.program"
    made = program.evaluate(halo, ranks=27)
    made.write(path)
    _with_header(path, lambda header: header["sequences"][0].__setitem__(1, 3))
    read = program.read(path)
    assert read.operations_in_all == made.operations_in_all
    assert read.calls == made.calls == {(each.kind, each.mode) for _, each in made.operations(0)}
    with pytest.raises(UsageError, match="damaged"):
        read.sequence(0)


def test_a_file_that_does_not_name_its_calls_is_read(tmp_path: Path) -> None:
    """As all were before."""
    path = tmp_path / "one.program"
    made = program.evaluate(halo, ranks=27)
    made.write(path)
    _with_header(path, lambda header: header.pop("calls"))
    read = program.read(path)
    assert (read.operations_in_all, read.calls) == (made.operations_in_all, made.calls)


@pytest.mark.parametrize("keep", [0, 10, 40, 200, -1])
def test_a_cut_file_is_refused(tmp_path: Path, keep: int) -> None:
    """Wherever it is cut."""
    path = tmp_path / "one.program"
    program.evaluate(halo, ranks=27).write(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(UsageError, match=r"one\.program"):
        program.read(path)


def test_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    """In the body by its checksum; in the header the file is the same, or is refused."""
    path = tmp_path / "one.program"
    program.evaluate(halo, ranks=27).write(path)
    data = bytearray(path.read_bytes())
    data[-5] ^= 8
    path.write_bytes(data)
    with pytest.raises(UsageError, match="damaged"):
        program.read(path)


def test_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    """It says which version it is."""
    path = tmp_path / "one.program"
    path.write_bytes(b"leadline-program 2\n2\n{}\n")
    with pytest.raises(UsageError, match="version 2"):
        program.read(path)


def test_times_of_another_program_are_refused(tmp_path: Path) -> None:
    """Files of two runs are not mixed."""
    for name, count in (("one", 2), ("two", 3)):
        builder = ProgramBuilder(1, measured=True)
        builder.add(0, [Operation(Kind.BARRIER, tag=count)], times=np.array([[0, count]]))
        builder.build().write(tmp_path / f"{name}.program")
    (tmp_path / "two.program.times").replace(tmp_path / "one.program.times")
    with pytest.raises(UsageError, match="another program"):
        program.read(tmp_path / "one.program")


def forgets(comm: program.Comm) -> Any:
    """Never waits."""
    yield comm.isend(0, 8)


def far(comm: program.Comm) -> Any:
    """Sends to a rank that is not there."""
    yield comm.send(comm.size, 8)


def alone(comm: program.Comm) -> Any:
    """Only one rank comes."""
    if comm.rank == 1:
        yield comm.dup()


@pytest.mark.parametrize(
    ("code", "said"), [(forgets, "rank 0 ends with 1"), (far, "ranks 0 to 1"), (alone, "rank 1 waits")]
)
def test_what_cannot_be_is_refused_with_the_rank(code: Any, said: str) -> None:
    """While it is evaluated, not when it is replayed."""
    with pytest.raises(UsageError, match=said):
        program.evaluate(code, ranks=2)


def test_the_pattern_of_the_page_is_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of docs/my-program.md, as it stands there: 512 ranks, 10 turns of 14 operations."""
    page = (Path(__file__).parents[2] / "docs" / "my-program.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert program.read("halo.program").operations_in_all == 512 * 10 * 14


def test_a_part_that_is_yielded_and_not_executed_is_refused() -> None:
    """Its messages were left out without a word: `yield part(comm)` in place of `yield from`."""

    def part(comm: program.Comm) -> Iterator[Any]:
        yield comm.barrier()

    def code(comm: program.Comm, how: str) -> Iterator[Any]:
        if how == "from":
            yield from part(comm)
        else:
            yield part(comm) if how == "part" else comm.barrier

    assert program.evaluate(code, 2, how="from").operations_in_all == 2
    with pytest.raises(UsageError, match="rank 0: yields the function part itself; 'yield from' executes it"):
        program.evaluate(code, 2, how="part")
    with pytest.raises(UsageError, match="rank 0: yields the function barrier itself; call it"):
        program.evaluate(code, 2, how="call")


@pytest.mark.parametrize("yielded", [3, "8 KiB", ["send"], b"", {}])
def test_what_no_call_gives_is_not_to_be_yielded(yielded: object) -> None:
    """It was ignored, as if it had been an operation."""

    def code(comm: program.Comm) -> Generator[Any, Any, None]:
        yield comm.barrier()
        yield yielded

    with pytest.raises(UsageError, match=r"rank 0: a rank yields what a call of comm gives.*, but got"):
        program.evaluate(code, ranks=2)


def test_what_calls_give_may_be_yielded_together() -> None:
    """Requests in a list, a grid, a window, nothing."""

    def code(comm: program.Comm) -> Generator[Any, Any, None]:
        requests = yield [comm.irecv(comm.rank, 8), comm.isend(comm.rank, 8)]
        yield comm.wait_all(requests)
        yield comm.grid(1)
        yield (yield comm.window(8)).free()
        yield

    assert program.evaluate(code, ranks=2).ranks == 2


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"ranks": "2"}, "ranks is a whole number, 1 or more, but got '2'"),
        ({"ranks": 2.0}, "ranks is a whole number, 1 or more, but got 2.0"),
        ({"ranks": True}, "ranks is a whole number, 1 or more, but got True"),
        ({"ranks": None}, "ranks is a whole number, 1 or more, but got None"),
        ({"ranks": 0}, "a program has 1 or more ranks, but got 0"),
        ({"ranks": 2, "code": 3}, "a rank's code is a function of comm, but got 3"),
        ({"ranks": 2, "size": 8}, "cannot be called with what evaluate was given: got an unexpected keyword"),
    ],
)
def test_what_evaluate_cannot_use_is_told_in_a_sentence(asked: dict[str, Any], said: str) -> None:
    """It was a TypeError of whatever came first."""

    def code(comm: program.Comm) -> None:
        comm.barrier()

    with pytest.raises(UsageError) as problem:
        program.evaluate(**{"code": code, **asked})
    assert said in str(problem.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda comm: comm.send(0, 8, tag=-1),
            "a tag is a whole number, 0 or more and below 2^31",
        ),
        (lambda comm: comm.irecv(0, 8, tag=1 << 31), "a tag is a whole number"),
        (lambda comm: comm.sendrecv(0, 8, 0, tag="1"), "a tag is a whole number"),
        (lambda comm: comm.compute(None), "a time to compute is 0 or more seconds, but got None"),
        (lambda comm: comm.compute(True), "a time to compute is 0 or more seconds, but got True"),
        (lambda comm: comm.wait(3), "a request is what isend or irecv gives, but got 3"),
        (lambda comm: comm.allreduce(8, reduction="sum"), "a Reduction is one of SUM, PRODUCT,"),
        (lambda comm: comm.allreduce(8, type=99), "a Datatype is one of OTHER, INT32,"),
        (lambda comm: comm.send(0, 8, mode="x"), "a SendMode is one of STANDARD, SYNCHRONOUS,"),
        (lambda comm: comm.grid(0), "a grid is of 1 or more axes, or of axes of 1 or more ranks"),
        (lambda comm: comm.grid((2, -1)), "a grid is of 1 or more axes"),
        (lambda comm: comm.grid("2"), "a grid is of 1 or more axes"),
        (lambda comm: comm.grid(2).shift(2), "a grid of 1x2 has axes 0 to 1, but got axis 2"),
    ],
)
def test_what_a_call_cannot_mean_is_refused(call: Callable[[program.Comm], object], said: str) -> None:
    """A tag was taken as it was, an axis that is not there as no step at all; others were raw errors."""

    def code(comm: program.Comm) -> None:
        call(comm)

    with pytest.raises(UsageError) as problem:
        program.evaluate(code, ranks=2)
    assert said in str(problem.value)


def test_whole_numbers_of_arrays_are_whole_numbers() -> None:
    """Sizes, tags and requests may come from computations with numpy, and one request needs no list."""

    def code(comm: program.Comm) -> Generator[Any, Any, None]:
        size: Any = np.int64(8)
        source: Any = np.int64(comm.rank)
        tag: Any = np.int32(3)
        request = comm.irecv(source, size, tag)
        yield comm.send(comm.rank, 8, 3)
        yield comm.wait_all(request)  # type: ignore[arg-type]
        yield comm.compute(np.float32(0.5))  # type: ignore[arg-type]

    found = program.evaluate(code, ranks=2)
    assert found.table()["bytes"].to_list()[:2] == [8, 8]
