"""Ranks as points of a grid: arithmetic on their numbers."""

from collections.abc import Iterable, Sequence

from leadline.core.arguments import is_whole
from leadline.core.errors import UsageError


class Grid:
    """Ranks as points of a grid, the last axis fastest. Arithmetic alone: no MPI call."""

    def __init__(self, rank: int, lengths: Sequence[int], periodic: bool) -> None:
        self.lengths, self.periodic = tuple(lengths), periodic
        places = []
        for length in reversed(self.lengths):
            places.append(rank % length)
            rank //= length
        self.coordinates = tuple(reversed(places))

    def at(self, coordinates: Sequence[int]) -> int | None:
        """The rank at a place; None outside of a grid that is not periodic."""
        rank = 0
        self._check(coordinates)
        for place, length in zip(coordinates, self.lengths, strict=True):
            if not 0 <= place < length and not self.periodic:
                return None
            rank = rank * length + place % length
        return rank

    def shift(self, axis: int, by: int = 1) -> int:
        """The rank so many steps along an axis. Raises UsageError where a grid that is not periodic ends."""
        if not is_whole(axis) or axis not in range(len(self.lengths)):
            raise UsageError(
                f"a grid of {self._told()} has axes 0 to {len(self.lengths) - 1}, but got axis {axis!r}"
            )
        found = self.neighbour([by if each == axis else 0 for each in range(len(self.lengths))])
        if found is None:
            raise UsageError(f"no rank is {by} further along axis {axis}: the grid is not periodic")
        return found

    def neighbour(self, offset: Sequence[int]) -> int | None:
        """The rank at an offset; None outside of a grid that is not periodic."""
        self._check(offset)
        return self.at([a + b for a, b in zip(self.coordinates, offset, strict=True)])

    def _told(self) -> str:
        return "x".join(map(str, self.lengths))

    def _check(self, places: object) -> None:
        """UsageError for what is not a whole number for each axis."""
        given = list(places) if isinstance(places, Iterable) else []
        if len(given) != len(self.lengths) or not all(map(is_whole, given)):
            raise UsageError(
                f"a place in a grid of {self._told()}, or an offset, has a whole number for each axis, "
                f"but got {places!r}"
            )
