"""What a described machine moves is no more than its parts can: links, the tree, a node's engine, a cable."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main

MACHINE = """
title = "Made up"
{top}
[topology]
source = "made up"
kind = "torus"
shape = [4]
[links]
source = "made up"
rate = "1 GB/s"
hop = "{hop}"
base = "1 us"
[node]
source = "made up"
cores = {cores}
ranks = {ranks}
{node}
[[protocol]]
name = "eager"
source = "made up"
send_overhead = "0.5 us"
receive_overhead = "0.25 us"
{more}
"""
MEGABYTE = 10**6
Body = Any


def took(
    place: Path,
    body: Body,
    *words: str,
    ranks: int = 4,
    hop: str = "0.1 us",
    node: str = "",
    more: str = "",
    cores: int | None = None,
    top: str = "",
) -> float:
    """How long a program takes on the machine, s."""
    on_node = 2 if cores or "local" in node else 1
    (place / "made.toml").write_text(
        MACHINE.format(hop=hop, node=node, more=more, ranks=on_node, cores=cores or on_node, top=top)
    )
    program.evaluate(body, ranks=ranks).write(place / "made.program")
    asked = ["replay", str(place / "made.program"), "--on", str(place / "made.toml"), "--json", *words]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    return float(json.loads(done.stdout)[-1]["time"])


@pytest.mark.parametrize("network", ["loggp", "flow", "packet"])
def test_an_alltoallv_moves_its_blocks(network: str, tmp_path: Path) -> None:
    """Equal blocks as an alltoall of them, and those of one rank alone over its link."""

    def equal(comm: program.Comm) -> Body:
        others = dict.fromkeys(range(comm.size), MEGABYTE)
        yield comm.alltoallv(others, others)

    def alike(comm: program.Comm) -> Body:
        yield comm.alltoall(MEGABYTE)

    def one(comm: program.Comm) -> Body:
        gives = {peer: 10 * MEGABYTE for peer in range(1, comm.size)} if comm.rank == 0 else {}
        yield comm.alltoallv(gives, {0: 10 * MEGABYTE} if comm.rank else {})

    words = ("--network", network)
    assert took(tmp_path, equal, *words) == pytest.approx(took(tmp_path, alike, *words), rel=0.35)
    assert took(tmp_path, one, *words) > 0.010  # 10 MB over 1 GB/s; three links lead away


def test_nonblocking_collectives_share_the_tree(tmp_path: Path) -> None:
    """Ten sums of 1 MB, all begun at once, go up and down one tree of 1 GB/s."""

    def sums(comm: program.Comm) -> Body:
        requests = [comm.allreduce(MEGABYTE, nonblocking=True) for _ in range(10)]
        yield comm.wait_all(requests)

    tree = (
        '[collective_network]\nsource = "made up"\nrate = "1 GB/s"\nlatency = "1 us"\noverhead = "0.1 us"\n'
    )
    found = took(tmp_path, sums, more=tree)
    assert found == pytest.approx(10e-3, rel=0.01)


@pytest.mark.parametrize("hop", ["1 us", "100 us", "10 ms"])
def test_an_idle_link_is_as_quick_by_packets_however_long_it_is(hop: str, tmp_path: Path) -> None:
    """Where buffers are not told, they hold what is under way."""

    def message(comm: program.Comm) -> Body:
        if comm.rank == 0:
            yield comm.send(1, 10 * MEGABYTE)
        if comm.rank == 1:
            yield comm.recv(0, 10 * MEGABYTE)

    times = [took(tmp_path, message, "--network", each, hop=hop) for each in ("loggp", "flow", "packet")]
    assert times[1:] == pytest.approx(times[:1] * 2, rel=1e-3)


def test_the_gap_of_an_engine_is_within_the_node_too(tmp_path: Path) -> None:
    """100 messages of one byte, 1 us apart, by every network model."""

    def messages(comm: program.Comm) -> Body:
        other = 1 - comm.rank
        calls = [comm.isend(other, 1) if comm.rank == 0 else comm.irecv(other, 1) for _ in range(100)]
        yield comm.wait_all(calls)

    node = 'local_by_network = true\nlocal = "10 GB/s"\nlocal_latency = "0.1 us"\nmessage_gap = "1 us"'
    costs = 'send_overhead = "1 ns"\nreceive_overhead = "1 ns"'
    own = f'[[local_protocol]]\nname = "own"\nsource = "made up"\n{costs}'
    times = [
        took(tmp_path, messages, "--network", each, "--mapping", "TX", ranks=2, node=node, more=own)
        for each in ("loggp", "flow", "packet")
    ]
    assert times[1:] == pytest.approx(times[:1] * 2, rel=0.01)
    assert times[0] > 98e-6


def test_more_bandwidth_is_that_of_engines_too(tmp_path: Path) -> None:
    """A node that takes half of what a link carries."""

    def message(comm: program.Comm) -> Body:
        if comm.rank == 0:
            yield comm.send(1, MEGABYTE)
        if comm.rank == 1:
            yield comm.recv(0, MEGABYTE)

    node = 'reception = "500 MB/s"'
    assert took(tmp_path, message, node=node) == pytest.approx(2e-3, rel=0.01)
    twice = took(tmp_path, message, "--what-if", "bandwidth*2", node=node)
    assert twice == pytest.approx(1e-3, rel=0.01)


def test_a_hierarchical_collective_wants_nodes_ranks_together(tmp_path: Path) -> None:
    """As with a real MPI: with ranks that are dealt out to nodes it is skipped, with the reason."""
    text = MACHINE.format(hop="1 us", node='local_latency = "1 us"', more="", ranks=2, cores=2, top="")
    (tmp_path / "made.toml").write_text(text)
    (tmp_path / "plan.toml").write_text(
        'question = "?"\n[[measure]]\nbenchmark = "bcast"\nranks = 8\ncommunicator = "world"\n'
        'bytes = "1 KiB"\nroot = 0\nalgorithm = "hierarchical"\nmapping = ["TX", "XT"]\n'
    )
    words = ["run", str(tmp_path / "plan.toml"), "--on", str(tmp_path / "made.toml")]
    done = CliRunner().invoke(main, [*words, "-o", str(tmp_path / "run")])
    assert "1 point simulated, 1 skipped, 0 failed" in done.output, done.output
    assert "ranks of a node one after another" in done.output


def test_a_window_is_left_by_all_together(tmp_path: Path) -> None:
    """Who frees it early waits for who comes late, and then computes as long: 2 ms, as MPI has it."""

    def body(comm: program.Comm) -> Body:
        window = yield comm.window(100)
        if comm.rank == 0:
            yield comm.compute("1 ms")
        yield window.free()
        if comm.rank == 1:
            yield comm.compute("1 ms")

    assert took(tmp_path, body, ranks=2) == pytest.approx(2e-3, rel=1e-9)


def test_one_target_s_flush_waits_for_no_other(tmp_path: Path) -> None:
    """Rank 0 unlocks rank 1 while 10 MB come from rank 2: rank 1 computes at once, its 10 ms are all."""

    def body(comm: program.Comm) -> Body:
        window = yield comm.window(10 * MEGABYTE)
        if comm.rank == 0:
            yield window.lock(2)
            yield window.get(2, 10 * MEGABYTE)
            yield window.lock(1)
            yield window.put(1, 8)
            yield window.unlock(1)
            yield comm.send(1, 8)
            yield window.unlock(2)
        elif comm.rank == 1:
            yield comm.recv(0, 8)
            yield comm.compute("10 ms")

    assert took(tmp_path, body, ranks=3) == pytest.approx(10e-3, rel=5e-3)


def test_locks_of_a_window_take_turns(tmp_path: Path) -> None:
    """Three ranks that each need 1 ms of rank 0's memory alone take 3 ms, two that share it and one 2 ms."""

    def body(exclusive: tuple[bool, ...]) -> Any:
        def of_rank(comm: program.Comm) -> Body:
            window = yield comm.window(100)
            if comm.rank > 0:
                yield window.lock(0, exclusive=exclusive[comm.rank - 1])
                yield comm.compute("1 ms")
                yield window.unlock(0)

        return of_rank

    for alone, turns in (((True, True, True), 3), ((True, False, False), 2), ((False, False, False), 1)):
        assert took(tmp_path, body(alone)) == pytest.approx(turns * 1e-3, rel=0.02)


