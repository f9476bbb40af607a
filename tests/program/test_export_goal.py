"""Programs with collectives as GOAL: the messages of their algorithms, in whatever communicator and form."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.machine import load
from leadline.program import exporters, importers
from leadline.program.build import ProgramBuilder
from leadline.program.model import Communicator, Form, Kind, Operation, Program
from leadline.run.replay import replay
from leadline.targets.simulated.collectives import asking
from leadline.targets.simulated.machine import SimulatedMachine

Body = Any

# LogGOPS: L 1000, o 200, g 300, G 5, O 2 ns; nodes of one rank.
MACHINE = """
title = "LogGOPS"
[topology]
source = "made up"
kind = "torus"
shape = [8]
[links]
source = "made up"
rate = "200 MB/s"
hop = "0 ns"
base = "1000 ns"
[node]
source = "made up"
cores = 1
ranks = 1
loggops = true
message_gap = "300 ns"
[[protocol]]
name = "eager"
source = "made up"
send_overhead = "200 ns"
receive_overhead = "200 ns"
send_copy = "500 MB/s"
receive_copy = "500 MB/s"
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Its file."""
    path = tmp_path / "loggops.toml"
    path.write_text(MACHINE)
    return path


def exported(found: Program, path: Path, **algorithms: str) -> list[str]:
    """The lines of the schedule by the algorithms of no machine, or those that are named."""
    exporters.write("goal", found, path, ask=asking(None, algorithms))
    return path.read_text().splitlines()


def messages(lines: list[str]) -> tuple[int, int]:
    """How many are sent, and the bytes of all; as many are received."""
    ends: dict[str, list[int]] = {"send": [], "recv": []}
    for line in lines:
        if found := re.search(r": (send|recv) (\d+)b", line):
            ends[found[1]].append(int(found[2]))
    assert sorted(ends["send"]) == sorted(ends["recv"])
    return len(ends["send"]), sum(ends["send"])


def ends(found: Program, place: Path, machine: Path) -> list[int]:
    """When each rank has ended on the machine, ns."""
    path = place / "replayed.program"
    found.write(path)
    target = SimulatedMachine.of(load(machine), None, found.ranks, network="loggp")
    times = replay(path, target, ranks=found.ranks, detailed=True).times
    assert times is not None
    return [int(times[rank][-1, 1]) for rank in range(found.ranks)]


def around(comm: program.Comm, does: Callable[[program.Comm], Any]) -> Body:
    """Twice the same in the world, a half and a copy of it, after unequal computation; then a ring."""
    me = comm.rank
    half = yield comm.split(me % 2, -me)
    copy = yield comm.dup()
    for among in (comm, half, copy):
        for turn in range(2):
            yield comm.compute(0.7e-6 * ((me * 7 + turn) % 5))
            yield does(among)
    yield comm.send((me + 1) % comm.size, 8, tag=3)
    yield comm.recv((me - 1) % comm.size, 8, tag=3)


def blocks(comm: program.Comm) -> dict[int, int]:
    """Of unequal sizes, one empty."""
    return {rank: 37 * rank for rank in range(comm.size) if rank != 1}


COLLECTIVES: dict[str, Callable[[program.Comm], Any]] = {
    "barrier": lambda comm: comm.barrier(),
    "bcast": lambda comm: comm.bcast(5000, root=comm.size - 1),
    "reduce": lambda comm: comm.reduce(4001, root=1 % comm.size),
    "allreduce": lambda comm: comm.allreduce(1000),
    "gather": lambda comm: comm.gather(64),
    "gatherv": lambda comm: comm.gatherv(blocks(comm)),
    "scatter": lambda comm: comm.scatter(64),
    "scatterv": lambda comm: comm.scatterv(blocks(comm), root=comm.size - 1),
    "allgather": lambda comm: comm.allgather(64),
    "allgatherv": lambda comm: comm.allgatherv(blocks(comm)),
    "alltoall": lambda comm: comm.alltoall(300),
    "alltoallv": lambda comm: comm.alltoallv(
        {rank: 1 + 10 * comm.rank + rank for rank in range(comm.size) if (comm.rank + rank) % 2},
        {rank: 1 + 10 * rank + comm.rank for rank in range(comm.size) if (comm.rank + rank) % 2},
    ),
    "reduce_scatter": lambda comm: comm.reduce_scatter({rank: 8 * rank for rank in range(comm.size)}),
    "scan": lambda comm: comm.scan(64),
}


@pytest.mark.parametrize("ranks", [2, 5])
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_schedule_ends_when_its_program_does(
    collective: str, ranks: int, machine: Path, tmp_path: Path
) -> None:
    """Each rank, to the nanosecond, on a machine by LogGOPSim's model; and no message is lost on the way."""
    made = program.evaluate(around, ranks, does=COLLECTIVES[collective])
    lines = exported(made, tmp_path / "all.goal")
    again, notes = importers.read("goal", tmp_path / "all.goal")
    assert not notes
    exporters.write("goal", again, tmp_path / "again.goal")
    assert messages((tmp_path / "again.goal").read_text().splitlines()) == messages(lines)
    assert ends(again, tmp_path, machine) == ends(made, tmp_path, machine)


