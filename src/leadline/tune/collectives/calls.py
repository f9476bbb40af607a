"""The collective calls of a program: the plan that measures them, and what chosen algorithms would save."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from leadline.core.collectives import OPERATIONS, VARYING
from leadline.core.errors import UsageError
from leadline.core.formatting import counted
from leadline.core.units import format_bytes
from leadline.plan.model import Plan
from leadline.program.model import Form, Kind, Operation, Program
from leadline.tune.collectives.selection import Chosen

SHARE = 0.01  # of the time in collectives: calls with less are not measured
MOST = 8  # sizes of an operation that are measured
TOLD = 4  # calls that a sentence names
ROOTED = ("bcast", "reduce", "gather", "scatter")


@dataclass(frozen=True)
class Calls:
    """The calls of one operation with one size, on communicators of so many ranks."""

    operation: str  # as settings name it, such as allgatherv
    ranks: int
    bytes: int  # of the message, or of one rank's block; of blocks that vary their mean
    count: float  # calls that a rank makes, the mean over all ranks of the program
    time: float  # s that a rank is in them, the mean likewise; 0 where it was not measured
    uneven: bool = False  # blocks of different sizes

    @property
    def place(self) -> tuple[str, int, int]:
        """What a library's settings can tell apart."""
        return self.operation, self.ranks, self.bytes


@dataclass(frozen=True)
class Saving:
    """What the chosen algorithm would save of a program's calls."""

    calls: Calls
    chosen: Chosen
    seconds: float  # of a rank in one execution of the program, the mean over its ranks
    low: float  # 95 %
    high: float

    def row(self) -> dict[str, object]:
        """The saving as an object."""
        return {
            "mpi": self.chosen.mpi,
            **vars(self.calls),
            "algorithm": self.chosen.algorithm,
            "saved": self.seconds,
            "saved_low": self.low,
            "saved_high": self.high,
        }


def calls(program: Program) -> list[Calls]:
    """A program's blocking collectives, the most costly first; those of another form cannot be set."""
    counts: defaultdict[tuple[str, int, int], float] = defaultdict(float)
    times: defaultdict[tuple[str, int, int], float] = defaultdict(float)
    uneven: set[tuple[str, int]] = set()
    for rank in range(program.ranks):
        executed, stats = program.sequence(rank).counts, program.stats(rank)
        for leaf, operation in enumerate(program.leaves(rank)):
            name, communicator = _name(operation), program.communicators[operation.comm]
            ranks = len(communicator.members)
            if name is None or communicator.remote or ranks < 2:
                continue
            place = (name, ranks, _size(operation, ranks))
            # Rows and columns of a grid call at once: what counts is how often a rank waits for one.
            counts[place] += executed[leaf] / program.ranks
            times[place] += executed[leaf] * float(stats[leaf]["inside_mean"]) / program.ranks
            if len(set(_blocks(operation))) > 1:
                uneven.add(place[:2])
    found = [Calls(*place, count, times[place], place[:2] in uneven) for place, count in counts.items()]
    return sorted(found, key=lambda each: (-each.time, -each.count * each.bytes, each.place))


def worth_measuring(every: Sequence[Calls]) -> list[Calls]:
    """Those that take a share of the time in collectives, at most some sizes of each operation."""
    total = fsum(each.time for each in every)
    kept: defaultdict[tuple[str, int], list[Calls]] = defaultdict(list)
    for each in every:
        sizes = kept[each.operation, each.ranks]
        if each.time >= SHARE * total and len(sizes) < MOST and each.bytes not in {s.bytes for s in sizes}:
            sizes.append(each)
    return [each for each in every if each in kept[each.operation, each.ranks]]


def plan(every: Iterable[Calls], name: str, mpi: str, time: float) -> Plan:
    """A plan that measures each algorithm of these calls beside the library's own choice.

    `time` is in s. Raises UsageError where there are no calls.
    """
    sizes: defaultdict[tuple[str, int, str], set[int]] = defaultdict(set)
    for each in every:
        benchmark = _benchmark(each.operation)
        if each.operation in VARYING.values() or each.operation == "reduce_scatter":
            variation = "varying" if each.uneven else "equal"
        else:
            variation = "none"
        sizes[benchmark, each.ranks, variation].add(each.bytes)
    if not sizes:
        raise UsageError(f"{name} has no blocking collective of which an algorithm could be chosen")
    return Plan.of(
        *(_measure(*key, sorted(found)) for key, found in sorted(sizes.items())),
        name=f"tune-{name}",
        question=f"Which of a library's algorithms serve the collective calls of {name} best?",
        mpi=mpi,
        time=f"{time} s",
        tolerance="2 %",
        launches={"at_least": 8, "at_most": 16},
        point_time="10 ms",
        collectives=["default", "each"],
    )


