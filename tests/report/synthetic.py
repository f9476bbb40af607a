"""Synthetic records over every benchmark, with known costs: what the tests of the report are written against.

Every library is a `Costs`: latency, bandwidth and the size at which it switches its protocol. Samples are
drawn around the model's time; each launch has an offset of its own, since launches differ more than samples
do.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

from leadline.core import record
from planted import frame_of

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SIZES = [0, *(2**power for power in range(23))]
OPERATIONS = {
    "put": 1.6,
    "get": 1.9,
    "put-created": 1.7,
    "get-created": 2.0,
    "send": 1.0,
    "isend": 1.05,
}
SKIPPED_REASON = "this machine has one socket, the placement 'sockets' needs two"
SKIPPED_SAID = "stack shared-memory, placement sockets, 2 points"
FAILED_REASON = "rank 1 ended with signal 11 (segmentation fault)"


@dataclass(frozen=True)
class Costs:
    """What one library's messages cost: `latency` s, `bandwidth` B/s, and a jump of `switch_cost` s from
    `switch` bytes on."""

    latency: float
    bandwidth: float
    switch: int
    switch_cost: float

    def time(self, size: float) -> float:
        """One-way time of a message of `size` bytes, in s."""
        return self.latency + size / self.bandwidth + (self.switch_cost if size >= self.switch else 0.0)


MPIS = {
    "openmpi-4.1.4": Costs(0.52e-6, 8.0e9, 4096, 1.2e-6),
    "mpich-4.0.2": Costs(0.30e-6, 11.0e9, 65536, 4.0e-6),
}


@dataclass(frozen=True)
class Recipe:
    """How one benchmark's samples are made: its metric, the points and the value at each point."""

    benchmark: str
    metric: str
    unit: str
    points: Callable[[], Iterator[dict[str, Any]]]
    value: Callable[[Costs, dict[str, Any]], float]
    ranks: int = 2
    protocols: tuple[str, ...] = ("default",)


def _sizes(**others: list[Any]) -> Callable[[], Iterator[dict[str, Any]]]:
    """Points of every size and of every combination of `others`."""
    return lambda: _grid(bytes=SIZES, **others)


