"""A space of settings: parameters with their values, what depends on what, and what would cost too much.

A point of the space has two forms. `Settings` are names with values, as programs and files take them; an
`Index` is the place of each free parameter's value among its values, as methods reckon with it. A parameter
that a condition switches off has no setting and stands at 0, so that each point has one index. Parameters
that follow another are no coordinates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from leadline.core.errors import LeadlineError, UsageError, suggest

Value = int | str | bool
Settings = Mapping[str, Value]
Index = tuple[int, ...]
Indices = NDArray[np.intp]  # a row for each point
Floats = NDArray[np.float64]

ENUMERABLE = 250_000  # combinations up to which a space is written out; larger ones are drawn from
_TRIES = 200  # draws of a whole batch before a space counts as having no valid point


@dataclass(frozen=True)
class Parameter:
    """Something that can be set.

    `kind` is bytes, count, word, flag or pair (two sizes as text, "8192,1048576"). `equals` names the
    parameter whose value, `times` a factor, this one has. `when` has names of earlier parameters with the
    values at which this one is set at all.
    """

    name: str
    layer: str
    kind: str
    values: tuple[Value, ...]  # in order, where there is one; empty with `equals`
    equals: str = ""
    times: int = 1
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    start: int | None = None  # the place among the values at which methods may begin
    safety: str = "hint"  # "hint": results cannot change; "layout": the file's form; "semantics": guarantees

    @property
    def ordered(self) -> bool:
        """Whether values that stand side by side are alike."""
        return self.kind not in ("word", "flag")


@dataclass(frozen=True)
class Limit:
    """A product of settings that must not exceed a number; points where one of them is not set are free."""

    product: tuple[str, ...]
    at_most: int
    why: str = ""


@dataclass(frozen=True)
class Space:
    """What may be set to which values; made by `leadline.tune.search.load`."""

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    limits: tuple[Limit, ...] = ()

    @cached_property
    def axes(self) -> tuple[Parameter, ...]:
        """The free parameters: those with values of their own, one coordinate each."""
        return tuple(each for each in self.parameters if not each.equals)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(len(each.values) for each in self.axes)

    @cached_property
    def start(self) -> Index | None:
        """The point at which a search may begin: what is advised, the middle where nothing is.

        None where the space advises nothing, and where what it advises is no valid point.
        """
        if all(each.start is None for each in self.axes):
            return None
        places = tuple(len(each.values) // 2 if each.start is None else each.start for each in self.axes)
        begin = self.canonical(places)
        return begin if self.valid(begin) else None

    @property
    def enumerable(self) -> bool:
        """Whether all points can be written out."""
        return prod(self.shape) <= ENUMERABLE

    @cached_property
    def points(self) -> Indices:
        """All valid points, a row each, in the order of the values; LeadlineError where they are too many."""
        if not self.enumerable:
            raise LeadlineError(
                f"space {self.name}: {prod(self.shape)} combinations are too many to write out"
            )
        every = np.indices(self.shape).reshape(len(self.shape), -1).T
        return every[self._valid(every)]

    @cached_property
    def members(self) -> frozenset[Index]:
        """All valid points as a set; only of an enumerable space."""
        return frozenset(map(as_index, self.points))

    def settings(self, index: Index) -> dict[str, Value]:
        """The settings of a point, those that are off left out, in the order of the space's file."""
        place = dict(zip((each.name for each in self.axes), index, strict=True))
        found: dict[str, Value] = {}
        for each in self.parameters:
            if not self._on(each, found) or (each.equals and each.equals not in found):
                continue
            if each.equals:
                base = found[each.equals]
                found[each.name] = base * each.times if isinstance(base, int) else base
            else:
                found[each.name] = each.values[place[each.name]]
        return found

    def index(self, settings: Settings) -> Index:
        """The point of some settings; UsageError, naming the setting, for what is no valid point."""
        place = []
        for each in self.axes:
            value = settings.get(each.name, each.values[0])
            if not any(one == value and type(one) is type(value) for one in each.values):
                known = ", ".join(map(str, each.values))
                raise UsageError(f"{each.name} of space {self.name} is one of {known}, but got {value!r}")
            place.append(each.values.index(value))
        index = tuple(place)
        for name in (*settings, *(made := self.settings(index))):
            if name not in made:
                names = [each.name for each in self.parameters]
                raise UsageError(
                    f"{name!r} is not set at this point of space {self.name}{suggest(name, names)}"
                )
            if name not in settings or settings[name] != made[name]:
                got = settings.get(name, "nothing")
                raise UsageError(
                    f"{name} is {made[name]} at this point of space {self.name}, but got {got!r}"
                )
        if not self.valid(index):
            raise UsageError(f"these settings exceed a limit of space {self.name}: {dict(settings)}")
        return index

    def valid(self, index: Index) -> bool:
        """Whether an index is a point: within the values, parameters that are off at 0, limits kept."""
        inside = all(0 <= place < size for place, size in zip(index, self.shape, strict=True))
        return inside and bool(self._valid(np.array([index]))[0])

    def canonical(self, index: Index) -> Index:
        """The index with the parameters that are off at 0."""
        on = self._active(np.array([index]))
        return tuple(place if on[each.name][0] else 0 for place, each in zip(index, self.axes, strict=True))

    def draw(self, rng: np.random.Generator, count: int) -> list[Index]:
        """So many valid points at random, not necessarily different; LeadlineError where there is none."""
        if self.enumerable:
            if not len(self.points):
                raise UsageError(f"space {self.name} has no valid point; its limits leave nothing")
            return [as_index(row) for row in self.points[rng.integers(len(self.points), size=count)]]
        found: list[Index] = []
        for _ in range(_TRIES):
            drawn = rng.integers(self.shape, size=(max(64, 2 * count), len(self.shape)))
            on = self._active(drawn)
            for axis, each in enumerate(self.axes):
                drawn[~on[each.name], axis] = 0
            found += map(as_index, drawn[self._valid(drawn)])
            if len(found) >= count:
                return found[:count]
        raise UsageError(
            f"space {self.name} has no valid point among {_TRIES} draws; its limits leave too little"
        )

    def neighbours(self, index: Index) -> Iterator[Index]:
        """The valid points that differ in one parameter: by one step of an ordered one, by any of another."""
        for axis, each in enumerate(self.axes):
            here = index[axis]
            for place in (here - 1, here + 1) if each.ordered else range(len(each.values)):
                moved = (*index[:axis], place, *index[axis + 1 :])
                if (
                    place != here
                    and 0 <= place < len(each.values)
                    and self.valid(moved := self.canonical(moved))
                ):
                    yield moved

    def coordinates(self, indices: Sequence[Index] | Indices) -> Floats:
        """Points as numbers between 0 and 1, a row each: a column for each ordered axis and each word."""
        rows = np.asarray(indices, dtype=np.intp).reshape(-1, len(self.axes))
        columns: list[Floats] = []
        for axis, each in enumerate(self.axes):
            places = rows[:, axis].astype(np.float64)
            if each.ordered:
                columns.append(places / max(1, len(each.values) - 1))
            else:
                columns += [(places == place) / np.sqrt(2) for place in range(len(each.values))]
        return np.stack(columns, axis=1)

    def _on(self, parameter: Parameter, found: Settings) -> bool:
        """Whether a parameter is set where the earlier ones have been `found`."""
        return all(name in found and found[name] in values for name, values in parameter.when.items())

    def _active(self, indices: Indices) -> dict[str, NDArray[np.bool_]]:
        """At which points each parameter is set."""
        axis = {each.name: place for place, each in enumerate(self.axes)}
        known = {each.name: each for each in self.parameters}
        active: dict[str, NDArray[np.bool_]] = {}
        for each in self.parameters:
            on = np.ones(len(indices), dtype=np.bool_)
            if each.equals:
                on &= active[each.equals]
            for name, values in each.when.items():
                places = [i for i, value in enumerate(known[name].values) if value in values]
                on &= active[name] & np.isin(indices[:, axis[name]], places)
            active[each.name] = on
        return active

    def _valid(self, indices: Indices) -> NDArray[np.bool_]:
        """Which rows are points."""
        active = self._active(indices)
        valid = np.ones(len(indices), dtype=np.bool_)
        for place, each in enumerate(self.axes):
            valid &= active[each.name] | (indices[:, place] == 0)
        for limit in self.limits:
            worth = np.ones(len(indices))
            free = np.zeros(len(indices), dtype=np.bool_)
            for name in limit.product:
                worth *= self._numbers(name, indices)
                free |= ~active[name]
            valid &= free | (worth <= limit.at_most)
        return valid

    def _numbers(self, name: str, indices: Indices) -> Floats:
        """The values of a parameter of numbers, at each point."""
        each = next(one for one in self.parameters if one.name == name)
        if each.equals:
            return each.times * self._numbers(each.equals, indices)
        axis = self.axes.index(each)
        return np.array([float(value) for value in each.values])[indices[:, axis]]


def as_index(row: Indices) -> Index:
    """A row of an array as an index."""
    return tuple(row.tolist())
