"""Whom ranks wait for in collectives that do not need everybody."""

from profile.test_matching import IMBALANCE, Row, op, waited
from profile.test_profile import MS, receive, send, timed

import pytest

from leadline.profile import profile
from leadline.profile.findings import findings
from leadline.profile.sentences import warnings
from leadline.program.model import Kind


def line(rank: int, ranks: int) -> tuple[int, ...]:
    """The neighbours of a rank on a line, 4 B each."""
    return tuple(n for peer in (rank - 1, rank + 1) if 0 <= peer < ranks for n in (peer, 4))


@pytest.mark.parametrize("kind", [Kind.NEIGHBOR_ALLTOALL, Kind.NEIGHBOR_ALLGATHER])
def test_neighbours_wait_for_each_other_alone(kind: Kind) -> None:
    """Rank 0 comes at 20 ms, rank 3 at 30; rank 2 leaves last of those between."""
    comes, leaves = (20, 0, 0, 30), (20, 20, 31, 31)
    rows = [
        [(op(kind, gives=line(rank, 4), takes=line(rank, 4)), comes[rank] * MS, leaves[rank] * MS)]
        for rank in range(4)
    ]
    found = profile(timed(*rows))
    assert waited(found, IMBALANCE) == [0, 20, 30, 0]
    assert [int(time) // MS for time in found.caused()] == [20, 0, 0, 30]


def test_time_with_a_partner_is_no_waiting_for_a_late_stranger() -> None:
    """Ranks 0 and 1 move data for 50 ms; rank 3, whom neither knows, comes at 40."""
    kind = Kind.NEIGHBOR_ALLTOALL
    comes, leaves = (0, 0, 0, 40), (50, 50, 41, 41)
    rows = [
        [(op(kind, gives=line(rank, 4), takes=line(rank, 4)), comes[rank] * MS, leaves[rank] * MS)]
        for rank in range(4)
    ]
    assert waited(profile(timed(*rows)), IMBALANCE) == [0, 0, 40, 0]


@pytest.mark.parametrize("kind", [Kind.SCAN, Kind.EXSCAN])
def test_a_scan_waits_for_the_ranks_below(kind: Kind) -> None:
    """Rank 0 comes at 20 ms, rank 2 at 30, which rank 1 has left before; rank 3 needs both."""
    scan = op(kind, bytes=4)
    found = profile(
        timed(
            [(scan, 20 * MS, 21 * MS)], [(scan, 0, 21 * MS)], [(scan, 30 * MS, 31 * MS)], [(scan, 0, 31 * MS)]
        )
    )
    assert waited(found, IMBALANCE) == [0, 20, 0, 30]
    assert [int(time) // MS for time in found.caused()] == [20, 0, 30, 0]


def test_a_scan_of_a_library_may_wait_for_a_rank_above() -> None:
    """Rank 1 leaves as soon as rank 2 has come, 10 ms after the one below it."""
    scan = op(Kind.SCAN, bytes=4)
    found = profile(timed([(scan, 0, 30 * MS)], [(scan, 0, 30 * MS + 9_000)], [(scan, 30 * MS, 31 * MS)]))
    assert [int(time) // MS for time in found.caused()] == [0, 0, 60]


def test_ranks_without_blocks_are_waited_for_where_a_library_does() -> None:
    """Ranks 0 and 1 exchange; 1 comes at 20 ms and 2, which has no blocks, at 30."""

    def rows(left: int) -> list[list[Row]]:
        blocks = [(1, 4), (0, 4), ()]
        comes, leaves = (0, 20, 30), (left, 21, 31)
        return [
            [(op(Kind.ALLTOALL, gives=blocks[rank], takes=blocks[rank]), comes[rank] * MS, leaves[rank] * MS)]
            for rank in range(3)
        ]

    assert profile(timed(*rows(21))).caused().tolist() == [0, 20 * MS, 0]
    assert profile(timed(*rows(100))).caused().tolist() == [0, 20 * MS, 0]  # long after: its own transfer


def test_a_rank_without_blocks_waits_where_a_library_has_it_wait() -> None:
    """Rank 0 gives and takes nothing, and leaves as soon as rank 1 has come."""
    none, some = (1, 0, 2, 0), (0, 0, 1, 4)
    call = op(Kind.ALLTOALL)
    rows = [
        [(call._replace(gives=none, takes=none), 0, 20 * MS + 9_000)],
        [(call._replace(gives=(0, 0, 2, 4), takes=(0, 0, 2, 4)), 20 * MS, 21 * MS)],
        [(call._replace(gives=some, takes=some), 20 * MS - 50_000, 21 * MS)],
    ]
    assert profile(timed(*rows)).caused().tolist()[1] >= 20 * MS


def test_the_root_of_a_gather_waits_for_those_that_give() -> None:
    """Rank 2 gives nothing and comes at 30 ms, when the root has left."""
    root = op(Kind.GATHER, takes=(0, 4, 1, 4))
    other = op(Kind.GATHER, bytes=4)
    found = profile(
        timed(
            [(root, 0, 20 * MS)], [(other, 20 * MS, 20 * MS)], [(other._replace(bytes=0), 30 * MS, 30 * MS)]
        )
    )
    assert [int(time) // MS for time in found.caused()] == [0, 20, 0]


def test_no_rank_is_told_to_do_less_that_waited_itself() -> None:
    """Rank 0 sends at 20 ms to rank 1, which then comes to a barrier last."""
    barrier = op(Kind.BARRIER)
    found = profile(
        timed(
            [(send(1), 20 * MS, 20 * MS), (barrier, 20 * MS, 20 * MS + 2000)],
            [(receive(0), 0, 20 * MS + 1000), (barrier, 20 * MS + 1000, 20 * MS + 2000)],
            [(barrier, 0, 20 * MS + 2000)],
        )
    )
    said = findings(found)
    assert any("which does not compute longer" in each for each in said)
    assert not any("Give rank 1" in each for each in said)


def test_threads_and_what_has_only_a_name_are_said() -> None:
    """What a recording does not tell."""
    program = timed([(op(Kind.NOP), 0, 10 * MS), (op(Kind.BARRIER), 10 * MS, 20 * MS)])
    program.recorded.update({"threads": 2, "outside": ["MPI_Precv_init"]})
    said = warnings(profile(program))
    assert any("2 threads" in each for each in said)
    assert any("MPI_Precv_init" in each and "50.0 %" in each for each in said)
