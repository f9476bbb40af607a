"""Whole numbers at each number of ranks: which simple functions of the ranks give them.

Of few recordings several functions often hold. All of them are kept, and whoever asks at another number of
ranks is told where they differ there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, floor, log2

from leadline.core.grids import even_grid
from leadline.program.extend.grids import Lengths

_NEAR = 1e-9  # relative; of a number that is whole but for its last digits
DIVISORS = range(2, 17)  # of the ranks, where something is added to the quotient: more hold by chance
MANY = 2  # numbers that are chosen: they give three values by chance
LEAST = 3  # numbers of ranks that tell more than a constant


def down(value: float) -> int:
    """The whole number that is not above a value, but for its last digits."""
    return floor(value + _NEAR * max(abs(value), 1))


def up(value: float) -> int:
    """The whole number that is not below a value, but for its last digits."""
    return ceil(value - _NEAR * max(abs(value), 1))


def half_up(value: float) -> int:
    """The nearest whole number, as `round` of C has it."""
    return floor(value + 0.5)


_ROUNDED: dict[str, Callable[[float], int]] = {"down": down, "up": up, "to the nearest": half_up}
_ROOTS = {"square root": 1 / 2, "cube root": 1 / 3}


@dataclass(frozen=True)
class Count:
    """A whole number at any number of ranks; `name` is for people.

    Of a side of the grid of the ranks, and sums with it, `named` says it of a grid that is not their own:
    nothing where that has other dimensions. One that is not `sure` has two numbers that were chosen for the
    two values that there are: it is compared with others, and decides nothing.
    """

    name: str
    value: Callable[[int], int]
    named: Callable[[Lengths], int | None] = lambda grid: None
    sure: bool = True
    chosen: int = 1  # numbers that were chosen for the values

    @property
    def of_each(self) -> bool:
        """Whether it is one for each rank, or for each other one."""
        return self.name in _RANKS

    def __call__(self, ranks: int) -> int:
        """The number at so many ranks."""
        return self.value(ranks)

    def in_grid(self, grid: Lengths) -> "Count":
        """The number in a grid of such lengths, whichever it is of the ranks'."""
        side = self.named(grid)
        return self if side is None else replace(self, value=lambda ranks: side)


@lru_cache(maxsize=1024)
def _side(ranks: int, dimensions: int, axis: int) -> int:
    return even_grid(ranks, dimensions)[axis]


def _growing() -> Iterator[Count]:
    """Functions of which a multiple, and something added to it, may be what is looked for."""
    yield Count("the ranks", lambda ranks: ranks)
    yield Count("the ranks' square", lambda ranks: ranks * ranks)
    for way, rounded in _ROUNDED.items():
        if way != "to the nearest":
            yield Count(f"their logarithm rounded {way}", _logarithm(rounded))
            yield Count(f"the ranks times their logarithm rounded {way}", _times_logarithm(rounded))
        for root, power in _ROOTS.items():
            yield Count(f"their {root} rounded {way}", _powered(1, power, rounded))
    for dimensions in (2, 3):
        for axis in range(dimensions):
            name = f"side {axis + 1} of their grid of {dimensions} dimensions"
            yield Count(name, _along(dimensions, axis), _side_of(dimensions, axis))


def _logarithm(rounded: Callable[[float], int]) -> Callable[[int], int]:
    return lambda ranks: rounded(log2(ranks))


def _half_logarithm(rounded: Callable[[float], int]) -> Callable[[int], int]:
    """Of rows or columns as long as a power of two: their logarithm."""
    return lambda ranks: rounded(down(log2(ranks)) / 2)


def _along(dimensions: int, axis: int) -> Callable[[int], int]:
    return lambda ranks: _side(ranks, dimensions, axis)


def _side_of(dimensions: int, axis: int) -> Callable[[Lengths], int | None]:
    return lambda grid: grid[axis] if len(grid) == dimensions else None


def _times_logarithm(rounded: Callable[[float], int]) -> Callable[[int], int]:
    return lambda ranks: ranks * rounded(log2(ranks))


def _powered(times: int, power: float, rounded: Callable[[float], int]) -> Callable[[int], int]:
    return lambda ranks: rounded(times * ranks**power)


def _share(count: int, rounded: Callable[[float], int]) -> Callable[[int], int]:
    """What each rank has of so many things."""
    return lambda ranks: rounded(count / ranks)


def _part(divisor: int, rounded: Callable[[float], int]) -> Callable[[int], int]:
    """How many groups of so many ranks there are."""
    return lambda ranks: rounded(ranks / divisor)


GROWING = tuple(_growing())
_RANKS = {"the ranks", "the ranks less 1", "the ranks and 1"}
_STEEP = {form.name for form in GROWING if form.value(64) > 64}


def sums(values: Mapping[int, int]) -> Iterator[Count]:
    """What is a multiple of a growing function and something added to it, exactly at every number of ranks.

    Of a part of the ranks, a half or a third of them, it is that itself and something added. The ranks may
    also end at the largest value.
    """
    low, high = min(values), max(values)
    for form in GROWING:
        grown = form(high) - form(low)
        times, rest = divmod(values[high] - values[low], grown) if grown else (0, 1)
        if not rest and (
            times > 0 or (times < 0 and _may_fall(form, times, values[low] - times * form(low), high))
        ):
            yield from _sum(values, form, times, values[low] - times * form(low))
    most = max(values.values())
    if most < high:
        yield from _holding(values, Count(f"the ranks, at most {most:,}", lambda ranks: min(ranks, most)))
    for divisor in DIVISORS:
        for way in ("down", "up"):
            form = Count(f"the ranks / {divisor} rounded {way}", _part(divisor, _ROUNDED[way]))
            yield from _sum(values, form, 1, values[low] - form(low))


