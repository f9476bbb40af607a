"""Profiles of programs whose waits are known: planted ones, and sums that must be kept."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.profile import profile
from leadline.profile.findings import findings
from leadline.profile.sentences import beside, crowded, unseen
from leadline.program.build import ProgramBuilder
from leadline.program.events import meetings, messages
from leadline.program.model import WAITED, Communicator, Construction, Form, Kind, Operation, Program

MS = 1_000_000  # ns


def timed(*ranks: list[tuple[Operation, int, int]]) -> Program:
    """A program from each rank's operations with when they were entered and left, ns."""
    builder = ProgramBuilder(len(ranks), measured=True)
    builder.sites += ["app.c:1 main", "app.c:2 main"]
    for rank, rows in enumerate(ranks):
        builder.add(rank, [row[0] for row in rows], times=np.array([row[1:] for row in rows]))
    return builder.build()


def send(to: int, site: int = 0) -> Operation:
    """8 B to a rank."""
    return Operation(int(Kind.SEND), peer=to, bytes=8, site=site)


def receive(source: int, site: int = 0) -> Operation:
    """8 B from a rank."""
    return Operation(int(Kind.RECV), peer=source, bytes=8, site=site)


BARRIER = Operation(int(Kind.BARRIER))


def test_a_sender_that_is_5_ms_late_is_found() -> None:
    """The receive waits exactly until the send begins; the rest of it is transfer."""
    found = profile(timed([(send(1, 1), 5 * MS, 5 * MS + 1000)], [(receive(0, 2), 0, 5 * MS + 3000)]))
    assert found.waits.tolist() == [[0, 0, 0, 0], [5 * MS, 0, 0, 0]]
    assert found.caused().tolist() == [5 * MS, 0]
    assert found.transfer.tolist() == [1000, 3000]
    assert "rank 0, most for its send at app.c:1 main" in findings(found)[0]


ALLREDUCE = Operation(int(Kind.ALLREDUCE), bytes=8)
BEGUN = ALLREDUCE._replace(form=int(Form.NONBLOCKING), request=1)
READY = ALLREDUCE._replace(form=int(Form.PERSISTENT), request=1)
START, WAIT = (Operation(int(kind), gives=(1,)) for kind in (Kind.START, Kind.WAIT))
TOGETHER = {
    "copy of a communicator": Operation(int(Kind.COMM), extra=1, mode=int(Construction.DUP)),
    "window": Operation(int(Kind.WIN), extra=1),
    "fence": Operation(int(Kind.FENCE), extra=1),
    "end of a window": Operation(int(Kind.WIN_FREE), extra=1),
    "gather that the root takes": Operation(int(Kind.GATHER), peer=0, bytes=8),
    "broadcast that nobody took": Operation(int(Kind.BCAST), peer=1, bytes=8),
}


@pytest.mark.parametrize("what", TOGETHER)
def test_whatever_all_come_to_waits_for_the_last(what: str) -> None:
    """Rank 0 comes 5 ms late, and rank 1 is in the call until then."""
    one = TOGETHER[what]
    found = profile(timed([(one, 5 * MS, 6 * MS)], [(one, 0, 6 * MS)]))
    assert found.waits.tolist() == [[0, 0, 0, 0], [0, 0, 5 * MS, 0]]
    assert found.caused().tolist() == [5 * MS, 0]
    assert (found.path_by_rank()[0] / MS).tolist() == [5, 0]


@pytest.mark.parametrize("what", ["gather that the root takes", "broadcast that nobody took"])
def test_who_left_before_the_other_came_did_not_wait(what: str) -> None:
    """A message of few bytes is sent without a receiver."""
    one = TOGETHER[what]
    found = profile(timed([(one, 5 * MS, 6 * MS)], [(one, 0, MS)]))
    assert not found.waits.any()


@pytest.mark.parametrize("begun", [[BEGUN], [READY, START]])
def test_a_collective_that_does_not_block_waits_where_it_is_completed(begun: list[Operation]) -> None:
    """Rank 1 begins at once, computes for 1 ms, and waits until rank 0 begins at 5 ms."""
    late = [(each, 5 * MS, 5 * MS) for each in begun] + [(WAIT, 5 * MS, 6 * MS)]
    early = [(each, 0, 0) for each in begun] + [(WAIT, MS, 6 * MS)]
    found = profile(timed(late, early))
    assert found.waits.tolist() == [[0, 0, 0, 0], [0, 0, 4 * MS, 0]]
    assert found.computing.tolist() == [5 * MS, MS]


