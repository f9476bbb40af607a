"""Sizes and times as functions of the number of ranks: powers of it, and sums with a constant."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, floor, inf, log
from typing import NamedTuple, Protocol

from leadline.core.grids import even_grid
from leadline.program.extend.forms import LEAST, Count, likely, sums
from leadline.program.extend.grids import Lengths
from leadline.program.extend.products import products

# Of the ranks: surfaces and volumes of parts in one, two and three dimensions, and blocks of a transposition.
POWERS = tuple(map(Fraction, ("0", "-1/3", "-1/2", "-2/3", "-1", "-2", "1/3", "1/2", "2/3", "1", "2")))
OWN_POWERS = tuple(map(Fraction, ("0", "-1", "1", "-2")))  # of the operation's communicator beside them
CLOSE = 0.05  # relative; what deviates further is no such power
ALIKE = (
    0.01  # relative; laws that all hold exactly may differ so much at another number of ranks, by rounding
)
UNITS = (
    8,
    16,
    4,
    1,
)  # B, of words, complex numbers and others; sizes that are all multiples of one may stay so

Scale = tuple[int, int]  # the number of ranks, and that of the communicator
Ends = Mapping[Scale, tuple[int, int]]  # the smallest and the largest size, B


class Law(Protocol):
    """A size, B, at any number of ranks. `error` is the largest relative deviation from the recordings."""

    @property
    def error(self) -> float: ...

    @property
    def unit(self) -> int: ...

    def whole(self, scale: Scale) -> int:
        """The size, B."""

    def ends(self, scale: Scale) -> tuple[int, int]:
        """The smallest and the largest size that the recordings allow, B."""


class Side(NamedTuple):
    """A side of the ranks' grid to a power: edges are the shorter the more ranks there are along them.

    And faces are those of a volume that is divided by the ranks, times their number along the other axis.
    """

    dimensions: int
    axis: int
    power: int
    grid: Lengths = ()  # where it is not the one of the ranks

    def __call__(self, ranks: int) -> float:
        """Its growth."""
        grid = self.grid if len(self.grid) == self.dimensions else even_grid(ranks, self.dimensions)
        return float(grid[self.axis]) ** self.power


def sides(dimensions: int) -> tuple[Side, ...]:
    """What sizes of messages between neighbours of a grid may follow: its edges, and its faces."""
    if dimensions == 1:
        return ()
    edges = [Side(dimensions, axis, -1) for axis in range(dimensions)]
    return (*edges, *(Side(dimensions, axis, 1) for axis in range(dimensions) if dimensions > 2))


@dataclass(frozen=True)
class Power:
    """`factor` times the ranks to a power, times the communicator's ranks to another one, or times a side.

    In units that are rounded by `rounding`; `error` is the largest relative deviation from its values.
    `factors` are the smallest and the largest one that give the same, where another one would do.
    """

    factor: float
    power: Fraction
    own: Fraction = Fraction(0)
    error: float = 0.0
    rounding: str = "nearest"
    unit: int = 1
    factors: tuple[float, ...] = ()
    side: Side | None = None

    def __call__(self, scale: Scale) -> float:
        """The value, not rounded."""
        return self.factor * _growth(scale, (self.power, self.own), self.side)

    def whole(self, scale: Scale) -> int:
        """The value in whole units."""
        return int(_ROUNDED[self.rounding](self(scale) / self.unit)) * self.unit

    @property
    def grows(self) -> bool:
        """Whether it is a multiple of the ranks or of their square."""
        return self.side is None and self.power + self.own >= 1

    def ends(self, scale: Scale) -> tuple[int, int]:
        """The values of the smallest and of the largest factor, in whole units."""
        found = [replace(self, factor=each).whole(scale) for each in (self.factor, *self.factors)]
        return min(found), max(found)

    def __str__(self) -> str:
        powers = [f"{name}^{power}" for name, power in (("ranks", self.power), ("own", self.own)) if power]
        return " * ".join((f"{self.factor:.6g} B", *powers))


@dataclass(frozen=True)
class Whole:
    """A function of the ranks, or of the communicator's, that gives every size exactly."""

    form: Count
    own: bool
    unit: int
    error: float = 0.0

    def whole(self, scale: Scale) -> int:
        """The size, B."""
        return self.form(scale[self.own]) * self.unit

    def ends(self, scale: Scale) -> tuple[int, int]:
        """The size alone: whole numbers leave no choice."""
        return self.whole(scale), self.whole(scale)


