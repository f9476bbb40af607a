"""Programs with other sizes of messages, in a region alone."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from leadline import program
from leadline.core.errors import LeadlineError, UsageError
from leadline.machine import load
from leadline.program.change import scaled_bytes
from leadline.program.model import Kind, Operation, Program
from leadline.run.replay import parse_change, replay, what_if
from leadline.targets.simulated.machine import SimulatedMachine


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


@pytest.mark.parametrize("words", ["latency(halo)*0.5", "compute(halo)*0.7", "links.hop(halo)*2"])
def test_other_changes_than_of_sizes_have_no_region(words: str) -> None:
    """They were made everywhere, and called those of the region."""
    with pytest.raises(UsageError, match="only bytes"):
        parse_change(words)


@pytest.mark.parametrize("factor", ["-1", "nan", "inf", "ring", "0,5"])
def test_a_factor_is_a_number(factor: str) -> None:
    """The forms of a change were listed, of which this was one."""
    with pytest.raises(UsageError, match="behind \\* stands a number, 0 or more"):
        parse_change(f"latency*{factor}")


def test_a_factor_may_have_an_exponent() -> None:
    """As elsewhere."""
    assert parse_change("links.hop * 1e-2").factor == 0.01


def test_a_change_that_cannot_be_executed_is_named(tmp_path: Path) -> None:
    """What is sent in a region and received outside it finds no room when it is larger."""

    def code(comm: program.Comm) -> Any:
        """From rank 1 to rank 0."""
        if comm.rank == 0:
            yield comm.recv(1, 1000)
            return
        with comm.region("halo"):
            yield comm.send(0, 1000)

    path = tmp_path / "sent.program"
    program.evaluate(code, ranks=2).write(path)
    target = SimulatedMachine.of(load(Path("bgp")), None, 2, network="loggp")
    with pytest.raises(LeadlineError, match=rf"^bytes.halo.\*2: {path} was not executed: .*room for 1000"):
        what_if(path, target, [parse_change("bytes(halo)*2")], ranks=2)
    ((_, found),) = what_if(path, target, [parse_change("bytes(halo)*0.5")], ranks=2)
    assert found.time.value is not None


def test_bandwidth_is_that_of_the_tree_network_too(tmp_path: Path) -> None:
    """As latency is: ten broadcasts of 100,000 B at 850 MB/s, and at twice that."""

    def code(comm: program.Comm) -> Any:
        """All ranks of a partition have the tree of Blue Gene/P."""
        for _ in range(10):
            yield comm.bcast(100_000)

    path = tmp_path / "tree.program"
    program.evaluate(code, ranks=128).write(path)
    target = SimulatedMachine.of(load(Path("bgp")), None, 128)
    first = replay(path, target, ranks=128).time.value
    ((_, found),) = what_if(path, target, [parse_change("bandwidth*2")], ranks=128)
    assert first is not None and found.time.value is not None
    assert first - found.time.value == pytest.approx(10 * 100_000 / 850e6 / 2, rel=1e-6)


def test_regions_that_overlap_end_by_their_own_numbers() -> None:
    """A begins, B begins, A ends, B ends: between the last two B is alone, and a stray end is none."""

    def body(comm: program.Comm) -> Any:
        def mark(kind: Kind, region: int) -> None:
            comm.owner.note(Operation(int(kind), extra=region))

        with comm.region("A"), comm.region("B"):
            pass
        other = 1 - comm.rank
        for kind, region, size in (
            (Kind.REGION_BEGIN, 1, 1),
            (Kind.REGION_BEGIN, 2, 10),
            (Kind.REGION_END, 1, 100),
            (Kind.REGION_END, 2, 1000),
            (Kind.REGION_END, 1, 10_000),
        ):
            mark(kind, region)
            yield comm.sendrecv(other, size, other)

    both = program.evaluate(body, ranks=2)

    def sent(region: str) -> int:
        changed = scaled_bytes(both, 3, region)
        return sum(leaf.bytes for leaf in changed.leaves(0))

    assert sent("A") == 11_111 + 2 * (1 + 10)
    assert sent("B") == 11_111 + 2 * (10 + 100)


def test_windows_have_room_for_larger_accesses(tmp_path: Path) -> None:
    """A put that fills a window does so with other sizes as well."""

    def fills(comm: program.Comm) -> Generator[Any, Any, None]:
        window = comm.window(25)
        yield window.fence()
        yield window.put(1 - comm.rank, 25)
        yield window.fence()

    path = tmp_path / "fills.program"
    program.evaluate(fills, ranks=2).write(path)
    target = SimulatedMachine.of(load("bgp"), None, 2, network="loggp")
    found = what_if(path, target, [parse_change("bytes*1.5"), parse_change("bytes*0.5")], ranks=2)
    assert [each.words for each, _ in found] == ["bytes*1.5", "bytes*0.5"]
    assert [leaf.bytes for leaf in scaled_bytes(program.read(path), 1.5).leaves(0) if leaf.bytes] == [38, 38]
