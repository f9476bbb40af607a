"""Sensitivities of programs against closed forms and what must be kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.machine import load
from leadline.run.program_sensitivity import ProgramSensitivity, sensitivity
from leadline.run.replay import matching, replay
from leadline.targets.simulated.machine import SimulatedMachine

pytestmark = pytest.mark.full  # they build one more simulator

RANKS = 8  # of bgp each on a node of its own


def found(tmp_path: Path, code: Any, **more: Any) -> ProgramSensitivity:
    """The sensitivity of a rank's code on bgp."""
    path = tmp_path / "x.program"
    program.evaluate(code, RANKS).write(path)
    target = SimulatedMachine.of(load("bgp"), None, RANKS, None, "loggp")
    return sensitivity(path, target, ranks=RANKS, **more)


def token(comm: program.Comm) -> Any:
    """From rank to rank, three times around."""
    for _ in range(3):
        if comm.rank == 0:
            yield comm.send(1, 200)
            yield comm.recv(comm.size - 1, 200)
        else:
            yield comm.recv(comm.rank - 1, 200)
            yield comm.compute("2 us")
            yield comm.send((comm.rank + 1) % comm.size, 200)


def test_the_critical_path_of_a_token_has_every_message(tmp_path: Path) -> None:
    """24 of them, each with its latency; and 21 computations of 2 us."""
    told = found(tmp_path, token, growth=[])
    assert told.per_message == pytest.approx(24, abs=1e-6)
    shares = {slope.what: slope.share for slope in told.slopes}
    assert shares["computation"] * told.time == pytest.approx(21 * 2e-6, rel=1e-3)
    assert told.simulations == 1


def uneven(comm: program.Comm) -> Any:
    """Ranks with different work, sizes and partners."""
    for turn in range(4):
        yield comm.compute(1e-6 * (1 + comm.rank * turn % 5))
        other = comm.rank ^ (1 + turn % 3)
        yield comm.sendrecv(other, 64 << turn, other)
    yield comm.gather(8, root=3)


def test_shares_of_all_constants_add_up_to_the_time(tmp_path: Path) -> None:
    """Euler's theorem: time is homogeneous of the first degree in the constants of LogGP."""
    told = found(tmp_path, uneven, growth=[])
    path = tmp_path / "x.program"
    machine = load("bgp")
    rest = 0.0
    # What none of the words stands for, but takes time.
    times = ("node.match", "coalesce.wait")
    rates = ("node.injection", "node.reception", "node.memory", "protocol.eager.receive_copy", "reduce")
    for key in times + rates:
        number = next(each for each in machine.numbers() if each.key == key)
        slow = number.value * (1.001 if key in times else 1 / 1.001)
        target = SimulatedMachine.of(machine.with_number(key, slow), None, RANKS, None, "loggp")
        rest += (replay(path, target, ranks=RANKS).time.value / told.time - 1) / 0.001
    assert sum(slope.share for slope in told.slopes) + rest == pytest.approx(1, abs=5e-3)


