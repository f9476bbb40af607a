"""Which of a library's algorithms is certainly faster than its own choice, and what settings gained.

A run has the library's own choice and its forced algorithms side by side, launch by launch. An algorithm is
taken where its gain is beyond chance among all that were tried (`leadline.analysis.verdict`) and its whole
interval beyond the floor (2 %), and where it is slower in no variant that a setting cannot tell apart: roots,
types, duplicates of the world. The fastest of many looks faster than it is, so what was chosen is measured
again (`gains`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import exp, fsum, log, log1p
from statistics import median
from typing import Any

import polars as pl

from leadline.analysis.guidelines.terms import Series, measured
from leadline.analysis.verdict import Change, within_run
from leadline.core.axes import AXES
from leadline.core.collectives import TUNED, called, members
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.record import KEYS
from leadline.mpi.tuned import Choice, ranges

FLOOR = 0.02  # a gain below is none
ALIKE_WITHIN = 0.05  # an interval that reaches farther from 1 shows neither a gain nor that there is none
CONTEXT = [name for name in KEYS if name not in ("benchmark", "metric")]
FASTER, SLOWER, ALIKE, UNDECIDED = "faster", "slower", "alike", "undecided"
# Axes of which a library has one value.
ONE_OF = tuple(name for name in AXES if name not in ("mpi", "ranks", "collectives"))

APPLICATION = ("cadence", "application")  # of a variant: its calls stand between computations
Place = tuple[str, str, int, int]  # MPI, operation as settings name it, ranks, bytes
Variant = tuple[object, ...]
Trial = tuple[bool, Change]  # whether calls stood between computations


@dataclass(frozen=True)
class Chosen:
    """What serves an operation at one size best: an algorithm, or None for the library's own choice."""

    mpi: str
    operation: str
    ranks: int
    bytes: int
    algorithm: str | None
    ratio: float | None  # of its time to that of the library's own choice; None where that stays
    low: float | None
    high: float | None
    own: float  # s, the library's own choice
    time: float  # s
    tried: int  # algorithms
    # The ratio in calls between computations; None where these were not measured.
    applied: float | None = None
    applied_low: float | None = None
    applied_high: float | None = None

    def row(self) -> dict[str, object]:
        """The choice as an object."""
        return dict(vars(self))


@dataclass(frozen=True)
class Gain:
    """What settings gained for an operation: at one size, or at all of them together (`bytes` is None)."""

    mpi: str
    operation: str
    ranks: int
    bytes: int | None
    ratio: float  # time with the settings to that without
    low: float | None
    high: float | None
    own: float | None
    time: float | None
    verdict: str  # faster, slower, alike, or undecided
    cadence: str = ""  # how calls followed one another

    def row(self) -> dict[str, Any]:
        return dict(vars(self))


def _gains(change: Change) -> bool:
    """Whether an algorithm is certainly faster."""
    return change.falls and change.high < log1p(-FLOOR)


def _loses(change: Change) -> bool:
    """Whether an algorithm may be slower by more than the floor: a setting must not risk that."""
    return change.low > log1p(FLOOR)


def choose(records: pl.DataFrame) -> list[Chosen]:
    """The best algorithm of each operation and size of each library of a run.

    Raises UsageError where the run forced no algorithm, or a library was measured in several
    ways between which its settings cannot tell; LeadlineError where those that it should force were skipped.
    """
    places = _places(records)
    forced = {place: found for place, found in places.items() if len(_algorithms(found)) > 0}
    if not forced:
        asked = pl.col("collectives").is_not_null() & (pl.col("collectives") != TUNED)
        if reasons := records.filter(asked)["reason"].drop_nulls().to_list():
            raise LeadlineError(
                "no algorithm of a library was measured beside its own choice: "
                + Counter(reasons).most_common(1)[0][0]
            )
        raise UsageError(
            "no algorithm of a library was forced in this run beside its own choice; a plan asks for that "
            'with collectives = ["default", "each"], as the shipped plan tune does'
        )
    _refuse_several(records)
    trials = _trials(forced)
    return [_best(place, forced[place], trials[place]) for place in sorted(forced)]


def choices(chosen: Iterable[Chosen]) -> dict[str, list[Choice]]:
    """What is to be set, by MPI: operations and ranks for which anything but the own choice was found."""
    sizes: dict[tuple[str, str, int], dict[int, str | None]] = {}
    for each in chosen:
        sizes.setdefault((each.mpi, each.operation, each.ranks), {})[each.bytes] = each.algorithm
    found: dict[str, list[Choice]] = {}
    for (mpi, operation, ranks), by_size in sizes.items():
        if any(by_size.values()):
            found.setdefault(mpi, []).append(Choice(operation, ranks, ranges(by_size)))
    return found


def gains(records: pl.DataFrame) -> list[Gain]:
    """What tuned launches gained over those beside them: each operation in all, then size by size."""
    by_operation: dict[tuple[str, str, int, str], list[tuple[int, Series, Series]]] = {}
    for (mpi, operation, ranks, size), variants in sorted(_places(records).items()):
        for series in variants.values():
            if None in series and TUNED in series:
                pair = (size, series[None], series[TUNED])
                by_operation.setdefault(
                    (mpi, operation, ranks, str(series[None].values.get("cadence", ""))), []
                ).append(pair)
    asked: list[tuple[tuple[str, str, int, str], int | None, list[float], list[float]]] = []
    for place, pairs in by_operation.items():
        asked.append(
            (place, None, _typical(own for _, own, _ in pairs), _typical(new for _, _, new in pairs))
        )
        for size, own, new in pairs:
            asked.append((place, size, list(own.medians.values()), list(new.medians.values())))
    changes = within_run([(own, new) for _, _, own, new in asked])
    return [_gain(*each, change) for each, change in zip(asked, changes, strict=True)]