def test_epochs_of_two_windows_are_two(tmp_path: Path) -> None:
    """Rank 0's wait for its first window ends with rank 1's complete after 1 ms, not with a post.

    It then computes as long: 2 ms.
    """

    def body(comm: program.Comm) -> Body:
        first, second = (yield comm.window(100)), (yield comm.window(100))
        other = 1 - comm.rank
        if comm.rank == 0:
            yield first.post([other])
            yield first.wait()
            yield comm.compute("1 ms")
            yield second.start([other])
            yield second.complete()
        else:
            yield second.post([other])
            yield first.start([other])
            yield comm.compute("1 ms")
            yield first.complete()
            yield second.wait()

    assert took(tmp_path, body, ranks=2) == pytest.approx(2e-3, rel=0.01)


@pytest.mark.parametrize(("ranks", "lasts"), [(1, 1e-3), (8, 1e-3 * 2 / 1.2)])
def test_ranks_on_one_core_share_it(ranks: int, lasts: float, tmp_path: Path) -> None:
    """Two ranks on a core's two threads compute 1.2 times as fast as one, so each takes 2/1.2 of its time."""

    def body(comm: program.Comm) -> Body:
        yield comm.compute("1 ms")

    found = took(
        tmp_path, body, "--mapping", "XT", ranks=ranks, cores=1, node="threads = 2\nthread_gain = 1.2"
    )
    assert found == pytest.approx(lasts)