def _grid(**sweeps: list[Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the sweeps' values."""
    names = list(sweeps)
    if not names:
        yield {}
        return
    first, *rest = names
    for value in sweeps[first]:
        for point in _grid(**{name: sweeps[name] for name in rest}):
            yield {first: value, **point}


def _pingpong(costs: Costs, point: dict[str, Any]) -> float:
    """Rotated buffers come from memory: half as long again for each byte."""
    extra = 0.5 * point["bytes"] / costs.bandwidth if point["buffers"] == "rotated" else 0.0
    return costs.time(point["bytes"]) + extra


def _rate(costs: Costs, size: int) -> float:
    """Windowed bandwidth, B/s: a message each (latency / 2 + transfer)."""
    return max(size, 1) / (costs.latency / 2 + size / costs.bandwidth)


def _corepairs() -> Iterator[dict[str, Any]]:
    """Every pair of eight cores, at two sizes."""
    for size in (8, 2**20):
        for first in range(8):
            for second in range(first + 1, 8):
                yield {"pair": f"{first}-{second}", "bytes": size}


def _rankpairs() -> Iterator[dict[str, Any]]:
    """Four ranks, each with itself and with the others, and two pairs at once."""
    for pair in ("0-0", "1-1", "2-2", "3-3", "0-1", "0-2", "0-3", "1-2", "1-3", "2-3", "0-1+2-3"):
        yield {"pair": pair, "bytes": 8}


def _apart(pair: str) -> int:
    """1 within a group of four cores, 2 across the two groups."""
    first, second = (int(core) for core in pair.split("-"))
    return 1 if first // 4 == second // 4 else 2


def _messages(costs: Costs, point: dict[str, Any], packet: int = 240) -> float:
    """Time of 1 MB sent in messages of `bytes`, each rounded up to whole packets of 240 B, in s.

    Forced rendezvous pays the switch for every message, forced eager for none.
    """
    size = int(point["bytes"])
    rendezvous: bool = point.get("protocol") == "rendezvous"
    rendezvous = rendezvous or (point.get("protocol") == "default" and size >= costs.switch)
    handshake = costs.switch_cost if rendezvous else 0.0
    return 1e6 / size * (0.1e-6 + handshake + -(-size // packet) * packet / 4e9)


# How a collective is usually called, and what is asked beside it.
CALL = {"communicator": "world", "dimensions": 2, "form": "blocking"}
CALL |= {"cadence": "back-to-back", "algorithm": "library"}
BESIDE = [{}, {"communicator": "world-1"}, {"cadence": "isolated"}, {"form": "nonblocking"}]


def _calls() -> Iterator[dict[str, Any]]:
    """An exchange at a few sizes, as it is usually called and with one thing otherwise."""
    for other in BESIDE:
        for size in (8, 1024, 2**20):
            yield {**CALL, **other, "bytes": size}


def _called(costs: Costs, point: dict[str, Any]) -> float:
    """Four messages, and a fifth where somebody is left out."""
    return costs.time(point["bytes"]) * (5 if point["communicator"] == "world-1" else 4)


RECIPES = [
    Recipe("pingpong", "latency", "s", _sizes(buffers=["reused", "rotated"]), _pingpong),
    Recipe("bandwidth", "bandwidth", "B/s", _sizes(window=[64]), lambda c, p: _rate(c, p["bytes"])),
    Recipe(
        "bandwidth",
        "message_rate",
        "1/s",
        _sizes(window=[64]),
        lambda c, p: _rate(c, p["bytes"]) / max(p["bytes"], 1),
    ),
    Recipe("bibandwidth", "bandwidth", "B/s", _sizes(window=[64]), lambda c, p: 1.7 * _rate(c, p["bytes"])),
    Recipe("corepairs", "latency", "s", _corepairs, lambda c, p: c.time(p["bytes"]) * _apart(p["pair"])),
    Recipe(
        "corepairs", "bandwidth", "B/s", _corepairs, lambda c, p: _rate(c, p["bytes"]) / _apart(p["pair"])
    ),
    Recipe("rankpairs", "latency", "s", _rankpairs, lambda c, p: c.time(p["bytes"])),
    Recipe(
        "distance",
        "latency",
        "s",
        lambda: _grid(distance=[0, 1, 2, 3, 5], bytes=[0, 1024, 2**20]),
        lambda c, p: c.time(p["bytes"]) + 0.1e-6 * p["distance"],
    ),
    Recipe(
        "flowthrough",
        "bandwidth",
        "B/s",
        lambda: _grid(traffic=[0, 1, 2, 3], bytes=[65536, 2**20], window=[16]),
        lambda c, p: _rate(c, p["bytes"]) / (1 + 0.2 * p["traffic"]),
        8,
    ),
    Recipe(
        "congestion",
        "bandwidth",
        "B/s",
        lambda: _grid(
            pattern=["nested", "overlapping"],
            measured=["first", "second"],
            other=["idle", "busy"],
            bytes=[65536, 2**20],
            window=[16],
        ),
        lambda c, p: _rate(c, p["bytes"]) * (0.55 if p["other"] == "busy" else 1.0),
        4,
    ),
    Recipe(
        "multistream",
        "bandwidth",
        "B/s",
        lambda: _grid(pairs=[1, 2, 4], bytes=SIZES[7:22], window=[16]),
        lambda c, p: _rate(c, p["bytes"]) * p["pairs"] ** 0.7,
        8,
    ),
    Recipe(
        "hotspot",
        "latency",
        "s",
        lambda: _grid(workers=[1, 2, 4, 8, 16], shape=["flat", "tree"], bytes=[8, 4096]),
        lambda c, p: c.time(p["bytes"]) * (p["workers"] if p["shape"] == "flat" else 2 * p["workers"] ** 0.5),
        17,
    ),
    Recipe(
        "fan",
        "bandwidth",
        "B/s",
        lambda: _grid(
            direction=["in", "out", "both"], neighbours=[1, 2, 3, 4, 5, 6], bytes=[65536, 2**20], window=[16]
        ),
        lambda c, p: c.bandwidth * min(p["neighbours"], 4) * (1.5 if p["direction"] == "both" else 1.0),
        7,
    ),
    Recipe(
        "protocol",
        "time",
        "s",
        lambda: _grid(bytes=[1, 2, 4, 8, *range(16, 2001, 32), *(2**power for power in range(11, 21))]),
        _messages,
        protocols=("default", "eager", "rendezvous"),
    ),
    Recipe(
        "roundtrip",
        "latency",
        "s",
        lambda: _grid(operation=list(OPERATIONS), bytes=SIZES[1:18]),
        lambda c, p: c.time(p["bytes"]) * OPERATIONS[p["operation"]],
    ),
    Recipe(
        "flood",
        "bandwidth",
        "B/s",
        lambda: _grid(operation=list(OPERATIONS), bytes=SIZES[4:22], outstanding=[64]),
        lambda c, p: _rate(c, p["bytes"]) / OPERATIONS[p["operation"]],
    ),
    Recipe("overhead", "send_overhead", "s", lambda: _grid(bytes=SIZES[::4]), lambda c, p: c.latency / 4),
    Recipe("overhead", "receive_overhead", "s", lambda: _grid(bytes=SIZES[::4]), lambda c, p: c.latency / 3),
    Recipe("noise", "lost", "1", lambda: _grid(steps=[50_000]), lambda c, p: 2e-3),
    Recipe("noise", "longest", "s", lambda: _grid(steps=[50_000]), lambda c, p: 4e-6),
]
RECIPES += [
    Recipe("neighbor_alltoall", metric, unit, _calls, value, 8)
    for metric, unit, value in (
        ("time", "s", _called),
        ("mean", "s", lambda c, p: 0.9 * _called(c, p)),
    )
]


def _turn(ranks: int) -> Callable[[Costs, dict[str, Any]], float]:
    """A turn of the ring: a message a step."""
    return lambda costs, point: ranks * costs.time(point["bytes"])


RECIPES += [
    Recipe("ring", "time", "s", lambda: _grid(bytes=[8, 65536], way=["at-once"]), _turn(ranks), ranks)
    for ranks in (2, 4, 8)
]
BENCHMARKS = sorted({recipe.benchmark for recipe in RECIPES})

# What the native registry would say; the page takes questions, metrics and their words from there.
DECLARED: list[dict[str, Any]] = [
    {
        "name": name,
        "question": f"What does {name} say of this machine?",
        "min_ranks": 2,
        "max_ranks": None,
        "sweeps": [],
        "metrics": [],
    }
    for name in BENCHMARKS
]

PROVENANCE: dict[str, Any] = {
    "run": "quick",
    "host": {"name": "harbour", "cpu": "Example 8-core processor", "cores": 8, "kernel": "Linux 6.1.0"},
    "started": "2026-03-02T09:00:00+00:00",
    "commit": "0123abc",
    "benchmarks": DECLARED,
}


def records(
    run: str = "quick",
    *,
    launches: int = 9,
    samples: int = 20,
    seed: int = 1,
    spread: float = 0.04,
    factor: float = 1.0,
    source: str = record.MEASURED,
    only: Collection[str] = BENCHMARKS,
) -> pl.DataFrame:
    """Records of every benchmark (or `only` some) under every library, and points skipped or failed.

    `spread` is the standard deviation between launches, as a fraction; samples within one launch have a
    quarter of it. All times are longer by `factor`, all rates lower.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for mpi, costs in MPIS.items():
        for recipe in (recipe for recipe in RECIPES if recipe.benchmark in only):
            common = _common(run, source, mpi, recipe.benchmark)
            for launch in range(launches):
                offset = factor * np.exp(rng.normal(0, spread))
                for point in _asked(recipe):
                    value = recipe.value(costs, point)
                    typical = value / offset if recipe.unit.endswith("/s") else value * offset
                    drawn = typical * np.exp(rng.normal(0, spread / 4, samples))
                    if recipe.benchmark == "noise":
                        drawn = typical * rng.pareto(2.5, samples)
                    rows.append(_row(common | point, recipe, launch, drawn))
        rows += _missing(_common(run, source, mpi, "pingpong"))
    return frame_of(rows)


MACHINE = Costs(2.7e-6, 0.375e9, 2048, 1.5e-6)
SIMULATED: dict[str, Any] = {
    "run": "on-bgp",
    "simulated": {"machine": "bgp", "title": "IBM Blue Gene/P, virtual node mode"},
}
SIMULATED |= {"numbers": {"links.rate": "425 MB/s (balaji, section 2)"}, "benchmarks": DECLARED}


def simulated(run: str = "on-bgp", only: Collection[str] = BENCHMARKS) -> pl.DataFrame:
    """Records of every benchmark (or `only` some) of a described machine: one exact sample each."""
    place = {"source": record.SIMULATED, "mpi": "bgp", "stack": "auto", "mapping": "XYZT", "partition": 512}
    answered = {"transport": "loggp", "binding": None, "warmup": 0, "stopped_by": "exact"}
    unwatched = dict.fromkeys(("run_delay", "switches", "steal", "others", "frequency"))
    rows = []
    for recipe in (recipe for recipe in RECIPES if recipe.benchmark in only):
        common = _common(run, record.SIMULATED, "bgp", recipe.benchmark) | place
        for point in _asked(recipe):
            value = 0.0 if recipe.benchmark == "noise" else recipe.value(MACHINE, point)
            rows.append(_row(common | point, recipe, 0, [value]) | answered | unwatched)
    return frame_of(rows)


def _asked(recipe: Recipe) -> Iterator[dict[str, Any]]:
    """The recipe's points under every protocol that it forces."""
    for protocol in recipe.protocols:
        for point in recipe.points():
            yield {**point, "protocol": protocol}


def _row(point: dict[str, Any], recipe: Recipe, launch: int, drawn: Any) -> dict[str, Any]:
    """One record: the samples of one metric at one point in one launch."""
    return {
        **point,
        "metric": recipe.metric,
        "unit": recipe.unit,
        "better": "higher" if recipe.unit.endswith("/s") else "lower",
        "ranks": recipe.ranks,
        "oversubscribed": recipe.ranks > 8,
        "transport": "vader" if point["mpi"].startswith("openmpi") else "ch4:shm",
        "binding": " ".join(f"harbour:{core}" for core in range(recipe.ranks)),
        "launch": launch,
        "status": record.OK,
        "samples": [float(x) for x in drawn],
        "warmup": 1,
        "batch": 100,
        "stopped_by": "tolerance",
        "started": START + timedelta(seconds=10 * launch),
        "duration": 0.05,
        "run_delay": 1e-5,
        "switches": 2,
        "steal": 0.0,
        "others": 0.02,
        "frequency": 3.0e9,
    }


def _common(run: str, source: str, mpi: str, benchmark: str) -> dict[str, Any]:
    """The fields that all records of one benchmark under one library share."""
    return {
        "run": run,
        "source": source,
        "benchmark": benchmark,
        "mpi": mpi,
        "stack": "shared-memory",
        "protocol": "default",
        "placement": "core-group",
    }


def _missing(common: dict[str, Any]) -> list[dict[str, Any]]:
    """A point that was skipped and one that failed, each with its reason."""
    base = {**common, "metric": "", "unit": "s", "better": "lower", "ranks": 2}
    base |= {"launch": 0, "samples": [], "warmup": 0, "batch": 0, "started": START, "duration": 0.0}
    return [
        base | {"placement": "sockets", "bytes": 8, "status": record.SKIPPED, "reason": SKIPPED_REASON},
        base | {"stack": "tcp", "bytes": 2**22, "status": record.FAILED, "reason": FAILED_REASON},
    ]
