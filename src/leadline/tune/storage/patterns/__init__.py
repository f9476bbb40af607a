"""Who writes what where: the access patterns of I/O kernels.

A module of this package whose name has no leading underscore is a kernel's pattern; it has

    PATTERN: Pattern

and its name is the kernel's. Adding one edits no other file.
"""

from dataclasses import dataclass

from leadline.core.plugins import Plugins


@dataclass(frozen=True)
class Pattern:
    """What every rank writes, the same on all ranks.

    The file has `datasets` one after the other, each of `share` bytes of every rank. A rank's share of a
    contiguous dataset lies there in pieces of `run` bytes. `row` is what of a rank's share lies together in a
    chunk that is larger than the share; 0 where the kernel's datasets are never chunked.
    """

    question: str
    datasets: int
    share: int  # B of a rank in a dataset
    run: int  # B of it that lie together in the file
    collective: bool  # whether MPI-IO gathers it on aggregators
    row: int = 0

    def volume(self, ranks: int) -> int:
        """Bytes that all ranks write."""
        return self.datasets * self.share * ranks


_PATTERNS = Plugins(__name__, "no access pattern of a kernel {}")


def names() -> list[str]:
    """The kernels that have a pattern."""
    return _PATTERNS.names()


def pattern(name: str) -> Pattern:
    """The pattern of a kernel. Raises UsageError for a name that is none."""
    found = _PATTERNS.find(name).PATTERN
    assert isinstance(found, Pattern), f"{name}.py has no PATTERN"
    return found
