"""Speed and trust, measured: `make bench`. Prints what was found beside its target, and misses as misses.

Each part is a function that gives rows; `bench.py PART ...` runs only those parts. Nothing here is a test:
figures of a shared machine drift, so two things are compared by taking them in turn.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from leadline import summary
from leadline.build import build
from leadline.launch import Event, Launch
from leadline.mpi import Mpi
from leadline.mpi.discover import find
from leadline.mpi.family import Start, family
from leadline.record import concat, frame
from leadline.statistics import Interval, median_interval, tight
from leadline.store import load, write_parquet

LEADLINE = str(Path(sys.executable).parent / "leadline")
RUNS = int(os.environ.get("BENCH_RUNS", "3"))  # whole runs of the quick plan
LAUNCHES = int(os.environ.get("BENCH_LAUNCHES", "12"))  # of the comparison with the plain loop
MOST_LAUNCHES = 100  # of the fixed-count suite
TRUST_JOB: dict[str, object] = {"rounds": 25, "tolerance": 0.02, "time": 0.005}
HEADLINE = {"benchmark": "pingpong", "bytes": 8, "buffers": "reused", "placement": "core-group"}

Row = tuple[str, str, str, bool]  # what, found, target, reached


def trust() -> Iterator[Row]:
    """The harness's 8 B ping-pong against a plain C loop in the same process, on each MPI."""
    for mpi in find():
        ratios = [_trusted(mpi) for _ in range(LAUNCHES)]
        middle, interval = statistics.median(ratios), median_interval(ratios)
        yield (
            f"8 B ping-pong, harness / plain C loop, {mpi.id}",
            f"{middle:.4f} {_told(interval, '.4f')}, {LAUNCHES} launches",
            "within 1 %",
            abs(middle - 1) <= 0.01,
        )


def _trusted(mpi: Mpi) -> float:
    """The ratio of the medians over the rounds of one launch."""
    rounds = [e for e in _launch(mpi, "leadline-trust", TRUST_JOB) if e["event"] == "round"]
    harness, plain = ([float(each[name]) for each in rounds] for name in ("harness", "plain"))
    return statistics.median(harness) / statistics.median(plain)


def _launch(mpi: Mpi, program: str, job: dict[str, object]) -> list[Event]:
    """What one launch of a program of native/bench on two bound ranks answers."""
    path = build(mpi, program, "-DLEADLINE_BENCH=ON")
    command = [*family(mpi).launch(mpi, Start(2)), str(path)]
    with TemporaryDirectory() as directory:
        return list(Launch(command, family(mpi).environment(mpi), job, Path(directory)).events())


def pace() -> Iterator[Row]:
    """Time until the 8 B latency is known to 5 %, against launching a fixed-count suite again and again."""
    mpi = next((each for each in find() if each.family == "openmpi"), find()[0])
    ours, launches = _our_pace(mpi)
    theirs, suite_launches = _suite_pace(mpi)
    yield (
        f"time to 5 % on the 8 B latency / that of a fixed-count suite, {mpi.id}",
        f"{ours / theirs:.2f} ({ours:.1f} s in {launches} launches, {theirs:.1f} s in {suite_launches})",
        "at most 0.20",
        ours / theirs <= 0.2,
    )


def _our_pace(mpi: Mpi) -> tuple[float, int]:
    """Wall time of a whole `leadline run` of the latency plan for one MPI, s, and its launches."""
    with TemporaryDirectory() as directory:
        plan = Path(directory) / "latency.toml"
        text = (Path(__file__).parents[1] / "plans" / "latency.toml").read_text()
        plan.write_text(text.replace('mpi = "found"', f'mpi = "{mpi.id}"'))
        begin = time.monotonic()
        subprocess.run([LEADLINE, "run", plan, "-o", f"{directory}/run"], check=True, capture_output=True)
        return time.monotonic() - begin, load(Path(directory) / "run")["launch"].n_unique()


def _suite_pace(mpi: Mpi) -> tuple[float, int]:
    """The same for a suite of fixed counts (native/bench/suite.c), launched again and again."""
    medians: list[float] = []
    _launch(mpi, "leadline-suite", {})  # builds it, which is nobody's time
    begin = time.monotonic()
    while not tight(medians, 0.05) and len(medians) < MOST_LAUNCHES:
        sizes = _launch(mpi, "leadline-suite", {})
        medians += [e["latency"] for e in sizes if e.get("bytes") == 8]
    return time.monotonic() - begin, len(medians)


