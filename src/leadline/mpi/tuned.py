"""Which of a library's algorithms is to serve which sizes, and that in the library's own form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt


@dataclass(frozen=True)
class Range:
    """Sizes from `first` to `last` B, as the benchmark counts them, and the algorithm for them.

    None is the library's own choice.
    """

    first: int
    last: int
    algorithm: str | None


@dataclass(frozen=True)
class Choice:
    """What serves one operation on communicators of one size; sizes outside of all ranges are left alone."""

    operation: str  # as settings name it: "allgatherv", "reduce_scatter_block"
    ranks: int
    ranges: tuple[Range, ...]  # upwards, none touching; a barrier has one, of 0 B

    @property
    def single(self) -> str | None:
        """The one algorithm of all sizes; None where there are several, or where it is the library's own."""
        names = {each.algorithm for each in self.ranges}
        return names.pop() if len(names) == 1 else None


@dataclass(frozen=True)
class Tuned:
    """Choices in a library's own form."""

    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # name to text
    notes: Sequence[str] = ()  # what cannot be told to this library


def ranges(chosen: Mapping[int, str | None]) -> tuple[Range, ...]:
    """Sizes with their algorithms as ranges; between two sizes the change is at their geometric mean.

    The smallest size stands for all that is smaller; nothing is said of sizes above the largest.

    >>> [(r.first, r.last, r.algorithm) for r in ranges({8: None, 1024: "ring", 4096: "ring"})]
    [(0, 90, None), (91, 4096, 'ring')]
    """
    sizes = sorted(chosen)
    found: list[Range] = []
    for size, after in zip(sizes, [*sizes[1:], None], strict=True):
        last = size if after is None else isqrt(size * after)
        first = found[-1].last + 1 if found else 0
        if found and found[-1].algorithm == chosen[size]:
            found[-1] = Range(found[-1].first, last, chosen[size])
        else:
            found.append(Range(first, last, chosen[size]))
    return tuple(found)
