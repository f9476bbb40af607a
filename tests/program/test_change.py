"""Programs with other sizes of messages, in a region alone."""

from collections.abc import Generator
from typing import Any

import pytest

from leadline import program
from leadline.core.errors import UsageError
from leadline.program.change import scaled_bytes
from leadline.program.model import Kind, Program


def halo(comm: program.Comm, after: bool, inside: bool) -> Generator[Any, Any, None]:
    """A message of 100 B that is made ready outside `halo`, and one that is made ready and started there.

    The first is started in `halo` in each of 4 turns where `inside`, and after them once more where `after`.
    """
    make = comm.send_init if comm.rank == 0 else comm.recv_init
    first = make(1 - comm.rank, 100)
    for _ in range(4):
        with comm.region("halo"):
            second = make(1 - comm.rank, 10, 1)
            yield comm.start(*([second, first] if inside else [second]))
            yield comm.wait_all([second, first] if inside else [second])
            comm.free(second)
    if after:
        yield comm.start(first)
        yield comm.wait(first)
    comm.free(first)


def made(after: bool, inside: bool) -> Program:
    """The program, folded."""
    return program.evaluate(lambda comm: halo(comm, after, inside), ranks=2)


def sizes(of: Program) -> set[int]:
    """Of all messages."""
    return {
        leaf.bytes for each in of.sequences for leaf in each.leaves if leaf.kind in (Kind.SEND, Kind.RECV)
    }


def test_a_request_is_in_the_region_where_it_is_started() -> None:
    """Wherever it was made ready; one that is started outside alone keeps its size."""
    assert sizes(scaled_bytes(made(False, True), 2, "halo")) == {20, 200}
    assert sizes(scaled_bytes(made(True, False), 2, "halo")) == {20, 100}
    assert sizes(scaled_bytes(made(True, True), 2)) == {20, 200}


def test_a_request_that_is_started_inside_and_outside_is_refused() -> None:
    """It has one size."""
    with pytest.raises(
        UsageError, match=r"^bytes\(halo\) cannot be changed: .*MPI_\w+_init.* and outside it$"
    ):
        scaled_bytes(made(True, True), 2, "halo")