def _may_fall(form: Count, times: int, more: int, high: int) -> bool:
    """Whether what becomes less with the ranks does so as they do themselves, or their roots and logarithm.

    And is never below zero at fewer ranks than were recorded: a side of a grid is long where these are prime.
    """
    return form.name not in _STEEP and all(times * form(ranks) + more >= 0 for ranks in range(1, high + 1))


def _sum(values: Mapping[int, int], form: Count, times: int, more: int) -> Iterator[Count]:
    if all(times * form(ranks) + more == value for ranks, value in values.items()):
        name = form.name if times == 1 else f"{times:,} times {form.name}"
        if more:
            name += f" {'and' if more > 0 else 'less'} {abs(more):,}"
        sure = times == 1 or not more or len({form(ranks) for ranks in values}) >= LEAST
        parted = "/" in form.name
        chosen = (times != 1) + parted + (abs(more) > (times == 1 and not parted))
        yield Count(name, lambda ranks: times * form(ranks) + more, _sum_of(form, times, more), sure, chosen)


def _sum_of(form: Count, times: int, more: int) -> Callable[[Lengths], int | None]:
    def named(grid: Lengths) -> int | None:
        side = form.named(grid)
        return None if side is None else times * side + more

    return named


def multiples(values: Mapping[int, int]) -> Iterator[Count]:
    """What is rounded of a multiple of a root, a share of a whole number or a part of the ranks: exactly."""
    low, high = min(values), max(values)
    for way, rounded in _ROUNDED.items():
        for root, power in (*_ROOTS.items(), ("cube root squared", 2 / 3)):
            guess = half_up(values[high] / high**power)
            for times in range(max(guess - 1, 2), guess + 2):
                form = Count(f"{times:,} times their {root}, rounded {way}", _powered(times, power, rounded))
                yield from _holding(values, form)
    for way in ("down", "up"):
        rounded = _ROUNDED[way]
        form = Count(f"half their logarithm, rounded {way}", _half_logarithm(rounded))
        yield from _holding(values, form)
        counts = shared(values, way)
        for count in sorted({counts[0], counts[-1]} if counts else ()):
            form = Count(f"{count:,} / the ranks, rounded {way}", _share(count, rounded))
            yield from _holding(values, form)
        for divisor in range(DIVISORS[-1] + 1, high + 1):
            form = Count(f"the ranks / {divisor} rounded {way}", _part(divisor, rounded))
            if form(low) or way == "down":
                yield from _holding(values, form)


def shared(values: Mapping[int, int], way: str) -> range:
    """The whole numbers of things of which each rank has a value, rounded "down" or "up"."""
    if way == "down":
        least = max(ranks * value for ranks, value in values.items())
        most = min(ranks * (value + 1) - 1 for ranks, value in values.items())
    else:
        least = max(ranks * (value - 1) + 1 for ranks, value in values.items())
        most = min(ranks * value for ranks, value in values.items())
    return range(max(least, 0), most + 1)


def _holding(values: Mapping[int, int], form: Count) -> Iterator[Count]:
    if all(form(ranks) == value for ranks, value in values.items()):
        yield form


def turns_of(values: Mapping[int, int]) -> list[Count]:
    """All functions that say how often something is repeated at each number of ranks; none where none does.

    What is the same in all recordings is taken to be the same everywhere. What differs needs three numbers
    of ranks or more, and is never decided here: of recordings at 4, 8 and 16 ranks with 2, 3 and 4
    repetitions the logarithm and the square root, rounded up, hold. That the simplest function should
    be the right one is no rule that holds, so whoever asks compares all of them: see `told_apart`.
    """
    if len(set(values.values())) == 1:
        always = next(iter(values.values()))
        return [Count("a constant", lambda ranks: always)]
    if len(values) < LEAST:
        return []
    return likely(values, [*sums(values), *multiples(values)])


def likely(values: Mapping[int, int], forms: Sequence[Count]) -> list[Count]:
    """The functions without those for which two numbers were chosen, where one for which none was gives more.

    Of 3, 7 and 11 at 4, 8 and 12 ranks, it is the ranks less 1, and not 4 times their logarithm less 5.
    Roots and logarithms give three values by chance, but not four.
    """
    found = len(set(values.values()))
    if any(not form.chosen and found >= LEAST + (form.name not in _RANKS) for form in forms):
        return [form for form in forms if form.chosen < MANY]
    return list(forms)


def told_apart(forms: Sequence[Count], ranks: int) -> dict[int, str]:
    """The numbers at so many ranks, and of each the name of the first function that gives it."""
    found: dict[int, str] = {}
    for form in forms:
        found.setdefault(form(ranks), form.name)
    return found


__all__ = ["LEAST", "Count", "down", "half_up", "sums", "told_apart", "turns_of", "up"]
