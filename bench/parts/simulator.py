"""How fast is the simulator, and how small?

Processor seconds and peak memory of whole processes, in turns: each turn runs every case once, so that what
drifts, drifts for all. The interval is that of the median over turns (`BENCH_TURNS`). What a collective takes
beyond the start of its ranks is told by the program itself (`native/bench/ranks.cpp`); the start is what is
left of the process.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import peer
from found import Found, at_least, at_most
from leadline.core.statistics import median_interval, ratio_interval
from leadline.native.build import SIM, build_sim
from processes import Taken, asked
from programs import OPTION

TURNS = int(os.environ.get("BENCH_TURNS", "6"))
PROGRAMS, PACKET_TIER = "leadline-ranks", "leadline-packets"
SMALL, LARGE = 131_072, 1_048_576
PEERS = (512, 2_048, 4_096)  # ranks, beside SMPI
RATE, HOP = 1e9, 64e-9
ROUNDS = 16  # messages of each rank of the program of random peers
LINKS = 4  # of a node of a two-dimensional torus

CALL = {"communicator": "world", "form": "blocking", "cadence": "back-to-back", "algorithm": "library"}
POINTS: dict[str, dict[str, Any]] = {
    "allreduce": CALL | {"reduction": "sum", "type": "double", "bytes": 8},
    "barrier": CALL,
    "halo": {"edge": 128, "way": "nonblocking"},  # 1 KiB
}
# About a Blue Gene/P node, with a hop that `halo` and the peer share.
NODE = {"cores": 1, "ranks": 1}
EAGER = {"name": "eager", "send_overhead": 1e-6, "receive_overhead": 1.2e-6}
PACKETS = {
    "name": "bench",
    "links": {"rate": 425e6, "hop": 58e-9, "base": 9e-7},
    "packets": {"payload": 240, "overhead": 16, "granule": 32},
    "node": NODE | {"injection": 2.2e9, "reception": 1.6e9},
    "buffer": 2048,
    "protocol": [{"name": "eager"}],
}

Case = Callable[[], Taken]


def grid(ranks: int) -> list[int]:
    """A torus in the shape of halo's grid of ranks, a power of two of them: as square as can be."""
    rows = 1 << ((ranks.bit_length() - 1) // 2)
    return [ranks // rows, rows]


def simulate(ranks: int, network: str, hop: float = HOP, played: str = "some") -> dict[str, Any]:
    """The "simulate" part of a job; `played`: whether "all" ranks are, or "some" where all do the same."""
    machine = {"name": "bench", "links": {"rate": RATE, "hop": hop, "base": 5e-7}}
    return {
        "ranks": ranks,
        "mapping": "XYT",
        "network": network,
        "least_played": ranks + 1 if played == "all" else 2,
        "topology": {"kind": "torus", "shape": grid(ranks)},
        "machine": machine | {"node": NODE, "protocol": [EAGER]},
    }


def point(benchmark: str, ranks: int, network: str, played: str = "some") -> Case:
    """A benchmark's point, asked of the simulator as a run asks it."""
    points = [{"id": 0, "benchmark": benchmark, "point": POINTS[benchmark]}]
    job = {"points": points, "simulate": simulate(ranks, network, played=played)}
    return lambda: asked(build_sim(SIM, OPTION), job)


def ranks_program(program: str, ranks: int, rounds: int, hop: float) -> Case:
    """A program of `leadline-ranks` on the tier that has the node's engines and ports alone."""
    job = {"program": program, "rounds": rounds, "simulate": simulate(ranks, "loggp", hop)}
    return lambda: asked(build_sim(PROGRAMS, OPTION), job)


def traffic(pattern: str, messages: int) -> Case:
    """Traffic of 24,000 B messages through the packet tier, on 4,096 nodes."""
    machine: dict[str, Any] = {"machine": PACKETS, "topology": {"kind": "torus", "shape": [16, 16, 16]}}
    job = machine | {"bytes": 24_000, "messages": messages, "pattern": pattern}
    return lambda: asked(build_sim(PACKET_TIER, OPTION), job)


def cases(place: Path) -> dict[str, Case]:
    """Everything that takes turns, by name; SMPI's where it is installed."""
    all_cases: dict[str, Case] = {
        "allreduce": ranks_program("allreduce", LARGE, 1, 0),
        "barrier": ranks_program("barrier", LARGE, 1, 0),
        "messages": ranks_program("messages", SMALL, ROUNDS, HOP),
        "random": traffic("random", 4),
        "neighbours": traffic("neighbours", 24),
    }
    for ranks in (SMALL, LARGE):
        all_cases[f"allreduce {ranks}"] = point("allreduce", ranks, "loggp")
        all_cases[f"halo {ranks}"] = point("halo", ranks, "auto", "all")
        all_cases[f"halo {ranks}, some"] = point("halo", ranks, "auto")
    if not peer.installed():
        return all_cases
    for pattern in POINTS:
        for ranks in PEERS:
            all_cases[f"ours {pattern} {ranks}"] = point(pattern, ranks, "auto")
            all_cases[f"peer {pattern} {ranks}"] = _peer(pattern, ranks, place)
    return all_cases


def _peer(pattern: str, ranks: int, place: Path) -> Case:
    """The same on SMPI."""
    return lambda: peer.run(pattern, grid(ranks), RATE, HOP, place)


def measure() -> Iterator[Found]:
    """All rows."""
    for name in (SIM, PROGRAMS, PACKET_TIER):
        build_sim(name, OPTION)  # building is nobody's time
    with TemporaryDirectory(prefix="leadline-bench-") as directory:
        asking = cases(Path(directory))
        runs: dict[str, list[Taken]] = {name: [] for name in asking}
        for _ in range(TURNS):
            for name, case in asking.items():
                runs[name].append(case())
    yield from rows(runs)
    if not peer.installed():
        print(f"simulator: {peer.ABSENT}", file=sys.stderr)


def rows(runs: dict[str, list[Taken]]) -> Iterator[Found]:
    """What was found, from the runs of each case."""
    for name, said in (("allreduce", "8 B allreduce"), ("barrier", "barrier")):
        operation = [each.answer("ran")["seconds"] for each in runs[name]]
        yield _low(f"{said}, {LARGE:,} ranks, beyond their start", operation, "s", 0.05)
    start = [each.seconds - each.answer("ran")["seconds"] for each in runs["allreduce"] + runs["barrier"]]
    yield _low(f"start of {LARGE:,} ranks, and their end", start, "s", 0.2)
    for ranks, limit in ((SMALL, 0.17), (LARGE, 1.5)):
        for suffix, said in ((", some", "some played for all"), ("", "all played")):
            halo = [each.seconds for each in runs[f"halo {ranks}{suffix}"]]
            yield _low(f"2-D halo of 1 KiB, {ranks:,} ranks, {said}, whole process", halo, "s", limit)
    yield _rate(f"messages from any, random peers, {SMALL:,} ranks", runs["messages"], "messages", 10e6)
    for benchmark, limit in (("allreduce", 600), ("halo", 1000)):
        yield _memory(benchmark, limit, runs[f"{benchmark} {SMALL}"], runs[f"{benchmark} {LARGE}"])
    for pattern in ("random", "neighbours"):
        yield _rate(f"packet-hops, {pattern}, 16x16x16 nodes", runs[pattern], "hops", 20e6)
    for pattern in POINTS:
        if f"peer {pattern} {PEERS[-1]}" in runs:
            yield from _ratios(pattern, runs)


def _low(what: str, values: list[float], unit: str, limit: float, note: str = "") -> Found:
    """A row of a value that should be small."""
    target = f"under {limit:g} {unit}"
    return Found(what, median(values), unit, median_interval(values), target, at_most(limit), note)


def _rate(what: str, runs: list[Taken], counted: str, limit: float) -> Found:
    """A row of how many a second of one processor."""
    lines = [each.answer("ran") for each in runs]
    rates = [line[counted] / line["seconds"] for line in lines]
    target, note = f"at least {limit / 1e6:g} M/s", f"{lines[0][counted]:,} {counted} each turn"
    return Found(what, median(rates), "1/s", median_interval(rates), target, at_least(limit), note)


def _memory(benchmark: str, limit: float, small: list[Taken], large: list[Taken]) -> Found:
    """A row of what a further rank with its links takes: between two sizes, the program itself cancels."""
    further = LARGE - SMALL
    slopes = [(b.memory - a.memory) / further for a, b in zip(small, large, strict=True)]
    note = f"peak of {LARGE:,} ranks: {median(each.memory for each in large) / 1e6:.0f} MB"
    what = f"memory a rank with its {LINKS} links, {benchmark}"
    return _low(what, slopes, "B", limit, note)


def _ratios(pattern: str, runs: dict[str, list[Taken]]) -> Iterator[Found]:
    """Rows of SMPI's processor time over ours, of a process and of its point (wall time)."""
    took: dict[str, tuple[int, Callable[[Taken], float]]] = {
        "whole process": (300, lambda each: each.seconds),
        "a point within a process": (1000, lambda each: float(each.answer("record")["duration"])),
    }
    for said, (limit, ours_of) in took.items():
        told = []
        for ranks in PEERS:
            ours = [ours_of(each) for each in runs[f"ours {pattern} {ranks}"]]
            theirs = [each.seconds for each in runs[f"peer {pattern} {ranks}"]]
            told.append(f"{ranks:,}: {median(theirs):.3g} s, ours {median(ours):.3g} s")
        ratio = ratio_interval(ours, theirs)  # of the largest
        what = f"SMPI's time over ours, {pattern}, {PEERS[-1]:,} ranks, {said}"
        target, note = f"at least {limit}", "; ".join(told)
        yield Found(what, ratio.value, "1", ratio.interval, target, at_least(limit), note)