CREDITS = """
[[protocol]]
name = "rendezvous"
source = "made up"
send_overhead = "0.5 us"
receive_overhead = "0.25 us"
handshake = true
handshake_overhead = "0.2 us"
"""


@pytest.mark.parametrize(
    ("credits", "computes", "lasts"), [(0, 0.5, 2.5), (1, 0.5, 1.5), (2, 0.5, 1), (1, 5, 5)]
)
def test_messages_come_ahead_while_their_receiver_computes(
    credits: int, computes: float, lasts: float, tmp_path: Path
) -> None:
    """The data of two others take 1 ms each on links of their own, and are received one after the other.

    None ahead: each after its receive. One: the second when the first's receive is posted, at 0.5 ms, or when
    its data are there, at 1 ms, before a computation of 5 ms is over. Two: both at once. Times in ms.
    """

    def body(comm: program.Comm) -> Body:
        if comm.rank == 1:
            yield comm.compute(f"{computes} ms")
            for peer in (0, 2):
                yield comm.recv(peer, MEGABYTE)
        elif comm.rank < 3:
            yield comm.send(1, MEGABYTE)

    more = 'up_to = "1 kB"' + CREDITS
    node = f"rendezvous_credits = {credits}" if credits else ""
    assert took(tmp_path, body, node=node, more=more) == pytest.approx(lasts * 1e-3, rel=0.01)


@pytest.mark.parametrize("network", ["loggp", "flow", "packet"])
def test_varying_blocks_come_to_each_rank_over_its_link(network: str, tmp_path: Path) -> None:
    """Rank 3 has none, rank 1 10 MB, rank 2 1 MB; engines move 1 GB/s.

    A ring passes the largest on three times, 30 ms. A root deals with one rank after the other, 11 ms. In a
    reduce_scatter rank 1 gets as many bytes from each of the others, 30 ms.
    """
    blocks = {0: 1000, 1: 10 * MEGABYTE, 2: MEGABYTE}

    def all_of(comm: program.Comm) -> Body:
        yield comm.allgatherv(blocks)

    def to_one(comm: program.Comm) -> Body:
        yield comm.gatherv(blocks, root=3)

    def from_one(comm: program.Comm) -> Body:
        yield comm.scatterv(blocks, root=3)

    def sums(comm: program.Comm) -> Body:
        yield comm.reduce_scatter(blocks)

    node = 'injection = "1 GB/s"\nreception = "1 GB/s"'
    for body, words, lasts in (
        (all_of, ("--what-if", "allgather=ring"), 30e-3),
        (to_one, (), 11e-3),
        (from_one, (), 11e-3),
        (sums, ("--what-if", "reduce_scatter=pairwise"), 30e-3),
    ):
        found = took(tmp_path, body, "--network", network, *words, node=node)
        assert found == pytest.approx(lasts, rel=0.15), words
