"""Programs that MPI would not allow: each is refused with the rank, none gets a time."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.program.model import Kind, Operation

from .test_capacity import took

Body = Any


def beyond(comm: program.Comm) -> Body:
    """More than the target has, less than the origin does."""
    window = yield comm.window(50 if comm.rank == 1 else 100)
    yield window.fence()
    if comm.rank == 0:
        yield window.put(1, 100)
    yield window.fence()


def gets_beyond(comm: program.Comm) -> Body:
    """One byte."""
    window = yield comm.window(50)
    yield window.lock(1 - comm.rank)
    yield window.get(1 - comm.rank, 51)
    yield window.unlock(1 - comm.rank)


def unlocks(comm: program.Comm) -> Body:
    """No lock before."""
    window = yield comm.window(50)
    if comm.rank == 1:
        yield window.unlock(0)


def locks_twice(comm: program.Comm) -> Body:
    """Exclusively or not."""
    window = yield comm.window(50)
    if comm.rank == 1:
        yield window.lock(0)
        yield window.lock(0)


def completes(comm: program.Comm) -> Body:
    """No start before."""
    window = yield comm.window(50)
    yield window.complete()


def waits(comm: program.Comm) -> Body:
    """No post before."""
    window = yield comm.window(50)
    yield window.wait()


def posts_twice(comm: program.Comm) -> Body:
    """No wait in between."""
    window = yield comm.window(50)
    yield window.post([1 - comm.rank])
    yield window.post([1 - comm.rank])


def starts_twice(comm: program.Comm) -> Body:
    """No complete in between."""
    window = yield comm.window(50)
    yield window.post([1 - comm.rank])
    yield window.start([1 - comm.rank])
    yield window.start([1 - comm.rank])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (beyond, "rank 0 puts 100 B"),
        (gets_beyond, "gets 51 B"),
        (unlocks, "rank 1 ends a lock"),
        (locks_twice, "rank 1 locks"),
        (completes, "completes an epoch"),
        (waits, "waits for a window"),
        (posts_twice, "posts a window twice"),
        (starts_twice, "starts an epoch"),
    ],
)
def test_a_window_is_used_as_mpi_allows(body: Body, why: str, tmp_path: Path) -> None:
    """Memory that is not there is not reached; what ends has begun, and what has begun ends first."""
    with pytest.raises(AssertionError, match=why):
        took(tmp_path, body, ranks=2)


def test_what_is_allowed_is_not_refused(tmp_path: Path) -> None:
    """All of a window, all ranks locked at once and others beside them, one epoch after another."""

    def body(comm: program.Comm) -> Body:
        other = (comm.rank + 1) % comm.size
        window = yield comm.window(10**12)
        yield window.fence()
        yield window.put(other, 1000)
        yield window.fence()
        for _ in range(2):
            yield window.post([(comm.rank - 1) % comm.size])
            yield window.start([other])
            yield window.get(other, 1000)
            yield window.complete()
            yield window.wait()
        for target in range(comm.size):
            yield window.lock(target)
        for target in range(comm.size):
            yield window.unlock(target)
        everybody = Operation(int(Kind.LOCK), 0, -1, extra=1)
        comm.owner.note(everybody)
        comm.owner.note(everybody._replace(kind=int(Kind.UNLOCK)))
        yield window.free()

    assert took(tmp_path, body) > 0


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (Operation(int(Kind.ALLGATHER), bytes=8, mode=1, takes=(0, 8, 1, 8, 1, 8)), "names rank 1 twice"),
        (Operation(int(Kind.ALLGATHER), bytes=99, mode=1, takes=(0, 8, 1, 8)), "has 99 B, and 8 B"),
        (Operation(int(Kind.REDUCE_SCATTER), bytes=8, mode=1, takes=(0, 8)), "has 8 B, and 0 B"),
        (Operation(int(Kind.BARRIER), form=7), "unknown form"),
    ],
)
def test_an_operation_that_contradicts_itself_is_refused(
    operation: Operation, why: str, tmp_path: Path
) -> None:
    """A file may say whatever it likes; it is no collective of any MPI."""

    def body(comm: program.Comm) -> Body:
        comm.owner.note(operation)
        yield comm.barrier()

    file = tmp_path / "wrong.program"
    program.evaluate(body, ranks=2).write(file)
    told = CliRunner().invoke(main, ["replay", str(file), "--on", "bgp"])
    assert told.exit_code in (1, 2)
    assert why in told.output, told.output


def test_blocks_may_be_told_in_any_order(tmp_path: Path) -> None:
    """It is the same layout, whoever comes first in it."""

    def body(blocks: dict[int, int]) -> Any:
        def of_rank(comm: program.Comm) -> Body:
            yield comm.allgatherv(blocks)

        return of_rank

    forwards = took(tmp_path, body({0: 8, 1: 100_000, 2: 0, 3: 5_000}))
    assert took(tmp_path, body({3: 5_000, 2: 0, 1: 100_000, 0: 8})) == forwards
