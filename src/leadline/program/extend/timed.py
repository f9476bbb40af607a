"""Computation as a power of the number of ranks: times of a place of the code, which are often noise."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from leadline.program.extend.members import Member
from leadline.program.extend.sizes import Power, nearest


class Timed:
    """The computation before a place of the code, of ranks that do the same."""

    def __init__(self, members: Sequence[Member], leaves: Sequence[int]) -> None:
        """With the leaf of each rank there."""
        self._members, self._leaves = members, leaves

    @cached_property
    def _sums(self) -> dict[int, list[float]]:
        """By the number of ranks, s."""
        sums: dict[int, list[float]] = {}
        for member, leaf in zip(self._members, self._leaves, strict=True):
            before = float(member.program.stats(member.rank)["before_mean"][leaf])
            sums.setdefault(member.program.ranks, []).append(before)
        return sums

    @cached_property
    def power(self) -> Power:
        """The power of the ranks that is nearest to its mean, s."""
        means = {ranks: sum(values) / len(values) for ranks, values in self._sums.items()}
        return nearest({(ranks, 1): (mean, mean) for ranks, mean in means.items()})

    def in_all(self) -> Iterable[tuple[int, float, float]]:
        """Of each number of ranks the time in all, s: as recorded, and by the power."""
        counts = {
            member.program.ranks: member.counts[leaf]
            for member, leaf in zip(self._members, self._leaves, strict=True)
        }
        for ranks, values in self._sums.items():
            count = counts[ranks]
            yield ranks, count * sum(values), count * len(values) * self.power((ranks, 1))


def computation_off(timed: Iterable[Timed]) -> float | None:
    """How far powers are off computation in all, relative; None where there is none."""
    sums: dict[int, tuple[float, float]] = {}
    for each in timed:
        for ranks, recorded, powers in each.in_all():
            before = sums.get(ranks, (0.0, 0.0))
            sums[ranks] = before[0] + recorded, before[1] + powers
    off = [abs(powers / recorded - 1) for recorded, powers in sums.values() if recorded > 0]
    return max(off, default=None)
