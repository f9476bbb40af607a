"""Several threads of a rank that call MPI: one sequence that can be executed, of records that are made up."""

import json
import struct
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.mpi import Mpi
from leadline.program.build import ProgramBuilder
from leadline.program.events import messages
from leadline.program.model import Construction, Form, Kind, Operation, Program, SendMode
from leadline.record import spills
from leadline.record.convert import convert
from record.test_record import Build, _as_root, build, launched, mpi, recorded

__all__ = ["_as_root", "build", "mpi"]  # fixtures

WORLD, SELF, SECOND = 100, 101, 102  # handles of communicators
UNKNOWN = [-2, -2, -2]


class Raw:
    """The record of a rank; times in ns from when it left MPI_Init, calls in the order in which they end."""

    def __init__(self, rank: int) -> None:
        """Of two ranks."""
        self.rank = rank
        facts = {"rank": rank, "ranks": 2, "world": WORLD, "self": SELF, "clock_offset": 0}
        text = json.dumps({**facts, "host": "here", "session": "one", "mpi": "made up"}).encode()
        self.data = b""
        padded = text + b"\0" * (-len(text) % 8)
        self.call(1, spills.META, 0, 0, list(struct.unpack(f"<{len(padded) // 8}q", padded)))

    def call(
        self, thread: int, kind: int, enter: int, leave: int, values: list[int], *, form: int = 0
    ) -> "Raw":
        """The next entry."""
        head = struct.pack("<IBBBBqqqq", 5 + len(values), kind, form, 0, thread, enter, leave, 0, 0)
        self.data += head + struct.pack(f"<{len(values)}q", *values)
        return self

    def send(self, thread: int, enter: int, leave: int, size: int = 8, comm: int = WORLD) -> "Raw":
        """To the other rank."""
        return self.call(thread, Kind.SEND, enter, leave, [comm, 1 - self.rank, size, 1, 0])

    def receive(self, thread: int, enter: int, leave: int, size: int = 8, comm: int = WORLD) -> "Raw":
        """Of any message, of which one of the other rank came."""
        return self.call(thread, Kind.RECV, enter, leave, [comm, -1, 64, -1, 0, 1 - self.rank, 1, size])

    def together(self, thread: int, enter: int, leave: int, comm: int = WORLD) -> "Raw":
        """A barrier."""
        return self.call(thread, Kind.BARRIER, enter, leave, [comm, 0, 0, 0, 0, 0, 0, 0])

    def dup(self, thread: int, enter: int, leave: int, made: int) -> "Raw":
        """A copy of the world."""
        return self.call(thread, Kind.COMM, enter, leave, [WORLD, made, 2, self.rank, 0, 0, 0, 0, 1])

    def end(self, at: int) -> spills.Spill:
        """With MPI_Finalize."""
        self.call(1, spills.FINALIZE, at, at, [])
        facts = {"rank": self.rank, "ranks": 2, "world": WORLD, "self": SELF, "clock_offset": 0}
        return spills.Spill(Path("none"), self.data, {**facts, "host": "here", "session": "1", "mpi": "it"})


def program_of(*raw: spills.Spill) -> Program:
    """The program of two ranks' records; the times of each add up to its whole time."""
    made = convert(raw, {})
    for rank in range(2):
        times = made.times(rank)
        assert times is not None
        assert (times[:, 0] <= times[:, 1]).all()
        assert (times[1:, 0] >= times[:-1, 1]).all()
        inside = int((times[:, 1] - times[:, 0]).sum())
        assert inside + round(made.before(rank).sum() * 1e9) == times[-1, 1]
    return made


def told(made: Program, rank: int) -> list[str]:
    """The operations of a rank with the times in them."""
    times = made.times(rank)
    assert times is not None
    return [
        f"{'I' if each.form == Form.NONBLOCKING else ''}{Kind(each.kind).name} {enter}-{leave}"
        for (_, each), (enter, leave) in zip(made.operations(rank), times.tolist(), strict=True)
    ]


def test_a_call_during_which_others_come_is_begun_and_waited_for() -> None:
    """Rank 0's receive takes a message that rank 1 sends after rank 0's second thread has sent it another."""
    first = Raw(0).send(2, 200, 210).receive(1, 100, 500).end(900)
    second = Raw(1).receive(1, 100, 300).send(1, 400, 420).end(900)
    made = program_of(first, second)
    assert told(made, 0) == ["IRECV 100-100", "SEND 200-210", "WAIT 210-500", "NOP 900-900"]
    assert told(made, 1) == ["RECV 100-300", "SEND 400-420", "NOP 900-900"]
    (begun,) = [each for _, each in made.operations(0) if each.kind == Kind.RECV]
    assert (begun.peer, begun.bytes, begun.tag, begun.free) == (1, 8, 1, 3)
    assert made.recorded["at_once"] == 1
    assert len(list(messages(made))) == 2


