"""A program replayed on described machines: closed forms, other machines' constants, refusals."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.profile import profile
from leadline.program import exporters, importers
from leadline.program.build import ProgramBuilder
from leadline.program.model import FileCall, Form, Kind, Operation, SendMode
from leadline.run.replay import patience, remarks

MACHINE = """
title = "Two numbers"
[topology]
source = "made up"
kind = "torus"
shape = [4]
[links]
source = "made up"
rate = "1 GB/s"
hop = "1 us"
base = "2 us"
[node]
source = "made up"
cores = 1
ranks = 1
[[protocol]]
name = "eager"
source = "made up"
send_overhead = "0.5 us"
receive_overhead = "0.25 us"
"""
TURNS = 10
ONE_WAY = 0.5e-6 + 2e-6 + 1e-6 + 1000 * 1e-9 + 0.25e-6  # overhead, network, 1,000 B at 1 GB/s, overhead


def exchange(comm: program.Comm) -> Any:
    """Messages of 1,000 B to and fro between neighbours, with 5 us of computation before each turn."""
    with comm.region("turns"):
        for _ in range(TURNS):
            yield comm.compute("5 us")
            if comm.rank == 0:
                yield comm.send(1, 1000)
                yield comm.recv(1, 1000)
            elif comm.rank == 1:
                yield comm.recv(0, 1000)
                yield comm.send(0, 1000)


def never(comm: program.Comm) -> Any:
    """A receive that nobody sends for."""
    if comm.rank == 0:
        yield comm.recv(1, 8)


LOGGOPS = """
title = "L = 1000, o = 200, g = 300, G = 5, O = 2, in ns"
[topology]
source = "made up"
kind = "fat-tree"
arity = [4]
[links]
source = "made up"
rate = "200 MB/s"
base = "1000 ns"
hop = "0 ns"
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
# Ends of the ranks of `crossing` there, ns, which LogGOPSim (its sources of commit d5bb14a) prints for the
# exported schedule: LogGOPSim -L 1000 -o 200 -g 300 -G 5 -O 2.
BY_LOGGOPSIM = [22862, 23848, 22420, 22748]


def crossing(comm: program.Comm) -> Any:
    """Messages of unequal sizes cross while ranks compute for unequal times."""
    me, ranks = comm.rank, comm.size
    for step in range(4):
        requests = [comm.irecv((me + by) % ranks, 4096, tag=step) for by in (1, 2)]
        for by in (1, 2):
            requests.append(comm.isend((me - by) % ranks, 1 + 37 * me + 50 * step, tag=step))
        yield comm.compute(700e-9 * ((me + step) % ranks))
        yield comm.wait_all(requests)
        yield comm.send((me + 1) % ranks, 8, tag=9)
        yield comm.recv((me - 1) % ranks, 8, tag=9)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A machine and a program."""
    (tmp_path / "two.toml").write_text(MACHINE)
    program.evaluate(exchange, ranks=2).write(tmp_path / "exchange.program")
    return tmp_path


def replayed(place: Path, *options: str) -> list[dict[str, Any]]:
    """What `leadline replay --json` prints."""
    done = CliRunner().invoke(
        main,
        ["replay", str(place / "exchange.program"), "--on", str(place / "two.toml"), "--json", *options],
    )
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_messages_and_computation_add_up(place: Path) -> None:
    """A turn is the computation, there and back: rank 1's computation passes while the message comes."""
    (row,) = replayed(place)
    assert row["time"] == pytest.approx(TURNS * (5e-6 + 2 * ONE_WAY), rel=1e-9)


def test_without_computation_the_messages_are_left(place: Path) -> None:
    """Half of a turn is one way; both ranks do nothing else, and rank 1 ends with its last overhead."""
    (row,) = replayed(place, "--compute", "0")
    time = 2 * TURNS * ONE_WAY
    assert row["time"] == pytest.approx(time, rel=1e-9)
    assert row["communication"] == pytest.approx((time + time - (ONE_WAY - 0.5e-6)) / 2, rel=1e-9)