@dataclass(frozen=True)
class Sum:
    """A constant and a multiple of the ranks, of their logarithm or of a share: near the sizes, not exact."""

    constant: float
    times: float
    grown: Callable[[int], float]
    error: float
    unit: int

    def whole(self, scale: Scale) -> int:
        """The size in whole units, B."""
        return round((self.constant + self.times * self.grown(scale[0])) / self.unit) * self.unit

    def ends(self, scale: Scale) -> tuple[int, int]:
        """The size alone."""
        return self.whole(scale), self.whole(scale)


def _growth(scale: Scale, powers: tuple[Fraction, Fraction], side: Side | None) -> float:
    power, own = powers
    growth = exp(float(power) * log(scale[0]) + float(own) * log(scale[1]))
    return growth * side(scale[0]) if side else growth


# Of a sum that is a whole number but for the last digits.
_NEAR = 1e-12
_ROUNDED: dict[str, Callable[[float], int]] = {
    "down": lambda value: floor(value * (1 + _NEAR)),
    "up": lambda value: ceil(value * (1 - _NEAR)),
    "nearest": round,
}
# Of which numbers a whole one is the rounded one: so much below it, so much above it.
# Programs divide whole numbers, which rounds down, or up with what is added before: tried first.
_WIDTHS = {"down": (0.0, 1.0), "up": (1.0, 0.0), "nearest": (0.5, 0.5)}


def sizes_of(values: Ends, along: tuple[Side, ...] = ()) -> list[Law]:
    """The laws that give sizes (smallest and largest), B, the likeliest first: all that give them exactly.

    Where none does, the nearest power, and others that are about as near. What is the same in all
    recordings is a constant. Of several laws none is dropped for being less simple: few recordings are on
    powers of the ranks and on sums with a constant at once, and `size_at` tells where these differ. They may
    follow a side of those `along` which messages go.
    """
    return list(_sizes_of(tuple(sorted(values.items())), along))


@lru_cache(maxsize=4096)
def _sizes_of(items: tuple[tuple[Scale, tuple[int, int]], ...], along: tuple[Side, ...]) -> tuple[Law, ...]:
    values = dict(items)
    sizes = {end for ends in values.values() for end in ends}
    if len(sizes) == 1:
        return (Power(float(sizes.pop()), Fraction(0)),)
    units = [unit for unit in UNITS if all(size % unit == 0 for size in sizes)]
    if any(low != high for low, high in values.values()):
        return tuple(_near(values, units[0], along))
    exact = {scale: low for scale, (low, _) in values.items()}
    powers = [
        found
        for unit in units
        for rounding in _WIDTHS
        for powers_of, side in _growths(values, along)
        if (found := _exact(exact, powers_of, side, (unit, rounding))) is not None
    ]
    plain: list[Law] = [each for each in powers if not each.factors]
    whole = list(_sums(exact, units))
    # What is a whole number for each rank, such as one for each other rank, is no fraction of them.
    counted = len(sizes) >= LEAST and any(law.form.of_each for law in whole)
    rounded: list[Law] = [each for each in powers if each.factors and not (counted and each.grows)]
    return tuple(
        [*plain, *whole, *rounded, *products(exact, rounded=not _divided(exact))]
        or _near(values, units[0], along)
    )


def _divided(values: Mapping[Scale, int]) -> bool:
    """Whether sizes are a power of the ranks without any rounding."""
    for power in POWERS:
        factors = [size / _growth(scale, (power, Fraction(0)), None) for scale, size in values.items()]
        if max(factors) - min(factors) <= 10 * _NEAR * max(factors):
            return True
    return False


