"""How long does the model of storage take for one setting, and for a whole space of them?

4,096 ranks of `vpic` on Hopper write 1.1 TB; the paper's space has 13,440 points. Processor time of a process
that has the model loaded already.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import median

from found import Found, at_most
from leadline.core.statistics import median_interval
from leadline.core.units import format_quantity
from leadline.tune import storage

TIMES = int(os.environ.get("BENCH_TIMES", "15"))
RANKS = 4096


def measure() -> Iterator[Found]:
    """Two rows."""
    job = storage.job("hopper", "vpic", RANKS)
    settings, _ = job.optimum  # which loads everything and lays the space out
    whole = f"all {len(job.exhaustive):,} settings"
    one, every = (lambda: job.seconds(settings)), (lambda: replace(job).exhaustive)
    for what, limit, run in (("one setting", 0.01, one), (whole, 60.0, every)):
        taken = [_seconds(run) for _ in range(TIMES)]
        yield Found(
            f"storage: {what}, vpic on {RANKS:,} ranks of hopper",
            median(taken),
            "s",
            median_interval(taken),
            f"under {format_quantity(limit, 's')}",
            at_most(limit),
            f"{TIMES} times; processor time",
        )


def _seconds(run: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    before = time.process_time()
    run()
    return time.process_time() - before
