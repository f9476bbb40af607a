"""A recorded or written program executed: on this machine's MPI, or on a described machine.

It is a point of the benchmark `program`, so launches, intervals and failures are those of every benchmark.
Of a described machine it is also known when each rank entered and left each operation.
"""

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.analysis.summary import summarise
from leadline.core.errors import LeadlineError, UsageError, suggest
from leadline.core.formatting import counted
from leadline.core.record import OK
from leadline.machine import Machine, Number, load
from leadline.native.registry import algorithms, benchmarks
from leadline.plan.model import Plan
from leadline.program import files
from leadline.program.change import factor_of, scaled_bytes
from leadline.program.left import in_words, left_behind, unmet
from leadline.program.model import COLLECTIVES, Kind, Program, SendMode
from leadline.program.threads import threads_in_words
from leadline.run.session import simulate
from leadline.targets import Target
from leadline.targets.simulated.machine import SimulatedMachine, whole

Times = dict[int, npt.NDArray[np.int64]]  # of each rank, as Program.times
_ANY_MACHINE = "ndr-fat-tree"  # to simulate a program of which nothing is known
_FOR_EVER = "1000000 s"  # a program may take as long as it takes


@dataclass(frozen=True)
class Value:
    """A time, s, with its interval where it was sampled."""

    value: float
    low: float | None = None
    high: float | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class Replay:
    """How long a program takes at a target. `times` are known of described machines alone, in ns."""

    time: Value
    communication: Value  # of a rank in messages and collectives, mean
    network: str  # the model that was true enough, or the library's transport
    launches: int
    oversubscribed: bool
    disturbance: str = ""  # what kept other launches from the same value, such as work beside them
    times: Times | None = None
    made_of: dict[str, float] | None = None  # kinds of constants, where the target has such