def test_calls_that_no_other_comes_between_stay_as_they_are() -> None:
    """Also one that lies within another thread's."""
    first = Raw(0).send(2, 100, 110).receive(1, 120, 200).send(2, 210, 250).end(300)
    second = Raw(1).receive(1, 0, 150).send(1, 160, 170).receive(1, 180, 260).end(300)
    made = program_of(first, second)
    assert told(made, 0) == ["SEND 100-110", "RECV 120-200", "SEND 210-250", "NOP 300-300"]
    assert made.recorded["at_once"] == 0
    assert "at_once" not in program_of(Raw(0).end(3), Raw(1).end(3)).recorded


def test_a_collective_is_begun_on_all_its_ranks() -> None:
    """One form does not match the other; collectives of the same communicator before and after stay."""
    first = Raw(0).dup(1, 0, 10, SECOND).together(1, 20, 30).send(2, 60, 70, comm=SECOND)
    first.together(1, 50, 90).together(1, 95, 99)
    second = Raw(1).dup(1, 0, 10, SECOND).together(1, 20, 30).receive(1, 65, 75, comm=SECOND)
    second.together(1, 80, 91).together(1, 95, 99)
    made = program_of(first.end(100), second.end(100))
    names = [told(made, rank) for rank in range(2)]
    assert [each.split()[0] for each in names[0]] == [
        *("COMM", "BARRIER", "IBARRIER", "SEND", "WAIT", "BARRIER", "NOP")
    ]
    assert [each.split()[0] for each in names[1]] == [
        *("COMM", "BARRIER", "RECV", "IBARRIER", "WAIT", "BARRIER", "NOP")
    ]
    assert names[1][3:5] == ["IBARRIER 80-80", "WAIT 80-91"]


def test_a_communicator_made_during_other_calls_is_an_exchange() -> None:
    """Of 8 bytes in its parent, on both ranks; what is called in the new one is there."""
    first = Raw(0).send(2, 20, 30).dup(1, 10, 60, SECOND).together(1, 70, 80, SECOND)
    second = Raw(1).receive(1, 25, 35).dup(1, 40, 60, SECOND).together(1, 70, 80, SECOND)
    made = program_of(first.end(90), second.end(90))
    assert [each.split()[0] for each in told(made, 0)] == ["IALLGATHER", "SEND", "WAIT", "BARRIER", "NOP"]
    assert [each.split()[0] for each in told(made, 1)] == ["RECV", "IALLGATHER", "WAIT", "BARRIER", "NOP"]
    assert made.communicators[1].construction == Construction.DUP
    for rank in range(2):
        calls = [each for _, each in made.operations(rank)]
        assert [(each.comm, each.bytes) for each in calls if each.kind == Kind.ALLGATHER] == [(0, 8)]
        assert [each.comm for each in calls if each.kind == Kind.BARRIER] == [1]


def test_receives_of_like_messages_take_them_in_order() -> None:
    """Two threads of rank 0 wait for the same; the one that came last ends first, with the first message."""
    first = Raw(0).receive(2, 20, 50, 16).receive(1, 10, 80, 32).end(90)
    second = Raw(1).send(1, 40, 45, 16).send(1, 60, 65, 32).end(90)
    made = program_of(first, second)
    assert [each.split()[0] for each in told(made, 0)] == ["IRECV", "IRECV", "WAIT", "WAIT", "NOP"]
    calls = [each for _, each in made.operations(0)]
    assert [(each.bytes, each.request) for each in calls[:2]] == [(16, 1), (32, 2)]
    assert [each.gives for each in calls[2:4]] == [(1,), (2,)]


def test_receives_have_the_sizes_of_their_messages() -> None:
    """Also where the thread that had the first message left its receive after the other one."""
    first = Raw(0).receive(2, 20, 70, 32).receive(1, 10, 80, 16).end(90)
    second = Raw(1).send(1, 40, 45, 16).send(1, 60, 65, 32).end(90)
    made = program_of(first, second)
    assert [each.bytes for _, each in made.operations(0) if each.kind == Kind.RECV] == [16, 32]


