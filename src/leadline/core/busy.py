"""How busy others kept this host's processors, beside this process and what it waited for."""

import os
import time
from typing import Any, NamedTuple

import psutil

BUSY = 0.25  # processors that others keep busy, from which on a machine is not quiet


class Busy(NamedTuple):
    """Processors, mean over a while: kept busy by this process and the children it has waited for (`own`), by
    others, and given by the hypervisor to other guests (`steal`).
    """

    own: float
    others: float
    steal: float


class Watch:
    """Counts from its making on."""

    def __init__(self) -> None:
        """From now on."""
        self._began, self._host, self._own = _counters()

    def seen(self) -> Busy:
        """What was seen so far. The kernel counts in ticks of 10 ms: less than some dozens tell little."""
        now, host, own = _counters()
        elapsed = max(now - self._began, 1e-3)
        idle, steal = (
            sum(getattr(host, name) - getattr(self._host, name) for name in names) / elapsed
            for names in (("idle", "iowait"), ("steal",))
        )
        mine = (own - self._own) / elapsed
        return Busy(mine, max(0.0, (psutil.cpu_count() or 1) - idle - steal - mine), steal)


def _counters() -> tuple[float, Any, float]:
    """The time, the host's processor times, and this process's with those of children that have ended, s."""
    return time.monotonic(), psutil.cpu_times(), sum(os.times()[:4])
