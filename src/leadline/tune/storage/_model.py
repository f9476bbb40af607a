"""The time of parallel writing as a closed form of its settings.

Symbols: P ranks, N clients (nodes, or I/O nodes), A aggregators, b bytes of an aggregator's buffer; a file
lies on S targets in stripes of s bytes, a target writes at the rate r. Everything is for one dataset of v
bytes; datasets follow each other.

**Targets.** On a machine that others use, rates of targets differ: r exp(-spread z) with z normal. Who waits
for all of S waits for the slowest, so that the time is that at r times

    F(S) = exp(spread m(S)),   m(S) the expected largest of S normal numbers (0, 0.56, 0.85, ... 2.7 of 156)

(Lofstead et al., Managing variability in the IO performance of petascale storage systems, SC 2010, show the
slow targets.) Of this a rank that writes by itself without waiting for others sees the part `persistent`,
what does not even out.

**Locks.** A write of a piece of q bytes takes q / r and `call`, and once more `call` where the piece does not
begin at a multiple of the file system's unit: a partial page is read first, and nothing overlaps with that.
Where another client held the extent before, the lock changes hands. On Lustre each target is its own lock
server and its queue grows with the clients that contend for it; on GPFS one token manager serves all, one
after another:

    lock (1 + queue log2(1 + contending clients a target))

**Collective writing** (two-phase, ROMIO): R = v / (A b) rounds; in a round the ranks tell each other what
comes (`sync` a rank), send it to the aggregators, and these write b bytes each, in k pieces a target (A b / S
q, as rounds run into each other and stripes go round the targets):

    exchange e = b (A / nodes) / exchange rate of a node
    clients  c = max(b / stream, b (A / N) / client rate)
    targets  t = k (q F / r + call)
    round    = sync P + locks + k call [unaligned] + max(e + c, t) + (1 - min(1, dirty / b)) min(e + c, t)

since a client's write-behind (`dirty` bytes) lets the next exchange begin before the last write
ends. An aggregator that always meets the same target as its only writer takes no locks.

**Independent writing**: all P at once, in pieces of run bytes, or whole chunks; a piece shares its first and
last stripe with a neighbour unless it is aligned. Time is the slower of clients and targets, locks beside
them.

**Opening** takes `open` for every rank at the metadata server and `object` for every target; **closing** the
same again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.tune.storage.patterns import Pattern

Floats = NDArray[np.float64]

PARTS = ("open", "sync", "exchange", "write", "lock", "close")


@dataclass(frozen=True)
class Columns:
    """Settings of many runs, an array each; what a run does not set has the machine's default already."""

    stripes: Floats  # S
    stripe: Floats  # s, B
    aggregators: Floats  # A
    buffer: Floats  # b, B
    boundary: Floats  # B, objects of the file begin at its multiples
    chunk: Floats  # B, 0 for a contiguous dataset
    lockless: NDArray[np.bool_]
    large: NDArray[np.bool_]


@dataclass(frozen=True)
class _Case:
    """What is written where, and by whom."""

    machine: Mapping[str, Any]
    pattern: Pattern
    ranks: int
    clients: float  # N
    at: Columns
    stripes: Floats  # S, where blocks go over all targets those
    stripe: Floats


def parts(machine: Mapping[str, Any], pattern: Pattern, ranks: int, at: Columns) -> dict[str, Floats]:
    """Seconds of each of PARTS, an array over the settings; their sum is the whole."""
    clients = max(1.0, float(np.ceil(ranks / machine["client_ranks"])))
    stripes, stripe = np.minimum(at.stripes, machine["targets"]), at.stripe
    if _single(machine):
        stripes = np.full_like(stripes, machine["targets"])
        stripe = np.full_like(stripe, machine["block"])
    write = _collective if pattern.collective else _independent
    found = write(_Case(machine, pattern, ranks, clients, at, stripes, stripe))
    opening = machine["open"] * ranks + machine["object"] * stripes
    return {"open": opening, **found, "close": opening.copy()}


def _single(machine: Mapping[str, object]) -> bool:
    """Whether files lie in blocks over all targets and one manager has all locks, as on GPFS."""
    return bool(machine.get("block", 0))


def slowest(count: Floats) -> Floats:
    """The expected largest of so many standard normal numbers, by Blom's approximation; 0 of one."""
    from scipy.special import ndtri  # noqa: PLC0415

    many = np.maximum(1.0, count)
    return np.asarray(ndtri((many - 0.375) / (many + 0.25)))