@pytest.mark.parametrize(
    ("collective", "algorithm", "expected"),
    [
        ("bcast", "binomial", (7, 7 * 5000)),
        ("allreduce", "recursive-doubling", (8 * 3, 8 * 3 * 1000)),
        ("allreduce", "ring", (8 * 14, 2 * 7 * 1000)),
        ("alltoall", "pairwise", (8 * 7, 8 * 7 * 300)),
        ("allgatherv", "ring", (8 * 7, 7 * 999)),
        ("gatherv", "linear", (6, 999)),
        ("barrier", "dissemination", (8 * 3, 0)),
    ],
)
def test_messages_and_bytes_are_those_of_the_algorithm(
    collective: str, algorithm: str, expected: tuple[int, int], tmp_path: Path
) -> None:
    """By their closed forms for eight ranks."""
    made = program.evaluate(lambda comm: COLLECTIVES[collective](comm) and None, 8)
    operation = collective.removesuffix("v")
    assert messages(exported(made, tmp_path / "one.goal", **{operation: algorithm})) == expected


def test_a_nonblocking_collective_goes_on_beside_the_rank(tmp_path: Path) -> None:
    """What is computed after its call needs its first message begun alone; what follows the wait, all."""

    def body(comm: program.Comm) -> Body:
        request = comm.allreduce(8, nonblocking=True)
        yield comm.compute("5 us")
        yield comm.wait(request)
        yield comm.compute("7 us")

    lines = exported(program.evaluate(body, 4), tmp_path / "beside.goal", allreduce="recursive-doubling")
    first = lines[2 : lines.index("}")]
    edges = [line.split() for line in first if "requires" in line]
    label = {line.split(": ")[1]: line.split(":")[0] for line in first if ": calc" in line}
    send = next(line.split(":")[0] for line in first if ": send" in line)
    assert [each[1:] for each in edges if each[0] == label["calc 5000"]] == [["irequires", send]]
    last = {each[2] for each in edges if each[0] == label["calc 7000"]}
    ended = [line.split(":")[0] for line in first if re.search(": (send|recv)", line)][-2:]
    assert last == {label["calc 5000"], *ended}
    assert messages(lines) == (8, 64)
    importers.read("goal", tmp_path / "beside.goal")


def test_a_persistent_collective_is_sent_each_time_it_is_started(tmp_path: Path) -> None:
    """Made ready once, started three times."""
    builder = ProgramBuilder(2)
    for rank in range(2):
        ready = Operation(int(Kind.BCAST), bytes=100, request=1, form=int(Form.PERSISTENT))
        turn = [Operation(int(Kind.START), gives=(1,)), Operation(int(Kind.WAIT), gives=(1,))]
        builder.add(rank, [ready, *turn * 3, Operation(int(Kind.FREE), request=1)])
    lines = exported(builder.build(), tmp_path / "three.goal")
    assert messages(lines) == (3, 300)
    tags = Counter(line.rpartition(" ")[2] for line in lines if "tag" in line)
    assert sorted(tags.values()) == [2, 2, 2]  # each with one of its own


def test_messages_of_collectives_and_communicators_never_meet(tmp_path: Path) -> None:
    """A receive of any source takes a message of the program's, whatever a barrier sends meanwhile."""

    def body(comm: program.Comm) -> Body:
        copy = yield comm.dup()
        request = comm.irecv(program.ANY, 8, tag=0) if comm.rank == 0 else None
        yield copy.barrier()
        yield comm.barrier()
        if request:
            yield comm.wait(request)
        elif comm.rank == 2:
            yield comm.send(0, 8, tag=0)

    lines = exported(program.evaluate(body, 4), tmp_path / "apart.goal")
    (free,) = (line for line in lines if "from -1" in line)
    tag = free.rpartition(" ")[2]
    assert [line.split(": ")[1] for line in lines if line.endswith(f" tag {tag}")] == [
        f"recv 8b from -1 tag {tag}",
        f"send 8b to 0 tag {tag}",
    ]


def test_what_a_core_does_between_messages_is_computation(machine: Path, tmp_path: Path) -> None:
    """1,000 B are added at 1 GB/s: 1,000 ns after each of two exchanges among four ranks."""
    machine.write_text(
        MACHINE.replace("[topology]", 'reduce = { value = "1 GB/s", source = "made up" }\n[topology]', 1)
    )
    made = program.evaluate(lambda comm: comm.allreduce(1000) and None, 4)
    target = SimulatedMachine.of(load(machine), None, 4)
    exporters.write("goal", made, tmp_path / "sum.goal", ask=asking(target, {}))
    text = (tmp_path / "sum.goal").read_text()
    assert text.count(": calc 1000\n") == 8
    again, _ = importers.read("goal", tmp_path / "sum.goal")
    assert ends(again, tmp_path, machine) == ends(made, tmp_path, machine)