def replay(
    path: Path,
    target: Target,
    *,
    ranks: int,
    compute: float = 1.0,
    algorithms: str = "library",
    detailed: bool = False,
    launches: int | None = None,
    mpi: str = "default",
    protocol: str = "default",
    recorded: float | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Replay:
    """Executes the program of a file, of so many ranks, at a target.

    `compute` is a factor of the computation between operations, `algorithms` such as "allreduce=ring" (of
    described machines alone), `mpi` the library without one. `detailed` keeps the times of each rank.
    `recorded` is how long it took, s: a launch of a real MPI that takes many times as long counts as hanging.
    Where that is unknown the program is simulated first, which also finds ranks that would wait for ever.
    Raises LeadlineError with the reason where it could not be executed.
    """
    described = isinstance(target, SimulatedMachine)
    if not described and recorded is None:
        recorded = _expected(path, ranks, compute, say)
    with TemporaryDirectory() as place:
        trace = Path(place) / "replay.times"
        measure: dict[str, object] = {
            "benchmark": "program",
            "program": str(path.resolve()),
            "ranks": ranks,
            "compute": f"{compute:g}",
            "algorithms": algorithms,
            "protocol": protocol,
            "trace": str(trace) if detailed and described else "none",
        }
        keys: dict[str, Any] = {"time": _FOR_EVER}
        if not described:
            keys |= {
                "mpi": mpi,
                "oversubscribe": True,
                "point_limit": f"{patience(recorded, ranks, compute):.0f} s",
            }
            keys |= {"launches": launches or {"at_least": 6, "at_most": 12}}
        records = simulate(Plan.of(measure, name="replay", **keys), target, say=say)
        kinds = isinstance(target, SimulatedMachine) and target.kinds is not None
        times = _read_times(trace) if detailed and not kinds and trace.exists() else None
        made_of = json.loads(trace.read_text()) if kinds and trace.exists() else None
    rows = {row["metric"]: row for row in summarise(records).rows(named=True) if row["status"] == OK}
    if "time" not in rows:
        reason = next(iter(records.filter(pl.col("status") != OK)["reason"].drop_nulls()), "no result came")
        if not described and "no answer" in reason:
            _expected(path, ranks, compute, say)  # which finds ranks that wait for ever
        reason = reason.partition("; a plan's")[0]  # there is none whose keys could be other
        raise LeadlineError(f"{path} was not executed: {reason}")
    network = rows["time"].get("network") or rows["time"].get("transport") or ""
    return Replay(
        time=_value(rows["time"]),
        communication=_value(rows["communication"]),
        network=str(network),
        launches=int(rows["time"]["launches"]),
        oversubscribed=bool(rows["time"]["oversubscribed"]),
        disturbance=str(rows["time"].get("disturbance") or "") if rows["time"].get("disturbed") else "",
        times=times,
        made_of=made_of,
    )


def _expected(path: Path, ranks: int, compute: float, say: Callable[[str], None]) -> float | None:
    """How long a program of which no times were recorded takes on some described machine, s; None where that
    has not the ranks, or does not execute it.

    Every message is eager there, as far as the machine has it: what waits for ever there, does so everywhere.
    Raises LeadlineError for that.
    """
    machine = load(_ANY_MACHINE)
    if ranks > whole(machine):
        return None
    target = SimulatedMachine.of(machine, None, ranks, network="loggp")
    say("looking whether it comes to its end")
    try:
        return replay(path, target, ranks=ranks, compute=compute, protocol="eager").time.value
    except LeadlineError as problem:
        if "deadlock" in str(problem):
            raise
        return None


def patience(recorded: float | None, ranks: int, compute: float = 1.0) -> float:
    """After how long a launch counts as hanging, s: a minute, and 50 times what it may be expected to take.

    As long as recorded, times the ranks that share a core of this machine; an hour where nothing is known.
    """
    if recorded is None:
        return 3600.0
    return 60 + 50 * recorded * max(1.0, compute) * max(1.0, ranks / len(os.sched_getaffinity(0)))


def _value(row: dict[str, object]) -> Value:
    names = ("value", "low", "high", "confidence")
    return Value(*(None if row.get(name) is None else float(str(row[name])) for name in names))  # type: ignore[arg-type]


def _read_times(path: Path) -> Times:
    counts, pairs = files.read_pairs(path)
    return dict(enumerate(np.split(pairs, np.cumsum(counts)[:-1])))


def recorded_time(program: Program) -> float | None:
    """How long the recording took from the first rank's start to the last one's end, s; None if unknown."""
    if program.times_of is None:
        return None
    ends = [times[-1, 1] for times in program.times_of.values() if len(times)]
    return float(max(ends, default=0)) * 1e-9


def recorded_communication(program: Program) -> float | None:
    """How long a rank was in MPI in the recording, s, mean of all; None if unknown."""
    if program.times_of is None:
        return None
    inside = sum(_communicating(program, rank, times) for rank, times in program.times_of.items())
    return inside * 1e-9 / max(program.ranks, 1)


def _communicating(program: Program, rank: int, times: npt.NDArray[np.int64]) -> int:
    """How long a rank is in MPI, ns, without the calls of files."""
    files = np.array([leaf.kind == Kind.FILE for leaf in program.leaves(rank)], bool)
    return int((times[:, 1] - times[:, 0])[~files[program.sequence(rank).order()]].sum())


def remarks(program: Program, machine: Machine | None) -> list[str]:
    """What of a program is executed otherwise than it was recorded, a sentence each; on a described machine
    or, without one, by an MPI.
    """
    found = list(filter(None, [threads_in_words(program)]))
    if (Kind.SEND, SendMode.SYNCHRONOUS) in program.calls:
        found.append("synchronous sends are executed as standard ones, which may end earlier")
    if any(kind == Kind.PROBE for kind, _ in program.calls):
        found.append("probes do not wait; the receives that follow them do")
    if any(kind == Kind.ACCUMULATE for kind, _ in program.calls):
        found.append("accumulating is executed as a put, without its sums")
    if any(kind == Kind.FILE for kind, _ in program.calls):
        found.append("calls of MPI's files take as long as they were recorded, and wait for nobody")
    if simulated := program.recorded.get("simulated_on"):
        found.append(
            f"its times are simulated, on {simulated}: what shared cores, noise and --compute made of its "
            "computation is in them"
        )
    if outside := program.recorded.get("outside"):
        found.append(f"not executed: {', '.join(outside)}")
    if machine and machine.rows.get("cold") and not any(program.recorded.get("memory", ())):
        found.append(
            "what memory the ranks had is not known: messages after a computation cost what they do in caches"
        )
    if left := left_behind(program):
        found.append(f"{in_words(left)}, and none is here: who sent one went on at once")
    if words := unmet(program):
        found.append(f"{words}, and left out here: nobody waited for them")
    if program.partial:
        found.append(f"the records of {counted(len(program.partial), 'rank')} end before the program did")
    return found


def by_rank(program: Program, times: Times) -> pl.DataFrame:
    """A row per rank: when it ended and its time in messages and collectives, s."""
    rows = []
    for rank in range(program.ranks):
        pairs = times[rank]
        inside = _communicating(program, rank, pairs) * 1e-9
        rows.append((rank, float(pairs[-1, 1]) * 1e-9 if len(pairs) else 0.0, inside))
    return pl.DataFrame(rows, schema=["rank", "time", "communication"], orient="row")


def by_region(program: Program, times: Times) -> pl.DataFrame:
    """A row per region: how often a rank is in it, and the time a rank spends there, s, mean and most.

    A region within itself counts once; one that does not end lasts until the program does.
    """
    spent = np.zeros((len(program.regions), program.ranks))
    turns = np.zeros(len(program.regions), np.int64)
    for rank in range(program.ranks):
        leaves, order = program.leaves(rank), program.sequence(rank).order()
        begins = np.array([leaf.kind == Kind.REGION_BEGIN for leaf in leaves], np.int64)
        ends = np.array([leaf.kind == Kind.REGION_END for leaf in leaves], np.int64)
        which = np.array([leaf.extra - 1 for leaf in leaves], np.int64)
        for region in range(len(program.regions)):
            steps = ((begins - ends) * (which == region))[order]
            # How deep a rank is in it; an end without a begin is none.
            depth = np.cumsum(steps)
            depth -= np.minimum.accumulate(np.minimum(depth, 0))
            into, out = (
                (steps > 0) & (depth == 1),
                (steps < 0) & (np.diff(depth, prepend=0) < 0) & (depth == 0),
            )
            left = times[rank][-1:, 1].sum() if depth.size and depth[-1] > 0 else 0
            spent[region, rank] = (times[rank][out, 0].sum() + left - times[rank][into, 1].sum()) * 1e-9
            turns[region] = max(turns[region], int((steps > 0).sum()))
    return pl.DataFrame(
        {
            "region": program.regions,
            "turns": turns,
            "mean": spent.mean(axis=1) if program.ranks else [],
            "most": spent.max(axis=1) if program.ranks else [],
        }
    )


# ------------------------------------------------------------------------------------------------ what if

# Constants of a machine that a word stands for, by what their keys end with.
WORDS = {
    "latency": ("links.base", "links.hop", "latency"),
    "bandwidth": ("links.rate", "node.injection", "node.reception", "node.local", "collective_network.rate"),
    "overhead": ("overhead", "send_packet", "receive_packet"),  # the cores' times
}
_HEADER = "packets.overhead"  # bytes, not time
_SCALED = re.compile(r"(?P<what>[\w.\-]+)(?:\((?P<region>[^)]*)\))?\s*\*\s*(?P<factor>\S+)")
_SET = re.compile(r"(?P<what>[\w\-]+)=(?P<value>.+)")


@dataclass(frozen=True)
class Change:
    """A question: what if this were otherwise? `words` is how it was asked."""

    words: str
    what: str
    factor: float | None = None
    value: str = ""
    region: str | None = None


def parse_change(words: str) -> Change:
    """A change such as "latency*0.5", "compute*0.7", "bytes(halo)*2", "allreduce=ring", "mapping=TXYZ".

    Raises UsageError for what is none.
    """
    text = words.strip()
    if match := _SCALED.fullmatch(text):
        if match["region"] is not None and match["what"] != "bytes":
            raise UsageError(f"{words!r}: only bytes can be changed in a region, as in bytes(REGION)*2")
        return Change(text, match["what"], factor=factor_of(words, match["factor"]), region=match["region"])
    if match := _SET.fullmatch(text):
        return Change(text, match["what"], value=match["value"].strip())
    raise UsageError(
        "a change is such as latency*0.5, bandwidth*2, overhead*0.5, compute*0.7, bytes*2, bytes(REGION)*2, "
        f"mapping=ORDER, network=flow or allreduce=ALGORITHM, but got {words!r}"
    )


def check_changes(changes: Sequence[Change], program: Program) -> None:
    """Raise UsageError for a change of a collective that the program does not call, or to no algorithm."""
    called = {Kind(kind).name.lower() for kind, _ in program.calls if kind in COLLECTIVES}
    for change in changes:
        if change.factor is None and change.what not in (*called, "mapping", "network"):
            raise UsageError(
                f"{change.words!r} changes nothing: the program has no {change.what}; its collectives: "
                f"{', '.join(sorted(called)) or 'none'}"
            )
        known = algorithms(change.what) if change.what in benchmarks() else []
        if change.factor is None and known and change.value not in known:
            near = suggest(change.value, known)
            raise UsageError(f"{change.words!r}: {change.what} has no algorithm {change.value!r}{near}")


def matching(machine: Machine, what: str) -> list[Number]:
    """The constants of a machine for which a word of WORDS stands, or of a key, whole or within a table."""

    def stands(key: str) -> bool:
        if what in WORDS:
            return key.endswith(WORDS[what]) and key != _HEADER
        return key == what or key.endswith(f".{what}")

    found = [each for each in machine.numbers() if isinstance(each.value, int | float) and stands(each.key)]
    whole = [each for each in found if each.key == what]
    return whole or found


def changed_machine(target: SimulatedMachine, change: Change) -> SimulatedMachine:
    """The machine with constants so many times as large. Raises UsageError for none of that name."""
    assert change.factor is not None
    machine = target.machine
    found = matching(machine, change.what)
    if not found:
        raise UsageError(
            f"{machine.name} has no constant {change.what!r}; a change of a machine is of latency, "
            "bandwidth, overhead or a key of its file, such as links.hop*0.5"
        )
    for number in found:
        machine = machine.with_number(number.key, float(number.value) * change.factor)
    return replace(target, machine=machine)


def what_if(
    path: Path,
    target: SimulatedMachine,
    changes: Sequence[Change],
    *,
    ranks: int,
    compute: float = 1.0,
    say: Callable[[str], None] = lambda _: None,
) -> list[tuple[Change, Replay]]:
    """The program on the machine with each change by itself. Raises as `replay` does."""
    found = []
    for change in changes:
        say(f"replaying with {change.words}")
        found.append((change, _changed(path, target, change, ranks, compute)))
    return found


def _changed(path: Path, target: SimulatedMachine, change: Change, ranks: int, compute: float) -> Replay:
    if change.what == "compute" and change.factor is not None:
        return replay(path, target, ranks=ranks, compute=compute * change.factor)
    if change.what == "bytes" and change.factor is not None:
        with TemporaryDirectory() as place:
            other = Path(place) / path.name
            scaled_bytes(files.read(path), change.factor, change.region).write(other)
            try:
                return replay(other, target, ranks=ranks, compute=compute)
            except LeadlineError as problem:  # such as a receive outside the region, of what is sent inside
                raise type(problem)(
                    f"{change.words}: {str(problem).replace(str(other), str(path))}"
                ) from None
    if change.factor is not None:
        return replay(path, changed_machine(target, change), ranks=ranks, compute=compute)
    if change.what == "mapping":
        return replay(path, replace(target, mapping=change.value), ranks=ranks, compute=compute)
    if change.what == "network":
        return replay(path, replace(target, network=change.value), ranks=ranks, compute=compute)
    return replay(path, target, ranks=ranks, compute=compute, algorithms=change.words)