def savings(every: Iterable[Calls], chosen: Iterable[Chosen]) -> list[Saving]:
    """What a program would save by the chosen algorithms, the most first.

    By the ratio in calls between computations, as a program has them, where these were measured.
    """
    places: Mapping[tuple[str, int, int], list[Chosen]] = _by_place(chosen)
    found = []
    for calls_ in every:
        for each in places.get(calls_.place, []):
            if each.algorithm is None:
                found.append(Saving(calls_, each, 0.0, 0.0, 0.0))
                continue
            applied = each.applied, each.applied_low, each.applied_high
            ratios = applied if each.applied is not None else (each.ratio, each.low, each.high)
            whole = calls_.count * each.own
            saved, high, low = (whole * (1 - (ratio or 1.0)) for ratio in ratios)
            found.append(Saving(calls_, each, saved, low, high))
    return sorted(found, key=lambda saving: (saving.chosen.mpi, -saving.seconds, saving.calls.place))


def without_choice(every: Sequence[Calls], chosen: Iterable[Chosen]) -> str | None:
    """Of which calls no algorithm was measured, the most costly first, a sentence without its end; None where
    of all some was.
    """
    places = _by_place(chosen)
    left = [each for each in every if each.place not in places]
    if not left:
        return None
    whole = fsum(each.time for each in every)
    named = []
    for each in left[:TOLD]:
        size = f" of {format_bytes(each.bytes)}" if each.operation != "barrier" else ""
        share = f" ({100 * each.time / whole:.1f} % of the time)" if whole else ""
        named.append(f"{each.operation}{size}{share}")
    more = f" and {len(left) - TOLD} others" if len(left) > TOLD else ""
    kinds = (
        f"{len(left)} of {counted(len(every), 'kind')} of calls {'has' if len(left) == 1 else 'have'} no row"
    )
    return f"{kinds}, as no algorithm was measured for them: {', '.join(named)}{more}"


def _by_place(chosen: Iterable[Chosen]) -> dict[tuple[str, int, int], list[Chosen]]:
    places: defaultdict[tuple[str, int, int], list[Chosen]] = defaultdict(list)
    for each in chosen:
        places[each.operation, each.ranks, each.bytes].append(each)
    return places


def _measure(benchmark: str, ranks: int, variation: str, sizes: Sequence[int]) -> dict[str, object]:
    """A measurement of a plan."""
    keys: dict[str, object] = {
        "benchmark": benchmark,
        "ranks": ranks,
        "communicator": "world",
        "cadence": ["back-to-back", "application"],
    }
    if benchmark != "barrier":
        keys["bytes"] = [f"{size} B" for size in sizes]
    if benchmark in ROOTED:
        keys["root"] = 0
    if variation != "none":
        keys["variation"] = variation
    return keys


def _benchmark(operation: str) -> str:
    plain = {varying: name for name, varying in VARYING.items()}
    return plain.get(operation, operation.removesuffix("_block"))


def _name(operation: Operation) -> str | None:
    """A blocking collective as settings name it; None for anything else."""
    name = Kind(operation.kind).name.lower()
    if operation.form != Form.BLOCKING or name not in OPERATIONS:
        return None
    varies = bool(operation.mode or operation.gives or operation.takes)
    if name == "reduce_scatter":
        return name if varies else f"{name}_block"
    return VARYING[name] if varies and name in VARYING else name


def _blocks(operation: Operation) -> tuple[int, ...]:
    """The sizes of a call whose blocks vary, as this rank knows them."""
    return (operation.gives or operation.takes)[1::2]


def _size(operation: Operation, ranks: int) -> int:
    """Bytes of a message or block; of blocks that vary the mean, to a power of two.

    Each rank knows other blocks of such a call, so nothing finer is the same for all of them.
    """
    if not (operation.mode or operation.gives or operation.takes):
        return operation.bytes
    blocks = _blocks(operation)
    mean = fsum(blocks) / ranks if blocks else operation.bytes
    return int(2 ** np.round(np.log2(max(mean, 1))))