def repeatability(runs: list[Path] | None = None) -> Iterator[Row]:
    """Whole runs of the quick plan: how far apart their answers lie, and whether their intervals say so."""
    with TemporaryDirectory() as directory:
        paths = runs or [Path(directory) / f"quick-{i}" for i in range(RUNS)]
        for path in [] if runs else paths:
            subprocess.run([LEADLINE, "run", "quick", "-o", path], check=False, capture_output=True)
        table = summary.summarise(concat(load(path) for path in paths))
    found = table.filter(pl.col("value").is_not_null() & pl.col("low").is_not_null())
    point = [name for name in found.columns if name in _coordinates(found)]
    found = found.with_columns(overall=pl.col("value").median().over(point), times=pl.len().over(point))
    found = found.filter(pl.col("times") == len(paths))
    headline = found.filter(pl.all_horizontal(pl.col(name) == value for name, value in HEADLINE.items()))
    for (mpi,), rows in headline.group_by("mpi"):
        apart = (rows["value"] / rows["overall"] - 1).abs().max()
        yield (
            f"8 B latency of {len(paths)} runs, farthest from their median, {mpi}",
            f"{100 * float(apart or 0):.1f} %",  # type: ignore[arg-type]
            "within 5 %",
            float(apart or 0) <= 0.05,  # type: ignore[arg-type]
        )
    holds = (found["low"] <= found["overall"]) & (found["overall"] <= found["high"])
    yield (
        f"intervals of {len(paths)} runs that contain the median of all, {found.height} of them",
        f"{100 * float(holds.mean() or 0):.0f} %",  # type: ignore[arg-type]
        "at least 90 %",
        float(holds.mean() or 0) >= 0.9,  # type: ignore[arg-type]
    )


def _coordinates(table: pl.DataFrame) -> set[str]:
    """What tells a point from others, whichever run it is of."""
    told = {"run", *summary.COLUMNS}
    return {name for name in table.columns if name not in told}


def speed() -> Iterator[Row]:
    """Start-up of the command, and a report of 100,000 samples."""
    yield _quick("leadline --help", [LEADLINE, "--help"], 0.3, 9)
    with TemporaryDirectory() as directory:
        records = frame(_many())
        path = Path(directory) / "many.parquet"
        write_parquet(records, path, {})
        count = int(records["samples"].list.len().sum())
        yield _quick(f"report of {count} samples", [LEADLINE, "report", str(path), "-o", directory], 5.0, 3)


def _many() -> Iterator[dict[str, object]]:
    """Records of 20 launches of 20 sizes, 250 samples each."""
    common = {"run": "many", "source": "measured", "benchmark": "pingpong", "metric": "latency", "unit": "s"}
    common |= {"better": "lower", "mpi": "some-1.0", "stack": "default", "protocol": "default"}
    for launch in range(20):
        for power in range(20):
            time_taken = 1e-6 * (1 + 2**power / 1000) * (1 + launch / 100)
            yield {
                **common,
                **{"placement": "core-group", "ranks": 2, "status": "ok", "launch": launch, "warmup": 2},
                **{"bytes": 2**power, "buffers": "reused", "batch": 10, "stopped_by": "tolerance"},
                "samples": [time_taken * (1 + sample / 10000) for sample in range(250)],
            }


def _quick(what: str, command: list[str], limit: float, times: int) -> Row:
    """A command's wall time, median of several."""
    took = []
    for _ in range(times):
        begin = time.monotonic()
        subprocess.run(command, check=True, capture_output=True)
        took.append(time.monotonic() - begin)
    middle = statistics.median(took)
    return what, f"{middle:.2f} s {_told(median_interval(took), '.2f')}", f"under {limit:g} s", middle < limit


def _told(interval: Interval, digits: str) -> str:
    """An interval with the confidence that it reaches."""
    return f"[{interval.low:{digits}}, {interval.high:{digits}}] at {100 * interval.confidence:.0f} %"


PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "speed": speed,
    "trust": trust,
    "pace": pace,
    "repeatability": repeatability,
}


def main(arguments: list[str]) -> int:
    """Run the parts named, or all; with run directories, judge the repeatability of those runs."""
    paths = [Path(each) for each in arguments if each not in PARTS]
    chosen = [each for each in arguments if each in PARTS] or ([] if paths else list(PARTS))
    parts = [PARTS[name]() for name in chosen] + ([repeatability(paths)] if paths else [])
    missed = 0
    for part in parts:
        for what, found, target, reached in part:
            missed += not reached
            print(f"{'reached' if reached else 'MISSED '}  {what}: {found} ({target})", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
