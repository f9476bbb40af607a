"""Settings judged by a model of a described machine's storage."""

from pathlib import Path

from leadline.tune import search, storage
from leadline.tune.io.evaluator import Simulated
from leadline.tune.search import Space

RANKS = 2048  # of which the paper tells most


def simulated(
    machine: Path, kernel: str, ranks: int | None, space: str | None = None
) -> tuple[Simulated, Space]:
    """A kernel on so many ranks of a machine, and a space whose numbers are those of the job.

    Without a `space` it is that of the machine's file system (Behzad et al. 2013, table 3). Raises UsageError
    for a machine without storage, a kernel without a pattern, more ranks than there are, and a space with a
    setting that the model does not know.
    """
    job = storage.job(str(machine), kernel, ranks or RANKS)
    found = search.load(space, job.numbers) if space else job.space
    job.check(each.name for each in found.parameters)
    return Simulated(f"{kernel} on {job.ranks} ranks of {job.machine}, simulated", job.seconds), found
