"""Does the command answer at once, and does a report of 100,000 samples come in a breath?

Wall time is what a person waits; processor time, in the note, is what it is without what else the machine
does. Both begin with the interpreter.
"""

import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from found import Found, at_most
from leadline.core import record
from leadline.core.errors import LeadlineError
from leadline.core.statistics import median_interval
from leadline.native import registry
from leadline.plan.model import Plan, Point
from leadline.run import store
from leadline.targets.local.machine import LocalMachine

LEADLINE = Path(sys.executable).with_name("leadline")
PLAN = Path(__file__).parents[2] / "plans" / "quick.toml"
SAMPLES = 100_000
LAUNCHES = 8  # a point, as a quick run has


class TwoMpis(LocalMachine):
    """This machine as if it had an Open MPI and an MPICH."""

    def mpis(self, word: str) -> list[str]:
        """Both, whatever the word."""
        return ["openmpi-4.1.4", "mpich-4.0.2"]


def measure() -> Iterator[Found]:
    """The two rows."""
    yield _taken("leadline --help", [LEADLINE, "--help"], 0.3, 15)
    with TemporaryDirectory(prefix="leadline-bench-") as directory:
        run = Path(directory) / "many.parquet"
        made = record.frame(map(record.Record.of, rows()))
        store.write_parquet(made, run, {"run": "many"}, PLAN.read_text())
        points = made["launch"].len() // LAUNCHES
        samples = int(made["samples"].list.len().sum())
        what = f"report of {samples:,} samples of {points} points"
        yield _taken(what, [LEADLINE, "report", run, "-o", Path(directory) / "report.html"], 5.0, 6)


def rows() -> Iterator[dict[str, Any]]:
    """SAMPLES or a few more: the quick plan's points on two cores, as two MPIs might answer them."""
    plan = Plan.load(PLAN)
    points = [
        point for point in plan.points(TwoMpis(count=2)) if point.placement in ("default", "core-group")
    ]
    asked = [
        (p, m)
        for p in points
        for m in registry.benchmarks(registry.SweepContext(p.ranks))[p.benchmark].metrics
    ]
    each = math.ceil(SAMPLES / (len(asked) * LAUNCHES))
    random = Random(1)
    for launch in range(LAUNCHES):
        offset = math.exp(random.gauss(0, 0.05))  # launches differ more than samples within one
        for point, metric in asked:
            typical = offset * _typical(point, metric.unit)
            samples = [typical * math.exp(random.gauss(0, 0.01)) for _ in range(each)]
            yield _row(point, metric, launch, samples)


def _typical(point: Point, unit: str) -> float:
    """What a message of the point's size costs or gives: 0.3 us, then 8 GB/s."""
    size = point.values.get("bytes", 8)
    size = size if isinstance(size, int) else 8
    taken = 0.3e-6 + size / 8e9
    return {"s": taken, "B/s": max(size, 1) / taken, "1/s": 1 / taken}.get(unit, 0.01)


def _row(point: Point, metric: registry.Metric, launch: int, samples: list[float]) -> dict[str, Any]:
    """A record as a run writes it."""
    return {
        **{"run": "many", "source": record.MEASURED, "benchmark": point.benchmark, "metric": metric.name},
        **{"unit": metric.unit, "better": metric.better, "mpi": point.mpi, "stack": point.stack},
        **{"protocol": point.protocol, "placement": point.placement, "ranks": point.ranks},
        **{"oversubscribed": False, "status": record.OK, "launch": launch, "samples": samples, "warmup": 2},
        **{"batch": 10, "stopped_by": "tolerance", "duration": 0.004, "run_delay": 0.0, "others": 0.0},
        **point.values,
    }


def _taken(what: str, command: Sequence[str | Path], limit: float, times: int) -> Found:
    """The median wall time of a command, after one that fills the caches of the disk."""
    takes = [_once(command) for _ in range(times + 1)][1:]
    walls, processor = ([take[i] for take in takes] for i in (0, 1))
    return Found(
        what,
        median(walls),
        "s",
        median_interval(walls),
        f"under {limit:g} s",
        at_most(limit),
        f"median of {times}; {median(processor):.2f} s of processor time",
    )


def _once(command: Sequence[str | Path]) -> tuple[float, float]:
    """Wall time and processor time of a command with its children, s; LeadlineError where it fails."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    took = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise LeadlineError(f"{' '.join(map(str, command))} ended with exit status {process.returncode}")
    return took, used.ru_utime + used.ru_stime
