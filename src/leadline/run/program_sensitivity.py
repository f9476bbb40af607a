"""How a program's time depends on the machine: on latency, bandwidth, overhead and the speed of computation.

`slopes` gives for each of them the share of the time that goes with it: if it took x % longer, the program
would take share times x % longer, as long as x is small. On the LogGP network a program's time is a sum of
such constants along its critical path (Alexandrov et al., LogGP, 1995), so the shares of all constants add
up to 1 (Euler's theorem on homogeneous functions), and the derivative by the latency of a message is the
number of messages on that path. `tolerance` gives how much latency may be added to each message between
nodes until the program takes so many per cent longer.

Everything is found by executing the program again with a constant moved: a simulation without noise is exact
to the picosecond, so differences are, too. It is done on the LogGP network alone: where messages contend for
links, a constant that is moved by a little changes who comes first, and a difference says nothing. Several
ranks of a node share an adapter, so there a little can change an order, too: slopes up and down are then not
the same, and both are given.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from scipy.optimize import brentq

from leadline.core.errors import UsageError
from leadline.run.replay import WORDS, Replay, matching, replay
from leadline.targets.simulated.machine import SimulatedMachine

STEP = (
    1e-3  # by which a constant is moved up and down: 0.1 % of 100 ns are 100 ps, which rounding leaves alone
)
UNEVEN = 0.01  # of the time
COMPUTATION = "computation"
NETWORK = "loggp"
GROWTH = (0.01, 0.02, 0.05)
ADDED = "links.base"  # the constant that every message between nodes has once
STEP_OF_LATENCY = 1e-9  # s; moves the time by so much for each message on the path, to the picosecond
QUANTUM = 1e-12  # s; of simulated time
_MOST = 1.0  # s of latency added to a message; a program that does not mind so much does not mind any
_CLOSE = 1e-3  # of the latency that is sought
_AT_ONCE = 2


@dataclass(frozen=True)
class Slope:
    """What one constant does: `share` of the time goes with it.

    `least` and `most` are the shares by which it differs when the constant is smaller and when it is larger:
    equal but for rounding where the time is linear in it.
    """

    what: str
    share: float
    least: float
    most: float

    @property
    def even(self) -> bool:
        """Whether the time is linear in the constant, as far as rounding lets one see."""
        return self.most - self.least < UNEVEN + UNEVEN * abs(self.share)


@dataclass(frozen=True)
class ProgramSensitivity:
    """What a program's time, s, goes with.

    `per_message` is the number of messages between nodes on the critical path: the derivative of the time by
    the latency of each. `tolerated` is the latency, s, that may be added to each until the time has grown so
    much; None where no latency that was tried does it.
    """

    time: float
    network: str
    slopes: list[Slope]
    per_message: float
    tolerated: dict[float, float | None]


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

    def run(machine: SimulatedMachine, factor: float = 1.0) -> Replay:
        return replay(path, machine, ranks=ranks, compute=compute * factor)

    if target.network not in {"auto", NETWORK}:
        raise UsageError(
            f"--sensitivity is of the network model {NETWORK}, where time is a sum of the machine's "
            f"constants, but got --network {target.network}"
        )
    say("executing it as it is")
    fixed = replace(target, network=NETWORK)
    first = run(fixed)
    time = first.time.value
    words = [word for word in WORDS if matching(fixed.machine, word)]
    moved: list[tuple[str, float]] = [
        (word, sign * STEP) for word in (*words, COMPUTATION) for sign in (-1, 1)
    ]

    def took(each: tuple[str, float]) -> float:
        word, by = each
        if word == COMPUTATION:
            return run(fixed, 1 + by).time.value
        # A bandwidth is a time the other way round.
        return run(_scaled(fixed, word, 1 / (1 + by) if word == "bandwidth" else 1 + by)).time.value

    say("executing it with each constant moved")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        times = dict(zip(moved, pool.map(took, moved), strict=True))
    slopes = []
    for word in (*words, COMPUTATION):
        down, up = ((times[word, sign * STEP] - time) / (sign * STEP * time) for sign in (-1, 1))
        slopes.append(Slope(word, (down + up) / 2, min(down, up), max(down, up)))

    def with_latency(added: float) -> float:
        return run(_later(fixed, added)).time.value

    say("adding latency")
    per_message = (with_latency(STEP_OF_LATENCY) - time) / STEP_OF_LATENCY
    tolerated: dict[float, float | None] = {}
    least = 0.0
    for each in sorted(growth):
        tolerated[each] = _tolerated(
            with_latency, (1 + each) * time, least, each * time / max(per_message, 1e-9)
        )
        least = tolerated[each] or least
    return ProgramSensitivity(time, first.network, slopes, per_message, tolerated)


def _scaled(target: SimulatedMachine, word: str, factor: float) -> SimulatedMachine:
    machine = target.machine
    for number in matching(machine, word):
        machine = machine.with_number(number.key, float(number.value) * factor)
    return replace(target, machine=machine)


def _later(target: SimulatedMachine, added: float) -> SimulatedMachine:
    """The machine with so much more latency, s, of every message between nodes."""
    machine = target.machine
    base = next((number for number in machine.numbers() if number.key == ADDED), None)
    if base is None:
        raise UsageError(f"{machine.name} has no {ADDED}, to which latency could be added")
    return replace(target, machine=machine.with_number(ADDED, float(base.value) + added))


def _tolerated(
    with_latency: Callable[[float], float], goal: float, least: float, guess: float
) -> float | None:
    """The added latency at which the time has grown to `goal`; None where it never does.

    `least` is what it takes at least, `guess` where only the messages grow that are on the critical path now:
    as latency grows, others come to it.
    """
    if with_latency(least) >= goal:
        return least
    high = min(max(guess, 2 * least, 1e-9), _MOST)
    while with_latency(high) < goal:
        if high >= _MOST:
            return None
        high = min(10 * high, _MOST)
    found: float = brentq(lambda added: with_latency(added) - goal, least, high, xtol=QUANTUM, rtol=_CLOSE)
    return found
