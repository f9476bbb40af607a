"""Sizes and times as powers of the number of ranks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, inf, log

# Of the ranks: surfaces and volumes of parts in one, two and three dimensions, and blocks of a transposition.
POWERS = tuple(map(Fraction, ("0", "-1/3", "-1/2", "-2/3", "-1", "-2", "1/3", "1/2", "2/3", "1")))
OWN_POWERS = tuple(map(Fraction, ("0", "-1", "1", "-2")))  # of the operation's communicator beside them
CLOSE = 0.05  # relative; what deviates further is no such power
WORD = 8  # B; sizes that are all multiples of it stay so

Scale = tuple[int, int]  # the number of ranks, and that of the communicator


@dataclass(frozen=True)
class Power:
    """`factor` times the ranks to a power, times the communicator's ranks to another one.

    In units that are rounded by `rounding`; `error` is the largest relative deviation from its values.
    """

    factor: float
    power: Fraction
    own: Fraction = Fraction(0)
    error: float = 0.0
    rounding: str = "nearest"
    unit: int = 1

    def __call__(self, scale: Scale) -> float:
        """The value, not rounded."""
        return self.factor * _growth(scale, self.power, self.own)

    def whole(self, scale: Scale) -> int:
        """The value in whole units."""
        return int(_ROUNDED[self.rounding](self(scale) / self.unit)) * self.unit


def _growth(scale: Scale, power: Fraction, own: Fraction) -> float:
    return exp(float(power) * log(scale[0]) + float(own) * log(scale[1]))


# Of a sum that is a whole number but for the last digits.
_NEAR = 1e-9
_ROUNDED: dict[str, Callable[[float], int]] = {
    "nearest": round,
    "down": lambda value: floor(value * (1 + _NEAR)),
    "up": lambda value: ceil(value * (1 - _NEAR)),
}
# Of which numbers a whole one is the rounded one: so much below it, so much above it.
# Programs divide whole numbers, which rounds down: tried first.
_WIDTHS = {"down": (0.0, 1.0), "nearest": (0.5, 0.5), "up": (1.0, 0.0)}


def sizes_of(values: Mapping[Scale, tuple[int, int]]) -> list[Power]:
    """The powers that give sizes (smallest and largest), B: all that give them exactly, if there are some.

    Otherwise the nearest one. A constant, or a power of the ranks alone, leaves out what is less simple.
    """
    unit = WORD if all(end % WORD == 0 for ends in values.values() for end in ends) else 1
    for owns in (OWN_POWERS[:1], OWN_POWERS[1:]):
        exact = [
            found
            for own in owns
            for power in POWERS
            if (found := _exact(values, power, own, unit)) is not None
        ]
        if exact:
            return exact[:1] if exact[0].power == exact[0].own == 0 else exact
    return [nearest({scale: (float(low), float(high)) for scale, (low, high) in values.items()}, unit)]


def _exact(
    values: Mapping[Scale, tuple[int, int]], power: Fraction, own: Fraction, unit: int
) -> Power | None:
    """The power that gives every size exactly, rounded in one way; None where there is none."""
    if any(low != high for low, high in values.values()):
        return None
    for rounding, (below, above) in _WIDTHS.items():
        least, most = 0.0, inf
        for scale, (size, _) in values.items():
            growth = _growth(scale, power, own) / unit
            least = max(least, (size / unit - below) / growth)
            most = min(most, (size / unit + above) / growth)
        if least <= most * (1 + _NEAR):
            # Sizes of problems are whole numbers, of which the roundest is the likeliest.
            factor = _roundest(least, most)
            found = Power(factor, power, own, 0.0, rounding, unit)
            if all(found.whole(scale) == size for scale, (size, _) in values.items()):
                return found
    return None


def _roundest(least: float, most: float) -> float:
    """A number between two, with as few binary digits as can be."""
    if least >= most:
        return (least + most) / 2
    step = 2.0 ** floor(log(most - least, 2))
    while floor(most / step) * step < least:
        step /= 2
    number = ceil(least / step) * step
    return number if least <= number <= most else (least + most) / 2


def nearest(values: Mapping[Scale, tuple[float, float]], unit: int = 1) -> Power:
    """The power of the ranks nearest to values (smallest and largest); a constant where it fits as well."""
    if all(low == high == 0 for low, high in values.values()):
        return Power(0.0, Fraction(0))
    best: Power | None = None
    for own in OWN_POWERS:
        for power in POWERS:
            found = _nearest(values, power, own, unit)
            if best is None or found.error < best.error * 0.999 - 1e-12:
                best = found
    assert best is not None
    return best


def _nearest(values: Mapping[Scale, tuple[float, float]], power: Fraction, own: Fraction, unit: int) -> Power:
    """The factor in the middle, and how far values are from it."""
    factors = [
        log(max(low + high, 1e-300) / 2 / _growth(scale, power, own)) for scale, (low, high) in values.items()
    ]
    factor = exp((min(factors) + max(factors)) / 2)
    error = max(
        abs(end / (factor * _growth(scale, power, own)) - 1) for scale, ends in values.items() for end in ends
    )
    return Power(factor, power, own, error if error > _NEAR else 0.0, "nearest", unit)


FORMS: dict[str, Callable[[int], float]] = {
    "1": lambda ranks: 0.0,
    "ranks": float,
    "square root of the ranks": lambda ranks: ranks**0.5,
    "cube root of the ranks": lambda ranks: ranks ** (1 / 3),
    "logarithm of the ranks": lambda ranks: log(ranks, 2),
}


@dataclass(frozen=True)
class Turns:
    """A number of repetitions: `times` one of FORMS, and `more`."""

    form: str
    times: int
    more: int

    def __call__(self, ranks: int) -> int:
        """The number at so many ranks."""
        return round(self.times * FORMS[self.form](ranks)) + self.more


def turns_of(values: Mapping[int, int]) -> Turns | None:
    """How often something is repeated at each number of ranks; None where it is none of FORMS, exactly."""
    sizes: Sequence[int] = sorted(values)
    for name, form in FORMS.items():
        low, high = form(sizes[0]), form(sizes[-1])
        slope = round((values[sizes[-1]] - values[sizes[0]]) / (high - low)) if high > low else 0
        found = Turns(name, slope, round(values[sizes[0]] - slope * low))
        if all(found(ranks) == value for ranks, value in values.items()):
            return found
    return None
