"""Settings judged by a model of a described machine's storage."""

from pathlib import Path

from leadline.errors import UsageError
from leadline.tune.io_evaluator import Simulated


def simulated(machine: Path, kernel: str, ranks: int | None) -> Simulated:
    """The evaluator of a kernel on a machine. Raises UsageError where it has no storage."""
    raise UsageError(f"{machine.stem} describes no storage that {kernel} could be simulated on")