def test_changes_move_what_they_name(place: Path) -> None:
    """Each by itself, to the closed form with that constant."""
    asked = ["latency*2", "bandwidth*0.5", "overhead*0", "compute*3", "bytes(turns)*2", "links.hop*0"]
    rows = replayed(place, *(word for each in asked for word in ("--what-if", each)))
    way = {
        "as it is": ONE_WAY,
        "latency*2": ONE_WAY + 3e-6,
        "bandwidth*0.5": ONE_WAY + 1e-6,
        "overhead*0": ONE_WAY - 0.75e-6,
        "compute*3": ONE_WAY + 5e-6,
        "bytes(turns)*2": ONE_WAY + 1e-6,
        "links.hop*0": ONE_WAY - 1e-6,
    }
    for row in rows:
        assert row["time"] == pytest.approx(TURNS * (5e-6 + 2 * way[row["change"]]), rel=1e-9), row


def test_the_times_of_ranks_and_regions_are_those_of_the_replay(place: Path) -> None:
    """The region holds all turns; rank 0's time in operations is the run time without its computation."""
    time = TURNS * (5e-6 + 2 * ONE_WAY)
    ranks = replayed(place, "--by", "rank")
    assert ranks[0]["communication"] == pytest.approx(time - TURNS * 5e-6, abs=2e-9 * TURNS)
    (region,) = replayed(place, "--by", "region")
    assert region["region"] == "turns"
    assert region["most"] == pytest.approx(time, abs=2e-9)


def test_simulated_times_are_replayed_as_recorded_ones(place: Path) -> None:
    """What a replay writes is a recording: replayed again on the same machine it takes the same time."""
    (first,) = replayed(place, "--times", str(place / "again.program"))
    again = program.read(place / "again.program")
    (place / "exchange.program").unlink()
    again.write(place / "exchange.program")
    assert again.recorded["simulated_on"] and any("simulated" in each for each in remarks(again, None))
    (second,) = replayed(place)
    assert second["recorded"] == pytest.approx(first["time"], abs=2e-9)
    assert second["recorded_communication"] == pytest.approx(first["communication"], abs=2e-9 * TURNS)
    assert second["time"] == pytest.approx(first["time"], abs=2e-9 * TURNS)


@pytest.mark.parametrize("through_goal", [False, True])
def test_ranks_end_when_loggopsim_says(through_goal: bool, place: Path) -> None:
    """The program itself, and what is read back of its schedule."""
    (place / "two.toml").write_text(LOGGOPS)
    made = program.evaluate(crossing, ranks=4)
    if through_goal:
        exporters.write("goal", made, place / "crossing.goal")
        made, _ = importers.read("goal", place / "crossing.goal")
    made.write(place / "exchange.program")
    rows = replayed(place, "--network", "loggp", "--by", "rank")
    assert [round(row["time"] * 1e9) for row in rows] == BY_LOGGOPSIM


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--what-if", "luck*2"], "no constant 'luck'"),
        (["--what-if", "faster"], "a change is such as"),
        (["--what-if", "bytes(nowhere)*2"], "no region 'nowhere'"),
        (["--what-if", "allreduce=magic"], "magic"),
        (["--what-if", "alltoall=ring"], "the program has no alltoall"),
        (["--compute", "-1"], "a factor is"),
        (["--what-if", "op*2"], "no constant 'op'"),  # hop is none
        (["--what-if", "allreduce=rng"], "'ring'"),
        (["--what-if", "latency*2", "--by", "rank"], "exclude each other"),
        (["--sensitivity", "--by", "rank"], "exclude each other"),
        (["--seed", "3"], "--seed needs --noise"),
        (["--launches", "3"], "--launches needs this machine's MPI: leave out --on"),
        (["--ranks", "1"], "sum.program needs 2 ranks or more, but got 1"),
    ],
)
def test_what_cannot_be_is_refused(place: Path, options: list[str], said: str) -> None:
    """With a sentence that names it."""
    program.evaluate(lambda comm: comm.allreduce(8) and None, ranks=2).write(place / "sum.program")
    done = CliRunner().invoke(
        main, ["replay", str(place / "sum.program"), "--on", str(place / "two.toml"), *options]
    )
    assert done.exit_code != 0
    assert said in done.output