def everything(comm: program.Comm) -> Any:
    """Eager and rendezvous messages, several under way, collectives of both kinds, and work."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for turn in range(3):
        yield comm.compute(1e-6 * (1 + comm.rank * 7 % 5))
        requests = [comm.irecv(left, 1 << (6 + 4 * turn)), comm.isend(right, 1 << (6 + 4 * turn))]
        yield comm.compute("1 us")
        yield comm.wait_all(requests)
        yield comm.allreduce(4096)
    yield comm.bcast(1 << 16, root=1)
    yield comm.alltoall(100)


@pytest.mark.parametrize(("name", "ranks"), [("bgp", 8), ("ndr-fat-tree", 8), ("ndr-fat-tree", 128)])
@pytest.mark.parametrize("code", [uneven, everything])
def test_one_simulation_gives_what_finite_differences_give(
    tmp_path: Path, code: Any, name: str, ranks: int
) -> None:
    """By the simulator without parts, with every constant of a kind a little larger and smaller."""
    path = tmp_path / "x.program"
    program.evaluate(code, ranks).write(path)
    target = SimulatedMachine.of(load(name), None, ranks, None, "loggp")
    told = sensitivity(path, target, ranks=ranks, growth=[])
    assert told.time == replay(path, target, ranks=ranks).time.value

    def took(word: str, factor: float) -> float:
        if word == "computation":
            return replay(path, target, ranks=ranks, compute=factor).time.value
        machine = target.machine
        for number in matching(machine, word):
            slower = factor if word != "bandwidth" else 1 / factor
            machine = machine.with_number(number.key, number.value * slower)
        return replay(path, replace(target, machine=machine), ranks=ranks).time.value

    for slope in told.slopes:
        up, down = ((took(slope.what, 1 + by) / told.time - 1) / by for by in (1e-3, -1e-3))
        # Rounding to picoseconds; and where two messages come at one moment one of the two slopes is told.
        low, high = min(up, down) - 2e-4, max(up, down) + 2e-4
        assert low <= slope.share <= high, slope.what


def test_a_tolerated_latency_costs_what_was_asked(tmp_path: Path) -> None:
    """The time with so much more latency has grown by so much, as far as picoseconds go."""
    told = found(tmp_path, everything)
    machine = load("bgp")
    base = next(number.value for number in machine.numbers() if number.key == "links.base")
    for growth, added in told.tolerated.items():
        assert added is not None
        target = SimulatedMachine.of(
            machine.with_number("links.base", base + added), None, RANKS, None, "loggp"
        )
        took = replay(tmp_path / "x.program", target, ranks=RANKS).time.value
        assert took / told.time - 1 == pytest.approx(growth, abs=1e-6)


def test_latencies_on_one_straight_piece_take_one_simulation(tmp_path: Path) -> None:
    """The largest one is simulated, the smaller ones lie on the line to it; each costs what was asked."""
    told = found(tmp_path, token)
    assert told.simulations == 2
    assert told.tolerated == pytest.approx(
        {growth: growth * told.time / told.per_message for growth in (0.01, 0.02, 0.05)}, rel=1e-4
    )


def slack(comm: program.Comm) -> Any:
    """A message that rank 1 needs only after 50 us of its own."""
    if comm.rank == 0:
        yield comm.send(1, 8)
    elif comm.rank == 1:
        yield comm.compute("50 us")
        yield comm.recv(0, 8)


def test_slack_is_tolerated_before_anything_is_lost(tmp_path: Path) -> None:
    """No latency is on the path until the message comes later than 50 us; then each ns costs one."""
    told = found(tmp_path, slack, growth=[0.01, 0.5])
    assert told.per_message == 0
    first, half = told.tolerated[0.01], told.tolerated[0.5]
    assert first is not None
    assert half is not None
    assert half - first == pytest.approx(0.49 * told.time, rel=5e-3)
    assert first > 40e-6


def alone(comm: program.Comm) -> Any:
    """No message at all."""
    yield comm.compute("1 ms")


def test_a_program_without_messages_tolerates_everything(tmp_path: Path) -> None:
    """And all its time is computation."""
    told = found(tmp_path, alone)
    assert set(told.tolerated.values()) == {None}
    assert next(s.share for s in told.slopes if s.what == "computation") == pytest.approx(1)


def test_where_messages_contend_there_is_no_derivative(tmp_path: Path) -> None:
    """Another network model than LogGP, and noise, are refused; the command has one sentence for it."""
    path = tmp_path / "x.program"
    program.evaluate(token, RANKS).write(path)
    noisy = replace(SimulatedMachine.of(load("bgp"), None, RANKS, None, "loggp"), noise=True)
    with pytest.raises(UsageError, match="without noise"):
        sensitivity(path, noisy, ranks=RANKS)
    done = CliRunner().invoke(
        main, ["replay", str(path), "--on", "bgp", "--network", "flow", "--sensitivity"]
    )
    assert done.exit_code == 2
    assert "network model loggp" in done.output
    done = CliRunner().invoke(main, ["replay", str(path), "--on", "bgp", "--sensitivity"])
    assert "24 messages between nodes" in done.output


def far(comm: program.Comm) -> Any:
    """Each rank sends to the one half the machine away."""
    other = comm.rank ^ (comm.size // 2) ^ 1
    for _ in range(3):
        yield comm.sendrecv(other, 65536, other)


def test_the_best_mapping_is_searched(tmp_path: Path) -> None:
    """Partners that are far apart come together; what is gained is simulated, not estimated."""
    path = tmp_path / "far.program"
    program.evaluate(far, 64).write(path)
    words = ["replay", str(path), "--on", "bgp", "--what-if", "mapping=best", "--json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    _, best = json.loads(done.stdout)
    assert best["change"].startswith("mapping=best (")
    assert best["speedup"] > 1