def test_hardware_of_a_machine_is_written_as_messages_and_said(tmp_path: Path) -> None:
    """Blue Gene/P has a network for barriers of all ranks."""
    made = program.evaluate(lambda comm: comm.barrier() and None, 8)
    target = SimulatedMachine.of(load("bgp"), None, 8)
    said = exporters.write("goal", made, tmp_path / "hardware.goal", ask=asking(target, {}))
    assert any("a network of its own for barrier" in each for each in said)
    assert any("messages have no bytes" in each for each in said)


def test_what_is_left_behind_in_a_recording_is_said(tmp_path: Path) -> None:
    """The schedule has a message without a partner, as the program had."""
    made = program.evaluate(lambda comm: (comm.send(1, 8) if comm.rank == 0 else None) and None, 2)
    made.recorded = {"mpi": "made up"}
    (said,) = exporters.write("goal", made, tmp_path / "left.goal")
    assert said.startswith("1 message was never received in the recording (1 of rank 0)")


def fenced(comm: program.Comm) -> Body:
    """One-sided."""
    window = yield comm.window(8)
    yield window.fence()


def otherwise(comm: program.Comm) -> Body:
    """Rank 1 calls another collective."""
    yield comm.bcast(8) if comm.rank == 0 else comm.allreduce(8)


def larger(comm: program.Comm) -> Body:
    """Rank 1 says another size."""
    yield comm.bcast(8 + comm.rank)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (fenced, "messages and computation only, but rank 0 calls a constructor of windows"),
        (
            otherwise,
            "rank 1 calls MPI_Allreduce as collective 1 of communicator 0, where rank 0 calls MPI_Bcast",
        ),
        (larger, "rank 1 calls MPI_Bcast with another size or root as collective 1"),
    ],
)
def test_what_cannot_be_written_is_refused(body: Callable[..., Body], said: str, tmp_path: Path) -> None:
    """With the rank and the call, and no file is left."""
    with pytest.raises(UsageError, match=said):
        exported(program.evaluate(body, 2), tmp_path / "no.goal")
    assert not list(tmp_path.glob("no.goal*"))


def test_two_groups_are_refused(tmp_path: Path) -> None:
    """What goes through an intercommunicator."""
    builder = ProgramBuilder(2)
    builder.communicators += [Communicator((0,), remote=(1,)), Communicator((1,), remote=(0,))]
    builder.add(0, [Operation(int(Kind.BARRIER), 1)])
    builder.add(1, [Operation(int(Kind.BARRIER), 2)])
    with pytest.raises(UsageError, match="between two groups"):
        exported(builder.build(), tmp_path / "two.goal")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["goal", "--algorithm", "bcast=magic"], "there is no algorithm 'magic' for bcast"),
        (["goal", "--algorithm", "alltoall=ring"], "the program's collectives are bcast"),
        (["goal", "--algorithm", "ring"], "an algorithm is such as allreduce=ring, but got 'ring'"),
        (["goal", "--on", "nowhere"], "nowhere"),
        (["smpi", "--on", "bgp"], "--on is for goal"),
        (["smpi", "--algorithm", "bcast=binomial"], "--algorithm is for goal"),
    ],
)
def test_bad_options_are_refused_with_a_sentence(options: list[str], said: str, tmp_path: Path) -> None:
    """And exit code 2."""
    path = tmp_path / "one.program"
    program.evaluate(lambda comm: comm.bcast(8) and None, 2).write(path)
    done = CliRunner().invoke(
        main, ["program", "export", options[0], str(path), "-o", str(tmp_path / "out"), *options[1:]]
    )
    assert done.exit_code == 2, done.output
    assert said in done.output


def test_the_command_says_by_which_algorithms(tmp_path: Path) -> None:
    """Those that were named."""
    path = tmp_path / "one.program"
    program.evaluate(lambda comm: comm.bcast(8) and None, 8).write(path)
    words = [
        "program",
        "export",
        "goal",
        str(path),
        "-o",
        str(tmp_path / "out"),
        "--algorithm",
        "bcast=linear",
    ]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert "collectives are written as messages: bcast by linear" in done.output


@pytest.mark.parametrize("collectives", [0, 1])
def test_a_receive_of_any_tag_stays_one_or_is_refused(collectives: int, tmp_path: Path) -> None:
    """ABySS ends with such a receive: with collectives it was written with the tag -2, which is none."""
    builder = ProgramBuilder(1)
    waiting = Operation(
        int(Kind.RECV), peer=-1, bytes=8, tag=-1, request=1, form=int(Form.NONBLOCKING), free=3
    )
    builder.add(0, [waiting, *[Operation(int(Kind.BARRIER))] * collectives])
    path = tmp_path / "any.goal"
    if collectives:
        with pytest.raises(UsageError, match="a receive that no message met takes any tag"):
            exporters.write("goal", builder.build(), path)
    else:
        exporters.write("goal", builder.build(), path)
        assert "from -1 tag -1" in path.read_text()