def test_a_slot_that_was_freed_is_another_request() -> None:
    """A message made ready in the place of a collective starts as a message, and the other way round."""
    free = Operation(int(Kind.FREE), request=1)
    rows: list[list[tuple[Operation, int, int]]] = []
    for message in (send(1), receive(0)):
        ready = message._replace(form=int(Form.PERSISTENT), request=1)
        turns = [READY, START, WAIT, free, ready, START, WAIT, free]
        rows.append([(each, n, n) for n, each in enumerate(turns)])
    made = timed(*rows)
    assert len(list(meetings(made))) == 1
    assert len(list(messages(made))) == 1


@pytest.mark.parametrize(
    ("how", "late"), [(Construction.CREATE_GROUP, 0), (Construction.MERGE, 1), (Construction.INTER, 0)]
)
def test_a_communicator_of_some_ranks_waits_for_the_last_of_them(how: Construction, late: int) -> None:
    """One of ranks 0 and 1 is 5 ms late; rank 2, which is not of the new communicator, is not asked."""
    builder = ProgramBuilder(3, measured=True)
    new = [Communicator(range(2), int(how))] * 2
    if how == Construction.INTER:
        new = [Communicator((rank,), int(how), 0, (1 - rank,)) for rank in range(2)]
    builder.communicators += new
    for rank in range(2):
        made = Operation(int(Kind.COMM), extra=2 + rank * (how == Construction.INTER), mode=int(how))
        builder.add(rank, [made], times=np.array([[5 * MS * (rank == late), 6 * MS]]))
    builder.add(2, [BARRIER], times=np.array([[0, 9 * MS]]))
    found = profile(builder.build())
    assert found.waits[1 - late].tolist() == [0, 0, 5 * MS, 0]
    assert found.caused().tolist() == [5 * MS * (rank == late) for rank in range(3)]


def test_a_wait_for_a_copied_communicator_is_said_to_be_unseen() -> None:
    """MPI_Comm_idup's, 3 of the ranks' 8 ms; it is none of a call that is known by its name only."""
    wait = Operation(int(Kind.NOP), mode=WAITED)
    found = profile(timed([(wait, 0, 3 * MS), (BARRIER, 4 * MS, 4 * MS)], [(BARRIER, 4 * MS, 4 * MS)]))
    assert "MPI_Comm_idup" in str(unseen(found))
    assert str(unseen(found)).startswith("37.5 %")
    assert not found.by_name_only.any()


def test_time_in_locks_is_said_to_be_unseen() -> None:
    """Of the ranks' 8 ms together 3; little of it is not worth a sentence."""
    lock = Operation(int(Kind.LOCK), peer=1, extra=1)
    found = profile(timed([(lock, 0, 3 * MS), (BARRIER, 4 * MS, 4 * MS)], [(BARRIER, 4 * MS, 4 * MS)]))
    assert str(unseen(found)).startswith("37.5 % of the time is in locks")
    assert unseen(profile(timed([(BARRIER, 0, MS)], [(BARRIER, 0, MS)]))) is None


def test_other_work_beside_a_recording_is_told() -> None:
    """From a quarter of a processor on, on one host."""
    made = timed([(send(1), 0, 1000)], [(receive(0), 0, 1000)])
    for others, hosts, told in ((1.04, ["a"], True), (0.1, ["a"], False), (1.0, ["a", "b"], False)):
        said = beside(profile(replace(made, recorded={"others": others, "hosts": hosts})))
        assert (said is not None) == told
    assert beside(profile(made)) is None


def test_ranks_that_shared_processors_are_told() -> None:
    """Then waiting is for a processor; nothing is said where there was one for each, or several hosts."""
    made = timed([(send(1), 0, 1000)], [(receive(0), 0, 1000)])
    found = profile(replace(made, recorded={"cores": 1, "hosts": ["a"]}))
    assert "2 ranks were recorded on one processor: much of the waiting" in str(crowded(found))
    replayed = profile(replace(made, recorded={"cores": 1, "hosts": ["a"], "simulated_on": "bgp"}))
    assert "one processor: their computation, which is replayed" in str(crowded(replayed))
    for recorded in (
        {"cores": 2, "hosts": ["a"]},
        {"cores": 1, "hosts": ["a", "b"]},
        {"cores": 1, "hosts": None},
        {},
    ):
        assert crowded(profile(replace(made, recorded=recorded))) is None


