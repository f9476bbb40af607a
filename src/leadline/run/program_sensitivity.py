"""How a program's time depends on the machine: on latency, bandwidth, overhead and the speed of computation.

`slopes` gives for each of them the share of the time that goes with it: if it took x % longer, the program
would take share times x % longer, as long as x is small. On the LogGP network a program's time is a sum of
such constants along its critical path (Alexandrov et al., LogGP, 1995), so the shares of all constants add
up to 1 (Euler's theorem on homogeneous functions), and the derivative by the latency of a message is the
number of messages on that path. `tolerance` gives how much latency may be added to each message between
nodes until the program takes so many per cent longer.

One simulation gives them all: its times know of which constants they are the sum (native/machine,
time_in_parts.hpp), and of two that are compared the later one goes on, as in the simulation without. That is
exact where nobody comes first because a constant has moved by a little; where two come at one moment, it is
the derivative of one of them. It is of the LogGP network alone: where messages contend for links, a constant
that is moved by a little changes who comes first.

The time by the latency of messages is a chain of straight pieces, each as steep as the critical path has
messages. So a latency that costs so much is found from a simulation and its slope by Newton's method, which
ends on the very piece that has it. The largest one is sought first: where its simulation is on the piece that
the program begins on, the smaller ones are on it, too, and need no simulation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from pathlib import Path

from leadline.core.errors import UsageError
from leadline.run.replay import WORDS, Replay, replay
from leadline.targets.simulated.machine import SimulatedMachine

COMPUTATION = "computation"
NETWORK = "loggp"
GROWTH = (0.01, 0.02, 0.05)
ADDED = "links.base"  # the constant that every message between nodes has once
QUANTUM = 1e-12  # s; of simulated time
_MOST = 1.0  # s of latency added to a message; a program that does not mind so much does not mind any
_EVERY = 4  # which step halves the interval, whatever the slope: so that it ends
_CLOSE = 1e-9  # of the time that is sought


@dataclass(frozen=True)
class Slope:
    """What the constants of one kind do: `share` of the time goes with them."""

    what: str
    share: float


@dataclass(frozen=True)
class ProgramSensitivity:
    """What a program's time, s, goes with.

    `per_message` is the number of messages between nodes on the critical path: the derivative of the time by
    the latency of each. `tolerated` is the latency, s, that may be added to each until the time has grown so
    much; None where no latency does it. `simulations` is how many it took.
    """

    time: float
    network: str
    slopes: list[Slope]
    per_message: float
    tolerated: dict[float, float | None]
    simulations: int


def sensitivity(
    path: Path,
    target: SimulatedMachine,
    *,
    ranks: int,
    compute: float = 1.0,
    growth: Sequence[float] = GROWTH,
    say: Callable[[str], None] = lambda _: None,
) -> ProgramSensitivity:
    """How the time of the program of a file depends on a described machine.

    Raises UsageError where noise would hide what constants do and for another network model than LogGP,
    LeadlineError where it cannot be executed.
    """
    if target.noise:
        raise UsageError("--sensitivity needs a simulation without noise: leave out --noise")
    if target.network not in {"auto", NETWORK}:
        raise UsageError(
            f"--sensitivity needs the network model {NETWORK}, where time is a sum of the machine's "
            f"constants, but got --network {target.network}"
        )
    fixed = replace(target, network=NETWORK, kinds=WORDS | {"message": (ADDED,)})
    simulations = 0

    def made_of(added: float) -> tuple[Replay, dict[str, float]]:
        nonlocal simulations
        simulations += 1
        machine = _later(fixed, added) if added else fixed
        done = replay(path, machine, ranks=ranks, compute=compute, detailed=True)
        assert done.made_of is not None
        return done, done.made_of

    say("executing it")
    first, parts = made_of(0)
    time = parts["time"]
    slopes = [Slope(word, parts[word] / time if time else 0.0) for word in (*WORDS, COMPUTATION)]
    known: dict[float, tuple[float, float]] = {0.0: (time, parts["messages"])}

    def with_latency(added: float) -> tuple[float, float]:
        if added not in known:
            say(f"executing it with {added * 1e6:.4g} us more latency")
            _, more = made_of(added)
            known[added] = more["time"], more["messages"]
        return known[added]

    largest_first = sorted(growth, reverse=True)
    found = {each: _tolerated(with_latency, known, (1 + each) * time) for each in largest_first}
    tolerated = {each: found[each] for each in sorted(growth)}
    return ProgramSensitivity(time, first.network, slopes, parts["messages"], tolerated, simulations)


def _later(target: SimulatedMachine, added: float) -> SimulatedMachine:
    """The machine with so much more latency, s, of every message between nodes."""
    machine = target.machine
    base = next((number for number in machine.numbers() if number.key == ADDED), None)
    if base is None:
        raise UsageError(f"{machine.name} has no {ADDED}, to which latency could be added")
    return replace(target, machine=machine.with_number(ADDED, float(base.value) + added))


def _tolerated(
    with_latency: Callable[[float], tuple[float, float]],
    known: Mapping[float, tuple[float, float]],
    goal: float,
) -> float | None:
    """The added latency at which the time has grown to `goal`; None where it never does.

    `with_latency` gives the time and its slope, `known` has what it gave. Newton's method within an interval
    that has the goal: a time by latency bends upwards, so each step lands beyond it and the next comes back,
    until both are of one piece. Where messages wait for one another at an adapter a piece may bend down: then
    halves do.
    """
    low = max((at for at, (time, _) in known.items() if time < goal), default=0.0)
    if low == _MOST:
        return None
    high = min((at for at, (time, _) in known.items() if time >= goal and at > low), default=_MOST)
    if high in known and low in known and _straight(low, known[low], high, known[high]):
        time, slope = known[low]
        return low + (goal - time) / slope
    at = low
    for tried in count(1):
        time, slope = with_latency(at)
        if abs(time - goal) <= slope * QUANTUM + _CLOSE * goal or high - low <= QUANTUM:
            break
        low, high = (at, high) if time < goal else (low, at)
        step = at + (goal - time) / slope if slope else inf
        if step >= high == _MOST and at < _MOST:
            if with_latency(_MOST)[0] < goal:
                return None
            at = _MOST
        else:
            at = step if low < step < high and tried % _EVERY else (low + high) / 2
    return at


def _straight(low: float, at_low: tuple[float, float], high: float, at_high: tuple[float, float]) -> bool:
    """Whether two simulations are of one straight piece: the same slope, along which both times are."""
    (first, slope), (last, other) = at_low, at_high
    return 0 < slope == other and abs(last - first - slope * (high - low)) <= (slope + 1) * QUANTUM