def _growths(values: Ends, along: tuple[Side, ...]) -> list[tuple[tuple[Fraction, Fraction], Side | None]]:
    """Powers of the ranks and the communicator's, and sides: as they are, or as a part of all ranks."""
    found: list[tuple[tuple[Fraction, Fraction], Side | None]] = [
        ((power, own), None) for own, power in _pairs(values)
    ]
    return [*found, *(((Fraction(min(-side.power, 0)), Fraction(0)), side) for side in along)]


def _pairs(values: Ends) -> list[tuple[Fraction, Fraction]]:
    """Powers of the communicator's ranks, and of all ranks; of these alone where it has all of them."""
    owns = OWN_POWERS[:1] if all(ranks == own for ranks, own in values) else OWN_POWERS
    return [(own, power) for own in owns for power in POWERS]


def _sums(values: Mapping[Scale, int], units: list[int]) -> Iterator[Whole]:
    for own in (False, True):
        scales = {scale[own] for scale in values}
        if len(scales) < len(values) or (own and all(ranks == size for ranks, size in values)):
            continue
        for unit in units:
            counts = {scale[own]: size // unit for scale, size in values.items()}
            for form in likely(counts, list(sums(counts))):
                yield Whole(form, own, unit)


def _exact(
    values: Mapping[Scale, int],
    powers: tuple[Fraction, Fraction],
    side: Side | None,
    rounded: tuple[int, str],
) -> Power | None:
    """The power that gives every size exactly, rounded so; None where there is none."""
    (power, own), (unit, rounding) = powers, rounded
    below, above = _WIDTHS[rounding]
    least, most = 0.0, inf
    for scale, size in values.items():
        growth = _growth(scale, powers, side) / unit
        least = max(least, (size / unit - below) / growth)
        most = min(most, (size / unit + above) / growth)
    if least > most * (1 + _NEAR):
        return None

    def gives(factor: float) -> bool:
        law = Power(factor, power, own, 0.0, rounding, unit, side=side)
        return all(law.whole(scale) == size for scale, size in values.items())

    # Not the ends themselves, of which the rounded number is another one.
    inside = least * (1 + 3 * _NEAR * (below > 0)), most * (1 - 3 * _NEAR * (above > 0))
    # Sizes of problems are whole numbers, of which the roundest is the likeliest.
    factor = _roundest(*inside)
    if not gives(factor):
        return None
    found = Power(factor, power, own, 0.0, rounding, unit, side=side)
    # What grows with the ranks and needs no rounding has a whole number as its factor, and no other one.
    if (
        side is None
        and power + own >= 0
        and all(abs(found(scale) - size) <= _NEAR * size for scale, size in values.items())
    ):
        return found if abs(factor / unit - round(factor / unit)) <= _NEAR or unit == 1 else None
    return replace(found, factors=(factor, *filter(gives, inside)))


def _roundest(least: float, most: float) -> float:
    """A number between two, with as few binary digits as can be."""
    if least >= most:
        return (least + most) / 2
    step = 2.0 ** ceil(log(most, 2))
    while floor(most / step) * step < least * (1 - 1e-12):  # of digits that are not exact
        step /= 2
    return floor(most / step) * step


def nearest(values: Mapping[Scale, tuple[float, float]], unit: int = 1) -> Power:
    """The power of the ranks nearest to values (smallest and largest); a constant where it fits as well."""
    if all(low == high == 0 for low, high in values.values()):
        return Power(0.0, Fraction(0))
    best: Power | None = None
    for own in OWN_POWERS:
        for power in POWERS:
            found = _nearest(values, (power, own), None, unit)
            if best is None or found.error < best.error * 0.999 - 1e-12:
                best = found
    assert best is not None
    return best


def _near(values: Ends, unit: int, along: tuple[Side, ...]) -> list[Law]:
    """The nearest power, and what is about as near: powers up to twice as far, sums half as far."""
    ends = {scale: (float(low), float(high)) for scale, (low, high) in values.items()}
    best = nearest(ends, unit)
    growths = _growths(values, along) if best.factor else []
    powers = [_nearest(ends, powers, side, unit) for powers, side in growths]
    found: list[Law] = [best]
    found += [each for each in powers if each.error <= min(2 * best.error, CLOSE)]
    if len({ranks for ranks, _ in values}) > 2:
        near = (_sum(ends, grown, unit) for grown in _GROWN)
        found += [each for each in near if each.error < best.error / 2]
    return found


_GROWN: tuple[Callable[[int], float], ...] = (float, lambda ranks: log(ranks, 2), lambda ranks: 1 / ranks)


def _sum(ends: Mapping[Scale, tuple[float, float]], grown: Callable[[int], float], unit: int) -> Sum:
    """The sum of the least squares of relative deviations."""
    points = [(grown(ranks), (low + high) / 2, max(high, 1.0)) for (ranks, _), (low, high) in ends.items()]
    weights = [1 / size**2 for _, _, size in points]
    in_all = sum(weights)
    x = sum(weight * at for weight, (at, _, _) in zip(weights, points, strict=True)) / in_all
    y = sum(weight * value for weight, (_, value, _) in zip(weights, points, strict=True)) / in_all
    spread = sum(weight * (at - x) ** 2 for weight, (at, _, _) in zip(weights, points, strict=True))
    both = sum(
        weight * (at - x) * (value - y) for weight, (at, value, _) in zip(weights, points, strict=True)
    )
    times = both / spread
    constant = y - times * x
    error = max(
        abs(end - constant - times * grown(ranks)) / max(end, 1.0)
        for (ranks, _), each in ends.items()
        for end in each
    )
    return Sum(constant, times, grown, error, unit)


def in_grid(laws: list[Law], grid: Lengths) -> list[Law]:
    """The laws in a grid of such lengths, which may be another one than the ranks' own."""
    return [_in_grid(law, grid) for law in laws]


def _in_grid(law: Law, grid: Lengths) -> Law:
    if isinstance(law, Whole) and not law.own:
        return replace(law, form=law.form.in_grid(grid))
    if isinstance(law, Power) and law.side:
        return replace(law, side=law.side._replace(grid=grid))
    return law


def sure(laws: list[Law]) -> bool:
    """Whether one of them was not made for the two sizes that there are."""
    return any(not isinstance(law, Whole) or law.form.sure for law in laws)


def size_at(laws: list[Law], scale: Scale) -> tuple[int, float, tuple[int, int]]:
    """The likeliest size at a number of ranks, B, how far it may be off, relative, and what laws allow, B.

    Exact laws that agree are off by nothing. A law that is not exact is off by as much as it is from the
    recordings, or by a unit, whichever is more.
    """
    # Sizes are not negative: a law by which this one is does not hold.
    laws = [law for law in laws if law.whole(scale) >= 0] or laws
    ends = [end for law in laws for end in law.ends(scale)]
    size, unit = laws[0].whole(scale), laws[0].unit
    least, most = min(ends), max(ends)
    off = max(most - size, size - least) / max(size, unit)
    if laws[0].error:
        off = max(off, laws[0].error, unit / max(size, unit))
    return size, off, (least, most)


def allowed(laws: list[Law]) -> float:
    """How far off a size may be, relative: laws that are not exact may be further."""
    return CLOSE if laws[0].error else ALIKE


def _nearest(
    values: Mapping[Scale, tuple[float, float]],
    powers: tuple[Fraction, Fraction],
    side: Side | None,
    unit: int,
) -> Power:
    """The factor in the middle, and how far values are from it."""
    factors = [
        log(max(low + high, 1e-300) / 2 / _growth(scale, powers, side))
        for scale, (low, high) in values.items()
    ]
    factor = exp((min(factors) + max(factors)) / 2)
    error = max(
        abs(end / (factor * _growth(scale, powers, side)) - 1)
        for scale, ends in values.items()
        for end in ends
    )
    return Power(factor, *powers, error if error > _NEAR else 0.0, "nearest", unit, side=side)