def test_what_is_executed_otherwise_is_said(place: Path) -> None:
    """A synchronous send is a standard one here."""

    def code(comm: program.Comm) -> Any:
        if comm.rank == 0:
            yield comm.send(1, 8, mode=SendMode.SYNCHRONOUS)
        else:
            yield comm.recv(0, 8)

    program.evaluate(code, ranks=2).write(place / "sync.program")
    done = CliRunner().invoke(main, ["replay", str(place / "sync.program"), "--on", str(place / "two.toml")])
    assert done.exit_code == 0, done.output
    assert "synchronous sends are executed as standard ones" in done.output


def test_a_program_that_waits_for_ever_is_an_error_that_says_who(place: Path) -> None:
    """Rank 0 receives what nobody sends."""
    program.evaluate(never, ranks=2).write(place / "never.program")
    done = CliRunner().invoke(main, ["replay", str(place / "never.program"), "--on", str(place / "two.toml")])
    assert done.exit_code == 1
    assert "rank 0" in done.output


def test_a_communicator_of_others_is_refused(place: Path) -> None:
    """A file that was changed: all ranks go through the group of some."""

    def code(comm: program.Comm) -> Any:
        part = yield comm.split(comm.rank // 2)
        yield part.barrier()

    made = program.evaluate(code, ranks=4)
    changed = [
        replace(each, leaves=tuple(leaf._replace(comm=min(leaf.comm, 1)) for leaf in each.leaves))
        for each in made.sequences
    ]
    replace(made, sequences=changed).write(place / "others.program")
    done = CliRunner().invoke(main, ["replay", str(place / "others.program"), "--on", "bgp"])
    assert done.exit_code == 1
    assert "in which it is not" in done.output


@pytest.mark.parametrize("times", [True, False])
def test_files_take_as_long_as_they_were_recorded(times: bool, place: Path) -> None:
    """2 ms of computation and 5 ms of writing; with and without the times beside the program."""
    builder = ProgramBuilder(1, measured=True)
    write = Operation(int(Kind.FILE), bytes=100, mode=int(FileCall.WRITE))
    builder.add(0, [write], times=np.array([[2_000_000, 7_000_000]]))
    made, path = builder.build(), place / "files.program"
    made.write(path)
    if not times:
        Path(f"{path}.times").unlink()
    words = ["replay", str(path), "--on", str(place / "two.toml"), "--json"]
    for factor, expected in (("1", 7e-3), ("0.5", 6e-3), ("0", 0.0)):
        done = CliRunner().invoke(main, [*words, "--compute", factor])
        (row,) = json.loads(done.output)
        assert row["time"] == pytest.approx(expected, rel=1e-6), done.output
        assert row["recorded_communication"] == (0 if times else None)
    written = place / "again.program"
    assert CliRunner().invoke(main, [*words[:-1], "--times", str(written)]).exit_code == 0
    found = profile(program.read(written))
    assert (found.computing[0], found.files[0]) == (2_000_000, 5_000_000)
    for form in ("goal", "smpi"):
        exporters.write(form, program.read(path), place / f"files.{form}", flops=1e9)
        words = (place / f"files.{form}").read_text().split()
        time = float(words[next(i for i, word in enumerate(words) if word in {"calc", "compute"}) + 1])
        assert time == pytest.approx(7e6, rel=1e-6)


@pytest.mark.parametrize("form", list(Form))
def test_a_send_from_a_buffer_waits_for_nobody(form: Form, place: Path) -> None:
    """Two ranks send 1 MB to each other before either receives, by a protocol that asks first."""
    (place / "asks.toml").write_text(MACHINE + 'handshake = true\nhandshake_overhead = "0.1 us"\n')
    for mode in (SendMode.BUFFERED, SendMode.STANDARD):
        builder = ProgramBuilder(2)
        for rank in range(2):
            other = Operation(int(Kind.RECV), peer=1 - rank, bytes=10**6)
            slot = int(form > 0)
            send = other._replace(kind=int(Kind.SEND), mode=int(mode), form=int(form), request=slot)
            begun = [send, *[Operation(int(Kind.START), gives=(1,))] * (form == Form.PERSISTENT)]
            over = [Operation(int(Kind.WAIT), gives=(1,))] * slot
            builder.add(rank, [*begun, *over, other])
        builder.build().write(place / "both.program")
        done = CliRunner().invoke(
            main, ["replay", str(place / "both.program"), "--on", str(place / "asks.toml")]
        )
        assert (done.exit_code == 0) == (mode == SendMode.BUFFERED), done.output
        assert ("deadlock" in done.output) == (mode == SendMode.STANDARD)


def test_a_program_that_would_wait_for_ever_is_not_launched(place: Path) -> None:
    """Nothing was recorded that would say how long to wait: it is simulated first, all messages eager."""
    program.evaluate(never, ranks=2).write(place / "never.program")
    done = CliRunner().invoke(main, ["replay", str(place / "never.program")])
    assert done.exit_code == 1
    assert "deadlock: rank 0 waits for a message from rank 1" in done.output


def test_times_do_not_replace_the_program_nor_a_file_of_another_kind(place: Path) -> None:
    """An output names a new file, or one of its kind."""
    there = place / "notes.c"
    there.write_text("int main() {}\n")
    for output, said in (
        (there, "is there already and is no program file"),
        ("exchange.program", "itself"),
    ):
        words = ["--on", str(place / "two.toml"), "--times", str(place / output)]
        done = CliRunner().invoke(main, ["replay", str(place / "exchange.program"), *words])
        assert done.exit_code == 2
        assert said in done.output
    assert there.read_text() == "int main() {}\n"


def test_ranks_that_share_a_node_pass_no_link(place: Path) -> None:
    """It is said, as changes of links change nothing then."""
    (place / "node.toml").write_text(MACHINE.replace("cores = 1\nranks = 1", "cores = 2\nranks = 2"))
    for machine, said in (("node.toml", True), ("two.toml", False)):
        done = CliRunner().invoke(
            main, ["replay", str(place / "exchange.program"), "--on", str(place / machine)]
        )
        assert ("no message passes a link" in done.output) == said


COLD = """
[[cold]]
source = "made up"
walked = "1 MiB"
time = "5 us"
overhead = "0.3 us"
copy = "2 GB/s"
"""


def with_memory(path: Path, memory: list[object]) -> None:
    """Write into a program's header that its ranks had so much memory."""
    made = program.read(path)
    made.recorded["memory"] = memory
    made.write(path)


def test_messages_after_a_computation_cost_what_the_memory_of_their_ranks_makes_them(place: Path) -> None:
    """5 us are a walk through 1 MiB: the first message costs either end 0.3 us, each its receiver the data.

    What 1,000 B are cold by themselves is 0.2 %. Without memory, and where none is known, nothing is added.
    """
    (place / "two.toml").write_text(MACHINE + COLD)
    (plain,) = replayed(place)
    with_memory(place / "exchange.program", [None, None])
    (unknown,) = replayed(place)
    with_memory(place / "exchange.program", [0, 0])
    (none,) = replayed(place)
    with_memory(place / "exchange.program", [1 << 20] * 2)
    (cold,) = replayed(place)
    assert plain["time"] == unknown["time"] == none["time"]
    a_turn = 2 * 0.3e-6 + 2 * 1000 / 2e9
    assert cold["time"] - plain["time"] == pytest.approx(TURNS * a_turn, rel=0.01)


@pytest.mark.parametrize("memory", [[5], [-1, 1], ["a", 1], [2**70, 1]])
def test_an_impossible_memory_is_a_damaged_file(place: Path, memory: list[object]) -> None:
    """One for each rank, in bytes."""
    with_memory(place / "exchange.program", memory)
    told = CliRunner().invoke(
        main, ["replay", str(place / "exchange.program"), "--on", str(place / "two.toml")]
    )
    assert told.exit_code == 1
    assert "the file is damaged" in told.output


def test_a_launch_counts_as_hanging_after_many_times_what_was_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A minute and 50 times 2 s on two cores; 8 ranks share them by four; an hour where nothing is known."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    assert patience(2.0, 2) == 160
    assert patience(2.0, 8) == 460
    assert patience(2.0, 2, compute=3) == 360
    assert patience(2.0, 2, compute=0) == 160
    assert patience(None, 2) == 3600