def test_a_late_receiver_is_found_where_the_send_ended_after_it() -> None:
    """A send that was over before does not wait."""
    late = [(send(1), 0, 7 * MS)], [(receive(0), 6 * MS, 7 * MS)]
    early = [(send(1), 0, 1000)], [(receive(0), 6 * MS, 7 * MS)]
    assert profile(timed(*late)).waits[0].tolist() == [0, 6 * MS, 0, 0]
    assert profile(timed(*early)).waits[0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("early", [0, 3_000])
def test_of_an_exchange_with_a_late_partner_the_receive_waits(late: int, early: int) -> None:
    """Whichever rank is late, in MPI_Sendrecv and where its receive is asked for soon after its send."""
    other = 1 - late
    both = Operation(int(Kind.SENDRECV), peer=late, bytes=50, source=late, source_bytes=50)
    receives = receive(late)._replace(form=int(Form.NONBLOCKING), request=1)
    sends = send(late)._replace(form=int(Form.NONBLOCKING), request=2)
    done = Operation(int(Kind.WAIT), gives=(1, 2))
    rows: list[list[tuple[Operation, int, int]]] = [[], []]
    if early:
        rows[other] = [(receives, 0, 0), (sends, 0, 0), (done, 0, 6 * MS)]
        rows[late] = [(send(other), 5 * MS, 5 * MS), (receive(other), 5 * MS + early, 6 * MS)]
    else:
        rows[other] = [(both, 0, 6 * MS)]
        rows[late] = [(both._replace(peer=other, source=other), 5 * MS, 6 * MS)]
    found = profile(timed(*rows))
    assert found.waits[other].tolist() == [5 * MS, 0, 0, 0]
    assert found.caused()[late] == 5 * MS


POSTED = receive(0)._replace(form=1, request=1)
DONE = Operation(int(Kind.WAIT), gives=(1,))


def test_a_send_waits_for_the_receiver_to_call_mpi_where_that_moves_the_message() -> None:
    """Rank 1 asked early and computes 8 ms: the send ends after it is back, so it waits for rank 1, and the
    critical path is rank 1's computation.
    """
    found = profile(timed([(send(1), 1 * MS, 9 * MS)], [(POSTED, 0, 1000), (DONE, 8 * MS, 9 * MS)]))
    assert found.waits.tolist() == [[0, 0, 0, 7 * MS], [0, 0, 0, 0]]
    assert found.caused().tolist() == [0, 7 * MS]
    assert "for rank 1: the library moves them in calls only" in findings(found)[0]
    computing, _ = found.path_by_rank()
    assert computing.tolist() == [0, 8 * MS - 1000]


@pytest.mark.parametrize(
    ("left", "back"),
    [
        (2 * MS, 8 * MS),  # it was over before the receiver came back
        (9 * MS, 3 * MS),  # it went on for longer than it could have waited
        (9 * MS, 1001),  # the receiver was there all the time
    ],
)
def test_a_message_that_moves_by_itself_waits_for_no_progress(left: int, back: int) -> None:
    """A long transfer is one, whenever the receiver comes back."""
    found = profile(timed([(send(1), 1 * MS, left)], [(POSTED, 0, 1000), (DONE, back, 9 * MS)]))
    assert found.waits[:, 3].tolist() == [0, 0]


def test_a_late_receiver_that_computes_longer_is_told_so() -> None:
    """Receives that are asked for earlier would not help, and are not advised."""
    made = timed([(send(1), 1 * MS, 9 * MS)], [(receive(0), 9 * MS - 10, 9 * MS)])
    assert "give it less to do" in findings(profile(made))[0]
    other = [(send(1), 8 * MS, 12 * MS)], [(BARRIER, 0, 11 * MS), (receive(0), 12 * MS - 10, 12 * MS)]
    assert "MPI_Irecv" in findings(profile(timed(*other)))[0]


def test_a_nonblocking_receive_waits_in_its_wait() -> None:
    """Not where it was posted; and no longer than the call lasted."""
    found = profile(timed([(send(1), 9 * MS, 9 * MS + 10)], [(POSTED, 0, 10), (DONE, 4 * MS, 10 * MS)]))
    assert found.waiting[1].time.tolist() == [0, 5 * MS]


def test_the_rank_that_comes_last_is_the_cause_of_an_imbalance() -> None:
    """Rank 2 computes 3 ms; the others wait for it, although each of them waited for others before."""
    rows = [[(BARRIER, at * MS, 3 * MS + 50)] for at in (0, 1, 3)]
    found = profile(timed(*rows))
    assert found.waits[:, 2].tolist() == [3 * MS, 2 * MS, 0]
    assert found.caused().tolist() == [0, 0, 5 * MS]
    computing, inside = found.path_by_rank()
    assert computing.tolist() == [0, 0, 3 * MS]
    assert inside.sum() == 50
    assert any("rank 2" in each for each in findings(found))


def test_in_a_broadcast_nobody_waits_but_for_the_root() -> None:
    """Rank 1 comes last, and that costs nobody anything; the root is 1 ms late."""
    cast = Operation(int(Kind.BCAST), peer=0, bytes=8)
    found = profile(timed([(cast, MS, MS + 10)], [(cast, 4 * MS, 4 * MS + 10)], [(cast, 0, MS + 20)]))
    assert found.waits[:, 2].tolist() == [0, 0, MS]


def test_a_chain_of_waits_leads_to_its_origin() -> None:
    """Rank 0 computes 4 ms, sends to 1, which sends on to 2: the critical path is rank 0's computation."""
    found = profile(
        timed(
            [(send(1), 4 * MS, 4 * MS + 10)],
            [(receive(0), 0, 4 * MS + 20), (send(2), 4 * MS + 30, 4 * MS + 40)],
            [(receive(1), 0, 4 * MS + 60)],
        )
    )
    computing, inside = found.path_by_rank()
    assert computing.tolist() == [4 * MS, 10, 0]
    assert int(computing.sum() + inside.sum()) == 4 * MS + 60


def chance(comm: program.Comm, seed: int) -> Any:
    """The same random turns for all ranks, with computation of each one's own."""
    turns, own = random.Random(seed), random.Random(1000 * seed + comm.rank)
    for _ in range(30):
        yield comm.compute(own.random() * 1e-4)
        what = turns.randrange(4)
        if what == 0:
            yield comm.allreduce(8)
        elif what == 1:
            yield comm.bcast(64, root=turns.randrange(comm.size))
        elif what == 2:
            shift = turns.randrange(1, comm.size)
            yield comm.sendrecv((comm.rank + shift) % comm.size, 4096, (comm.rank - shift) % comm.size)
        else:
            requests = [
                comm.irecv((comm.rank - 1) % comm.size, 32),
                comm.isend((comm.rank + 1) % comm.size, 32),
            ]
            yield comm.compute(own.random() * 1e-4)
            yield comm.wait_all(requests)


@pytest.mark.parametrize("seed", range(6))
def test_parts_add_up_to_each_ranks_time_and_the_path_to_the_runs(tmp_path: Path, seed: int) -> None:
    """In whole nanoseconds, of random programs as a described machine executes them."""
    path, timed_path = tmp_path / "x.program", tmp_path / "y.program"
    program.evaluate(chance, ranks=8, seed=seed).write(path)
    words = ["replay", str(path), "--on", "ndr-fat-tree", "--mapping", "XT", "--times", str(timed_path)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    found = profile(program.read(timed_path))
    assert (found.computing + found.waits.sum(axis=1) + found.transfer == found.end).all()
    assert (found.transfer >= 0).all()
    assert (found.waits >= 0).all()
    computing, inside = found.path_by_rank()
    assert int(computing.sum() + inside.sum()) == int(found.end.max())
    assert all(within >= 0 and before >= 0 for _, _, within, before in found.path)


def test_the_first_screen_fits(tmp_path: Path) -> None:
    """Within 25 lines."""
    path = tmp_path / "x.program"
    timed([(send(1, 1), 5 * MS, 5 * MS + 1000)], [(receive(0, 2), 0, 5 * MS + 3000)]).write(path)
    done = CliRunner().invoke(main, ["profile", str(path)])
    assert done.exit_code == 0, done.output
    assert len(done.output.splitlines()) <= 25
    assert "late sender 50.0 %" in done.output


def test_without_times_there_is_a_sentence() -> None:
    """Which says where they come from."""
    with pytest.raises(UsageError, match="has no times"):
        profile(program.evaluate(chance, ranks=2, seed=1))
