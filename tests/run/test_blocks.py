"""Collectives with blocks of different sizes, and epochs of windows, as they are executed from Python."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.program.model import IN_PLACE, Form, Kind, Operation
from leadline.program.noted import DONE, Request

from .test_capacity import took

Body = Any
ALLTOALL = 40_000  # B
COPY = 'copy = { value = "1 GB/s", source = "made up" }'


def test_blocks_of_nothing_need_not_be_said(tmp_path: Path) -> None:
    """Whatever a rank has called before, empty blocks are the same from all; so are blocks of no bytes."""

    def body(comm: program.Comm) -> Body:
        part = yield comm.split(comm.rank // 2)
        if comm.rank < 2:
            yield part.allgatherv({0: 8, 1: 16})
        yield comm.allgatherv({})
        yield comm.reduce_scatter({0: 0} if comm.rank == 1 else {})

    assert took(tmp_path, body) > 0


@pytest.mark.parametrize(("plain", "varying"), [("gather", "gatherv"), ("scatter", "scatterv")])
def test_the_root_copies_its_own_block(plain: str, varying: str, tmp_path: Path) -> None:
    """Where a core copies 1 GB/s, as in the collective of equal blocks, which are the same messages."""

    def body(word: str) -> Any:
        def of_rank(comm: program.Comm) -> Body:
            size = 100_000
            yield getattr(comm, word)(size if word == plain else dict.fromkeys(range(comm.size), size))

        return of_rank

    words = ("--what-if", f"{plain}=linear")
    equal = took(tmp_path, body(plain), *words, top=COPY)
    assert took(tmp_path, body(varying), *words, top=COPY) == pytest.approx(equal)


def test_a_gather_is_not_answered_by_a_gatherv(tmp_path: Path) -> None:
    """Whoever comes first, and with blocks that would fit."""

    def body(comm: program.Comm) -> Body:
        if comm.rank == 0:
            yield comm.gatherv(dict.fromkeys(range(comm.size), 8))
        else:
            yield comm.gather(8)

    with pytest.raises(AssertionError, match="do not match"):
        took(tmp_path, body)


def test_a_post_waits_for_nobody(tmp_path: Path) -> None:
    """A ring in which each lets its left neighbour in first, where every message asks before it goes."""

    def body(comm: program.Comm) -> Body:
        left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        window = yield comm.window(1000)
        yield window.post([left])
        yield window.start([right])
        yield window.put(right, 1000)
        yield window.complete()
        yield window.wait()

    more = 'handshake = true\nhandshake_overhead = "0.2 us"'
    assert took(tmp_path, body, more=more) < 1e-3


@pytest.mark.parametrize(
    "wrong",
    [
        lambda comm: comm.send(1.5, 8),
        lambda comm: comm.send("1", 8),
        lambda comm: comm.allgatherv([1, 2, 3, 4]),
        lambda comm: comm.reduce_scatter([1, 2]),
        lambda comm: comm.gatherv({9: 1}),
    ],
)
def test_a_rank_is_a_whole_number_and_blocks_have_ranks(wrong: Body) -> None:
    """What is neither is an error that names the rank that said it."""

    def body(comm: program.Comm) -> Body:
        yield wrong(comm)

    with pytest.raises(UsageError, match="rank 0"):
        program.evaluate(body, ranks=4)


@pytest.mark.parametrize("slot", [-2, 10**9])
def test_an_impossible_request_is_a_damaged_file(slot: int, tmp_path: Path) -> None:
    """A wait for it was a crash, or took all memory."""

    def body(comm: program.Comm) -> Body:
        comm.owner.note(Operation(int(Kind.WAIT), gives=(slot,)))
        yield comm.barrier()

    program.evaluate(body, ranks=2).write(tmp_path / "wrong.program")
    told = CliRunner().invoke(main, ["replay", str(tmp_path / "wrong.program"), "--on", "bgp"])
    assert told.exit_code in (1, 2)
    assert "impossible number" in told.output, told.output


# What each rank copies of its own where a core copies 1 GB/s: all that it brings, or its block.
@pytest.mark.parametrize(
    ("ask", "copied"),
    [
        (lambda comm: comm.allreduce(80_000), 80_000),
        (lambda comm: comm.scan(80_000), 80_000),
        (lambda comm: comm.allgather(80_000), 80_000),
        (lambda comm: comm.allgatherv(dict.fromkeys(range(comm.size), 80_000)), 80_000),
        (lambda comm: comm.alltoall(ALLTOALL), ALLTOALL),
        (lambda comm: comm.reduce_scatter(80_000), 4 * 80_000),
    ],
)
@pytest.mark.parametrize("nonblocking", [False, True])
def test_in_place_nothing_is_copied(ask: Any, copied: int, nonblocking: bool, tmp_path: Path) -> None:
    """A collective takes less time by the copy alone, on a machine whose copies have a rate."""

    def body(free: int) -> Any:
        def of_rank(comm: program.Comm) -> Body:
            ask(comm)
            operation = comm.owner.operations.pop()
            if nonblocking:
                operation = operation._replace(form=int(Form.NONBLOCKING), request=comm.owner.slot())
            comm.owner.operations.append(operation._replace(free=free))
            yield comm.wait(Request(operation.request, persistent=False)) if nonblocking else DONE

        return of_rank

    words = ("--what-if", "alltoall=pairwise") if copied == ALLTOALL else ()
    apart, in_place = (took(tmp_path, body(free), *words, top=COPY) for free in (0, IN_PLACE))
    assert apart - in_place == pytest.approx(copied / 1e9, rel=1e-6)


@pytest.mark.parametrize("word", ["gather", "scatter", "gatherv", "scatterv", "reduce"])
def test_a_root_in_place_copies_nothing(word: str, tmp_path: Path) -> None:
    """Others bring theirs as ever; the root comes late, and the program waits for it."""

    def body(free: int) -> Any:
        def of_rank(comm: program.Comm) -> Body:
            size = dict.fromkeys(range(comm.size), 80_000) if word.endswith("v") else 80_000
            if comm.rank == 0:
                yield comm.compute("10 ms")
            yield getattr(comm, word)(size)
            if comm.rank == 0:
                comm.owner.operations.append(comm.owner.operations.pop()._replace(free=free))

        return of_rank

    words = ("--what-if", f"{word.removesuffix('v')}=linear")
    apart, in_place = (took(tmp_path, body(free), *words, top=COPY) for free in (0, IN_PLACE))
    assert apart - in_place == pytest.approx(80e-6, rel=1e-6)
