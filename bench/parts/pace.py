"""How long does it take to know the 8 B latency to 5 %, beside repeating a suite of fixed counts?

Ours is the whole command `leadline run` with `plans/latency.toml`, asked for one MPI and 5 %, from its start
to its end: Python, what it asks the library, every launch. The suite (`native/bench/suite.c`) is launched
again and again, as one repeats such a suite by hand, until the same rule calls its launches tight: six or
more, the interval of their median within 5 % of it. The two take turns, for either may be lucky once.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from found import Found, at_most
from leadline.analysis.estimates import launch_estimates
from leadline.core.errors import LeadlineError
from leadline.core.statistics import ratio_interval, tight
from leadline.mpi.library import Mpi
from leadline.native.build import build
from leadline.run import store
from programs import launch, mpis, program

LEADLINE = Path(sys.executable).with_name("leadline")
PLAN = Path(__file__).parents[2] / "plans" / "latency.toml"
TURNS = int(os.environ.get("BENCH_TURNS", "4"))
TOLERANCE = 0.05
LEAST_LAUNCHES = 6  # with fewer a median has no 95 % interval
MOST_LAUNCHES = 100  # of the suite, three times what it needed on a quiet machine


def measure() -> Iterator[Found]:
    """The one row, on the machine's first Open MPI, or else on its first MPI."""
    known = mpis()
    mpi = next((each for each in known if each.family == "openmpi"), known[0])
    build(mpi)  # building is nobody's time
    program(mpi, "leadline-suite")
    turns = [(_ours(mpi), _theirs(mpi)) for _ in range(TURNS)]
    ours, theirs = ([turn[side] for turn in turns] for side in (0, 1))
    ratio = ratio_interval([each[0] for each in theirs], [each[0] for each in ours])
    yield Found(
        f"time to 5 % of the 8 B latency, over that of a suite of fixed counts, {mpi.id}",
        ratio.value,
        "1",
        ratio.interval,
        "at most 0.2",
        at_most(0.2),
        f"{_told(ours)}; suite {_told(theirs)}",
    )


def _told(takes: list[tuple[float, int]]) -> str:
    """E.g. "5.1 s in 11 launches, 4.8 s in 10 launches"."""
    return ", ".join(f"{seconds:.1f} s in {launches} launches" for seconds, launches in takes)


def _ours(mpi: Mpi) -> tuple[float, int]:
    """Wall time of the command, s, and its launches; LeadlineError where it did not get there."""
    with TemporaryDirectory(prefix="leadline-bench-") as directory:
        plan, run = Path(directory) / "latency.toml", Path(directory) / "run"
        plan.write_text(asking(PLAN.read_text(), mpi))
        begin = time.monotonic()
        subprocess.run([LEADLINE, "run", plan, "-o", run], check=True, stdout=subprocess.DEVNULL)
        took = time.monotonic() - begin
        medians = launch_estimates(store.load(run))["median"].to_list()
    if not tight(medians, TOLERANCE):
        raise LeadlineError(f"{PLAN.name} spent {took:.0f} s without knowing the latency to 5 %")
    return took, len(medians)


def asking(text: str, mpi: Mpi) -> str:
    """The plan's text for one MPI, this tolerance, and as few launches as can tell it: what the suite gets.

    Raises LeadlineError where the plan has no line to put one of them in.
    """
    one = re.sub(r'^mpi = "found"$', f'mpi = "{mpi.id}"\ntolerance = {TOLERANCE}', text, flags=re.MULTILINE)
    few = re.sub(r"\bat_least = \d+", f"at_least = {LEAST_LAUNCHES}", one)
    if one in (text, few):
        raise LeadlineError(f"{PLAN} has no line 'mpi = \"found\"', or no 'at_least'")
    return few


def _theirs(mpi: Mpi) -> tuple[float, int]:
    """Wall time of suites until their launches are as tight, s, and how many; it stops at MOST_LAUNCHES."""
    latencies: list[float] = []
    begin = time.monotonic()
    while not tight(latencies, TOLERANCE) and len(latencies) < MOST_LAUNCHES:
        latencies += [e["latency"] for e in launch(mpi, "leadline-suite", {}) if e["bytes"] == 8]
    return time.monotonic() - begin, len(latencies)
