"""What programs as data cost: written in Python, replayed on a described machine, asked for sensitivity.

Processor seconds and peak memory of whole commands, in turns with the same command on a program that does
next to nothing: the difference is the operations'. LogGOPSim replays the same schedule where it is on PATH.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from found import Found, at_least, at_most
from leadline import program
from leadline.core.statistics import median_interval, ratio_interval
from leadline.program import exporters
from processes import Taken, taken

TURNS = int(os.environ.get("BENCH_TURNS", "6"))
SIDES = (8, 8, 16)  # 1,024 ranks
STEPS, LONG = 210, 700  # of the halo: 3 and 10 million operations
WRITTEN = (16, 16, 16)  # ranks of the program whose writing is timed
LEADLINE = Path(__file__).parents[2] / ".venv" / "bin" / "leadline"


def halo(
    comm: program.Comm, sides: tuple[int, ...], steps: int, *, collective: bool = True, alike: bool = True
) -> Any:
    """Six neighbours in a periodic grid exchange 1 KiB, then all reduce 8 B: 14 operations a step.

    Of steps that are not alike each has another size, and each rank computes another time in each.
    """
    place, rest = [], comm.rank
    for side in sides:
        place.append(rest % side)
        rest //= side
    around = []
    for axis, way in product(range(3), (-1, 1)):
        there = list(place)
        there[axis] = (there[axis] + way) % sides[axis]
        around.append(there[0] + sides[0] * (there[1] + sides[1] * there[2]))
    for step in range(steps):
        size = 1024 if alike else 512 + 7919 * step % 1024  # a prime: no two steps of 1,024 have the same
        requests = [comm.irecv(around[k], size, tag=k) for k in range(6)]
        requests += [comm.isend(around[k ^ 1], size, tag=k) for k in range(6)]
        yield comm.compute("20 us" if alike else f"{20_000 + (comm.rank + 7919 * step) % 1000} ns")
        yield comm.wait_all(requests)
        if collective:
            yield comm.allreduce(8)


def ranks(sides: tuple[int, ...]) -> int:
    """Of a grid."""
    return sides[0] * sides[1] * sides[2]


def _replay(path: Path, *more: str) -> Callable[[], Taken]:
    command: list[str | Path] = [LEADLINE, "replay", path, "--on", "bgp", "--network", "loggp", *more]
    return lambda: taken(command)


def _write(place: Path) -> Callable[[], Taken]:
    """Writes a program of 4,096 ranks in a process of its own."""
    code = (
        "from leadline import program; from parts import programs as p; "
        f"program.evaluate(p.halo, p.ranks(p.WRITTEN), sides=p.WRITTEN, steps=10).write({str(place)!r})"
    )
    python = LEADLINE.with_name("python")
    return lambda: taken(["env", f"PYTHONPATH={Path(__file__).parents[1]}", python, "-c", code])


def measure() -> Iterator[Found]:
    """A row a figure."""
    with TemporaryDirectory(prefix="leadline-bench-") as directory:
        place = Path(directory)
        lengths = {}
        for name, steps in (("short", 1), ("replayed", STEPS), ("long", LONG)):
            made = program.evaluate(halo, ranks(SIDES), sides=SIDES, steps=steps)
            made.write(place / f"{name}.program")
            lengths[name] = made.operations_in_all
        made = program.evaluate(halo, ranks(SIDES), sides=SIDES, steps=STEPS, alike=False)
        made.write(place / "unfolded.program")
        lengths["unfolded"] = made.operations_in_all
        cases: dict[str, Callable[[], Taken]] = {
            "short": _replay(place / "short.program"),
            "replayed": _replay(place / "replayed.program"),
            "unfolded": _replay(place / "unfolded.program"),
            "short, sensitivity": _replay(place / "short.program", "--sensitivity"),
            "long, sensitivity": _replay(place / "long.program", "--sensitivity"),
            "written": _write(place / "written.program"),
        }
        for name in ("short", "short, sensitivity"):
            cases[name]()  # builds the simulators, once
        found: dict[str, list[Taken]] = {name: [] for name in cases}
        for _ in range(TURNS):
            for name, case in cases.items():
                found[name].append(case())
        operations = lengths["replayed"] - lengths["short"]
        yield _row(
            f"replay, {ranks(SIDES):,} ranks, loggp: operations a second of a processor",
            [operations / seconds for seconds in _beyond(found, "replayed", "short")],
            "1/s",
            ("3 M/s", at_least(3e6)),
        )
        yield _row(
            "the same, no two steps of a rank alike",
            [
                (lengths["unfolded"] - lengths["short"]) / seconds
                for seconds in _beyond(found, "unfolded", "short")
            ],
            "1/s",
            ("3 M/s", at_least(3e6)),
        )
        memory = [
            (one.memory - other.memory) / operations
            for one, other in zip(found["replayed"], found["short"], strict=True)
        ]
        yield _row("memory of an operation, loops folded", memory, "B", ("100 B", at_most(100)))
        yield _row(
            f"sensitivity of {lengths['long'] / 1e6:.1f} million operations",
            _beyond(found, "long, sensitivity", "short, sensitivity"),
            "s",
            ("10 s", at_most(10)),
        )
        yield _row(
            f"a 3-D halo with allreduce of {ranks(WRITTEN):,} ranks, written in Python, 10 steps",
            [each.seconds for each in found["written"]],
            "s",
            ("5 s", at_most(5)),
        )
        yield from _beside(place)


def _beyond(found: dict[str, list[Taken]], name: str, base: str) -> list[float]:
    """Processor seconds beyond those of a base, turn by turn."""
    return [one.seconds - other.seconds for one, other in zip(found[name], found[base], strict=True)]


def _row(
    what: str, values: list[float], unit: str, target: tuple[str, Callable[[float], bool]], note: str = ""
) -> Found:
    """The median over turns with its interval."""
    interval = median_interval(values) if len(values) > 1 else None
    return Found(what, median(values), unit, interval, *target, note)


def _beside(place: Path) -> Iterator[Found]:
    """LogGOPSim's time over ours for messages alone; nothing where it is not installed."""
    if not (shutil.which("LogGOPSim") and shutil.which("txt2bin")):
        yield Found(
            "LogGOPSim's time over ours", float("nan"), "1", None, "1", lambda _: False, "not on PATH"
        )
        return
    made = program.evaluate(halo, ranks(SIDES), sides=SIDES, steps=STEPS, collective=False)
    made.write(place / "messages.program")
    exporters.write("goal", made, place / "messages.goal")
    taken(["txt2bin", "-i", place / "messages.goal", "-o", place / "messages.bin"])
    ours, theirs = [], []
    for _ in range(TURNS):
        ours.append(_replay(place / "messages.program")().seconds)
        theirs.append(taken(["LogGOPSim", "-f", place / "messages.bin"]).seconds)
    ratio = ratio_interval(ours, theirs)
    yield Found("LogGOPSim's time over ours", ratio.value, "1", ratio.interval, "1", at_least(1))
