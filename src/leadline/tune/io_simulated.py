"""Settings judged by a model of a described machine's storage."""

from pathlib import Path

from leadline import storage
from leadline.search import Space
from leadline.tune.io_evaluator import Simulated

RANKS = 2048  # of which the paper tells most


def simulated(machine: Path, kernel: str, ranks: int | None) -> tuple[Simulated, Space]:
    """A kernel on so many ranks of a machine, and the space of its file system (Behzad et al. 2013, table 3).

    Raises UsageError for a machine without storage, a kernel without a pattern, more ranks than there are.
    """
    job = storage.job(str(machine), kernel, ranks or RANKS)

    return Simulated(f"{kernel} on {job.ranks} ranks of {job.machine}, simulated", job.seconds), job.space
