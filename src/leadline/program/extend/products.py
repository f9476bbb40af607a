"""Sizes that are products of a block's sides, each of which is rounded, such as faces of a cube."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isqrt

from leadline.program.extend.forms import down, half_up, up

Scale = tuple[int, int]  # the number of ranks, and that of the communicator

_ROUNDED = {"down": down, "up": up, "to the nearest": half_up}
# How many equal sides are multiplied, and what part of a whole's side each is: one by the root of the ranks.
_SIDES = (2, Fraction(1, 2)), (2, Fraction(1, 3)), (3, Fraction(1, 3))


@dataclass(frozen=True)
class Product:
    """`unit` B times a side to a power, times a root of the ranks as often as there are `cells` along it.

    The side is that of the whole, a number of `things`, divided by a root of the ranks and rounded.
    """

    things: int
    root: Fraction
    degree: int
    rounding: str
    unit: int
    cells: bool = False
    error: float = 0.0

    def whole(self, scale: Scale) -> int:
        """The size, B; below 0 where the ranks have no such root, and sides are not all alike."""
        if _root(scale[0], self.root.denominator) is None:
            return -1
        side = _ROUNDED[self.rounding](self.things / scale[0] ** float(self.root))
        return int(self.unit * side**self.degree * (isqrt(scale[0]) if self.cells else 1))

    def ends(self, scale: Scale) -> tuple[int, int]:
        """The size alone: another number of things has another law."""
        return self.whole(scale), self.whole(scale)


def products(values: Mapping[Scale, int], *, rounded: bool) -> Iterator[Product]:
    """The products that give all sizes exactly.

    Where no size is `rounded`, these are the simplest, of words: who divides without a rest does so however
    it is rounded otherwise.
    """
    roots = {scale: isqrt(scale[0]) for scale in values}
    squares = all(root * root == ranks for (ranks, _), root in roots.items())
    for cells in (False, True)[: 1 + (squares and rounded)]:
        plain = {scale: size // (roots[scale] if cells else 1) for scale, size in values.items()}
        common = gcd(*plain.values())
        for degree, root in _SIDES:
            units = list(_units(common, degree))
            for unit in units if rounded else units[-1:]:
                sides = {scale: _root(size // unit, degree) for scale, size in plain.items()}
                if all(sides.values()):
                    found = _of_sides({scale: side or 0 for scale, side in sides.items()}, root)
                    every = (Product(things, root, degree, way, unit, cells) for way, things in found)
                    yield from (law for law in every if all(law.whole(at) == values[at] for at in values))


def _units(common: int, degree: int) -> Iterator[int]:
    """What sizes may be multiples of, where what they share is that times a power: of words, if they are."""
    word = next((word for word in (8, 4) if common % word == 0), 1)
    side = 1
    while word * side**degree <= common:
        if common % (word * side**degree) == 0:
            yield common // side**degree
        side += 1


def _root(value: int, degree: int) -> int | None:
    root = round(value ** (1 / degree))
    return root if root**degree == value else None


def _of_sides(sides: Mapping[Scale, int], root: Fraction) -> Iterator[tuple[str, int]]:
    """The ways to round and whole numbers of things that give the sides: the least and the most of each."""
    if len(set(sides.values())) == 1:
        return
    for way, (below, above) in {"down": (0.0, 1.0), "up": (1.0, 0.0), "to the nearest": (0.5, 0.5)}.items():
        along = {scale: scale[0] ** float(root) for scale in sides}
        least = up(max((side - below) * along[scale] for scale, side in sides.items()))
        most = down(min((side + above) * along[scale] for scale, side in sides.items()))
        found = [
            things
            for things in range(least, most + 1)
            if all(_ROUNDED[way](things / along[scale]) == side for scale, side in sides.items())
        ]
        yield from ((way, things) for things in {found[0], found[-1]} if found) if found else ()


__all__ = ["Product", "products"]