def _factor(machine: Mapping[str, Any], targets: Floats, part: float = 1.0) -> Floats:
    """F: how much longer the slowest of some targets takes than the target rate says."""
    return np.asarray(np.exp(part * machine["spread"] * slowest(targets)))


def _handover(machine: Mapping[str, Any], clients: Floats | float, servers: Floats) -> Floats:
    """Time in which a lock changes hands."""
    return np.asarray(machine["lock"] * (1.0 + machine["lock_queue"] * np.log2(1.0 + clients / servers)))


def _unaligned(machine: Mapping[str, Any], at: Columns) -> Floats:
    """1 where objects of the file begin anywhere, 0 where they begin at units of the file system."""
    return np.where((at.boundary % machine["unit"] == 0) | at.large, 0.0, 1.0)


def _collective(case: _Case) -> dict[str, Floats]:
    """A dataset in rounds of two phases, times the number of datasets."""
    machine, at, ranks, stripe = case.machine, case.at, case.ranks, case.stripe
    size = float(case.pattern.share) * ranks
    writers = np.minimum(np.minimum(at.aggregators, ranks), np.ceil(size / at.buffer))
    rounds = size / (writers * at.buffer)
    nodes = np.minimum(writers, case.clients)
    rate = machine["target_rate"] * machine["share"]
    piece = np.minimum(at.buffer, stripe)
    busy = np.minimum(case.stripes, np.maximum(1.0, writers * at.buffer / stripe))
    most = writers * at.buffer / piece / busy  # k
    exchange = at.buffer * writers / np.minimum(writers, ranks / machine["ranks"]) / machine["exchange"]
    client = np.maximum(at.buffer / machine["stream"], at.buffer * writers / nodes / machine["client_rate"])
    target = most * (piece * _factor(machine, busy) / rate + machine["call"])
    lock = _collective_locks(case, writers, nodes, most)
    ahead = np.minimum(1.0, machine["dirty"] / at.buffer)
    sender = exchange + client
    writing = np.maximum(sender, target) + (1.0 - ahead) * np.minimum(sender, target) - exchange
    writing += most * machine["call"] * _unaligned(machine, at)
    times = case.pattern.datasets * rounds
    return {
        "sync": times * machine["sync"] * ranks,
        "exchange": times * exchange,
        "write": times * writing,
        "lock": times * lock,
    }


def _collective_locks(case: _Case, writers: Floats, nodes: Floats, most: Floats) -> Floats:
    """Seconds of a round in which locks change hands."""
    machine, at, stripes = case.machine, case.at, case.stripes
    if _single(machine):
        return np.where(at.lockless, 0.0, writers * _handover(machine, 0.0, np.ones_like(stripes)))
    alone = (writers <= stripes) & (stripes % writers == 0)
    return np.where(alone, 0.0, most * _handover(machine, nodes, stripes))


def _independent(case: _Case) -> dict[str, Floats]:
    """All ranks at once, each its own pieces."""
    machine, pattern, at = case.machine, case.pattern, case.at
    clients, stripes, stripe = case.clients, case.stripes, case.stripe
    size = float(pattern.share) * case.ranks
    whole = (at.chunk > 0) & (at.chunk <= pattern.share)
    run = np.where(whole, at.chunk, np.where(at.chunk > 0, float(pattern.row), float(pattern.run)))
    aligned = (at.boundary % stripe == 0) & (run % stripe == 0)
    piece = np.minimum(run, stripe)
    crossing = np.where(aligned, 0.0, np.minimum(1.0, run / stripe))
    pieces = size / run * (np.ceil(run / stripe - 1e-9) + crossing)
    rate = machine["target_rate"] * machine["share"]
    calls = machine["call"] * (1.0 + _unaligned(machine, at))
    factor = _factor(machine, stripes, machine["persistent"])
    target = (size * factor / rate + pieces * calls) / stripes
    client = np.maximum(pattern.share / machine["stream"], size / clients / machine["client_rate"])
    held = np.where(at.lockless | aligned, 0.0, np.minimum(1.0, piece / run * 2.0))
    if _single(machine):  # a token covers what one write asks for
        lock = size / run * held * _handover(machine, 0.0, np.ones_like(stripes))
    else:
        lock = pieces * held / stripes * _handover(machine, clients, stripes)
    zero = np.zeros_like(target)
    writing = pattern.datasets * np.maximum(target, client)
    return {"sync": zero, "exchange": zero, "write": writing, "lock": pattern.datasets * lock}
