"""What holds a stream between two nodes up: the link, which all ranks of a node share, or the cores at its
ends.

One stream alone does not tell: a blocking send into a full adapter or socket waits for the link, so that the
core seems to be as slow. Streams of several pairs between the same two nodes tell: what the link holds up
they share, what the cores hold up each has of its own.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.series import Series, series

Array = NDArray[np.float64]

FULL = 0.9  # of p times what one pair moves, up to which p pairs have filled the link
ALONE = 1.1  # times what one pair moves, up to which it fills the link by itself


@dataclass(frozen=True)
class Streams:
    """What one pair and several move, B/s, in messages of `size` bytes: typical, and `together` by launch."""

    size: float
    pairs: int
    window: int  # messages of each pair under way at once
    alone: float
    together: Series

    @property
    def rate(self) -> float:
        """What all pairs move."""
        return float(self.together.typical[0])

    @property
    def filled(self) -> bool:
        """Whether the pairs share what they move, so that it is the link's."""
        return self.rate < FULL * self.pairs * self.alone

    @property
    def held_by_link(self) -> bool:
        """Whether the link already holds one stream up."""
        return self.filled and self.rate < ALONE * self.alone


def streams(records: pl.DataFrame) -> Streams | None:
    """The most pairs between two nodes and their longest messages; None where not both were measured.

    `records` are those of ranks on several nodes. The same launches may have more ranks than take part.
    """
    if "pairs" not in records.columns:
        return None
    found: dict[tuple[int, int], Series] = {}
    for each in series(records, "multistream", "bandwidth"):
        pairs, ranks = each.keys.get("pairs"), each.keys.get("ranks")
        if isinstance(pairs, int) and isinstance(ranks, int):
            found[pairs, ranks] = each
    for pairs, ranks in sorted(found, reverse=True):
        one, many = found.get((1, ranks)), found[pairs, ranks]
        if pairs < 2 or one is None:
            continue
        common = np.intersect1d(one.sizes, many.sizes)
        if common.size:
            size = float(common[-1])
            at, there = np.searchsorted(one.sizes, size), np.searchsorted(many.sizes, size)
            last = slice(int(there), int(there) + 1)
            together = Series(many.keys, many.sizes[last], many.medians[:, last], many.ordinals)
            window = many.keys["window"]
            assert isinstance(window, int)
            return Streams(size, pairs, window, float(one.typical[at]), together)
    return None