def test_a_thread_may_have_the_handle_that_another_one_s_wait_frees() -> None:
    """Thread 2 gets handle 7 before thread 1's wait for its own 7 is left."""

    def begin(raw: Raw, thread: int, enter: int, leave: int, size: int) -> Raw:
        return raw.call(thread, Kind.SEND, enter, leave, [WORLD, 1, size, 1, 7], form=Form.NONBLOCKING)

    first = begin(begin(Raw(0), 1, 10, 20, 8), 2, 40, 50, 16)
    for thread, enter, leave in ((2, 55, 60), (1, 30, 70)):
        first.call(thread, Kind.WAIT, enter, leave, [1, 7, 1, 0, *UNKNOWN])
    second = Raw(1).receive(1, 5, 35, 8).receive(1, 45, 65, 16)
    first.receive(2, 80, 100).send(1, 85, 86)
    second.send(1, 95, 96).receive(1, 97, 99)
    calls = [each for _, each in program_of(first.end(110), second.end(110)).operations(0)]
    begun = {each.request: each.bytes for each in calls if each.kind == Kind.SEND and each.request}
    waits = [begun[each.gives[0]] for each in calls if each.kind == Kind.WAIT][:2]
    assert waits == [16, 8]


def test_a_thread_computes_while_another_one_waits() -> None:
    """What it did before its next call is computation; the time until the other's wait is over is in MPI."""
    first = Raw(0).send(2, 100, 110).send(2, 400, 410).receive(1, 50, 500).end(500)
    second = Raw(1).receive(1, 0, 105).receive(1, 105, 405).send(1, 480, 490).end(500)
    made = program_of(first, second)
    assert told(made, 0) == ["IRECV 50-50", "SEND 100-110", "SEND 400-410", "WAIT 410-500", "NOP 500-500"]
    assert made.before(0).sum() * 1e9 == pytest.approx(50 + 50 + 290)


def test_a_send_that_ended_before_its_receive_waits_for_nobody() -> None:
    """Where it has to wait, only its thread does: rank 0's other thread sends what rank 1 needs first."""
    first = Raw(0).receive(3, 0, 50).send(1, 10, 20, size=1 << 20)
    second = Raw(1).send(1, 35, 45).receive(1, 60, 70, size=1 << 20)
    made = program_of(first.end(90), second.end(90))
    assert next(each.mode for _, each in made.operations(0) if each.kind == Kind.SEND) == SendMode.BUFFERED
    assert [each.mode for _, each in made.operations(1) if each.kind == Kind.SEND] == [SendMode.STANDARD]


@pytest.mark.mpi
def test_a_program_whose_threads_wait_for_one_another_is_replayed(
    mpi: Mpi, build: Build, tmp_path: Path
) -> None:
    """Bytes and calls are the source's, and the commands say what was recorded otherwise than called."""
    path = tmp_path / "threads.program"
    done = recorded(path, launched(mpi, build("threads.c", "-pthread"), ranks=2))
    assert done.exit_code == 0, done.output
    made = program.read(path)
    for rank in range(2):
        kinds = [(each.kind, each.bytes) for _, each in made.operations(rank)]
        assert kinds.count((Kind.ALLREDUCE, 4)) == 3
        assert kinds.count((Kind.BARRIER, 0)) == 1
        assert kinds.count((Kind.SEND if rank else Kind.RECV, 40)) == 1
    assert "threads" in done.stderr
    for command in (["replay", str(path), "--on", "bgp"], ["profile", str(path)]):
        played = CliRunner().invoke(main, command)
        assert played.exit_code == 0, played.output
        assert "threads" in played.output


@pytest.mark.mpi
def test_a_nonblocking_collective_is_begun_before_others_come_to_it(mpi: Mpi, tmp_path: Path) -> None:
    """Rank 1 begins its part after a message that rank 0 sends once it has begun its own."""
    made = ProgramBuilder(2)
    begin = Operation(int(Kind.ALLREDUCE), 0, 0, 8, request=1, form=int(Form.NONBLOCKING), type=4)
    over = Operation(int(Kind.WAIT), gives=(1,))
    made.add(0, [begin, Operation(int(Kind.SEND), 0, 1, 8, 1), over])
    made.add(1, [Operation(int(Kind.RECV), 0, 0, 8, 1), begin, over])
    made.build().write(tmp_path / "begun.program")
    words = ["replay", str(tmp_path / "begun.program"), "--mpi", mpi.id, "--launches", "1"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