def _gain(
    place: tuple[str, str, int, str],
    size: int | None,
    own: list[float],
    new: list[float],
    change: Change | None,
) -> Gain:
    """The gain that launches show; the times of several sizes together are no times."""
    mpi, operation, ranks, cadence = place
    there = (mpi, operation, ranks, size)
    before, after = (None, None) if size is None else (median(own), median(new))
    if change is None:
        return Gain(*there, median(new) / median(own), None, None, before, after, UNDECIDED, cadence)
    low, high = exp(change.low), exp(change.high)
    near = low >= 1 - ALIKE_WITHIN and high <= 1 + ALIKE_WITHIN
    verdict = FASTER if change.falls else SLOWER if change.rises else ALIKE if near else UNDECIDED
    return Gain(*there, exp(change.shift), low, high, before, after, verdict, cadence)


def _typical(several: Iterable[Series]) -> list[float]:
    """For each launch that all of some points share the geometric mean of its times; in order otherwise."""
    points = list(several)
    shared = set.intersection(*(set(each.medians) for each in points))
    columns = (
        [[each.medians[launch] for launch in sorted(shared)] for each in points]
        if shared
        else [[time for _, time in sorted(each.medians.items())] for each in points]
    )
    return [exp(fsum(map(log, times)) / len(times)) for times in zip(*columns, strict=False)]


def _places(records: pl.DataFrame) -> dict[Place, dict[Variant, dict[str | None, Series]]]:
    """The points of a run: of each place its variants, of each the ways in which it was asked."""
    found: dict[Place, dict[Variant, dict[str | None, Series]]] = {}
    for series in measured(records, CONTEXT):
        context = dict(zip(CONTEXT, series.context, strict=True))
        operation = called(series.operation, series.values)
        ranks = members(series.values.get("communicator"), context["ranks"])
        if operation is None or ranks is None:
            continue
        place = (context["mpi"], operation, ranks, series.bytes or 0)
        variant = (
            *(value for name, value in context.items() if name != "collectives"),
            *sorted((name, str(value)) for name, value in series.values.items()),
        )
        found.setdefault(place, {}).setdefault(variant, {})[context["collectives"]] = series
    return found


def _refuse_several(records: pl.DataFrame) -> None:
    """UsageError where a library was measured over several transports, placements and so on."""
    for name in ONE_OF:
        for mpi, there in records.select("mpi", name).unique().group_by("mpi"):
            values = sorted(str(value) for value in there.get_column(name).to_list())
            if len(values) > 1:
                raise UsageError(
                    f"{mpi[0]} was measured with more than one {name} ({', '.join(values)}); settings hold "
                    f"for one: choose it with --where {name}={values[0]}"
                )


def _algorithms(variants: Mapping[Variant, Mapping[str | None, Series]]) -> list[str]:
    """The algorithms that were forced in some variant beside the library's own choice."""
    return sorted(
        {
            name
            for series in variants.values()
            if None in series
            for name in series
            if name not in (None, TUNED)
        }
    )


def _trials(
    places: Mapping[Place, Mapping[Variant, Mapping[str | None, Series]]],
) -> dict[Place, dict[str, list[Trial]]]:
    """Each algorithm beside the library's own choice in every variant that has both, judged together."""
    asked: list[tuple[Place, str, bool]] = []
    pairs: list[tuple[list[float], list[float]]] = []
    for place, variants in places.items():
        for name in _algorithms(variants):
            for variant, series in variants.items():
                if None in series and name in series:
                    asked.append((place, name, APPLICATION in variant))
                    pairs.append((list(series[None].medians.values()), list(series[name].medians.values())))
    found: dict[Place, dict[str, list[Trial]]] = {place: {} for place in places}
    for (place, name, applied), change in zip(asked, within_run(pairs), strict=True):
        if change is not None:
            found[place].setdefault(name, []).append((applied, change))
    return found


def _best(
    place: Place, variants: Mapping[Variant, Mapping[str | None, Series]], trials: Mapping[str, list[Trial]]
) -> Chosen:
    """The algorithm that gains most, among those that gain somewhere and lose nowhere.

    Where calls between computations were measured too, a gain must be there as well.
    """
    in_loop: dict[str, list[Change]] = {}
    applied: dict[str, list[Change]] = {}
    for name, each in trials.items():
        for between, change in each:
            (applied if between else in_loop).setdefault(name, []).append(change)
    fit = {
        name: changes
        for name, changes in (in_loop or applied).items()
        if any(map(_gains, changes))
        and not any(map(_loses, [*changes, *applied.get(name, [])]))
        and (not applied or any(map(_gains, applied.get(name, []))))
    }
    own = [_median(series[None]) for series in variants.values() if None in series]
    tried = len(_algorithms(variants))
    if not fit:
        return Chosen(*place, None, None, None, None, own[0], own[0], tried)
    name = min(fit, key=lambda each: fsum(change.shift for change in fit[each]) / len(fit[each]))
    least = max(fit[name], key=lambda change: change.shift)  # the variant that gains least is told
    times = [_median(series[name]) for series in variants.values() if name in series]
    ratio, low, high = exp(least.shift), exp(least.low), exp(least.high)
    found = Chosen(*place, name, ratio, low, high, own[0], times[0], tried)
    if not applied:
        return found
    least = max(applied[name], key=lambda change: change.shift)
    shifts = [exp(each) for each in (least.shift, least.low, least.high)]
    return replace(found, applied=shifts[0], applied_low=shifts[1], applied_high=shifts[2])


def _median(series: Series) -> float:
    """The typical time of a point, s."""
    return median(series.medians.values())
