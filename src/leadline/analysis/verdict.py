"""Which of many changes are beyond chance, when launches differ, runs differ, and many points are compared.

One procedure for all of them: `leadline compare` (two runs, or several on a side), the guidelines and the
choice of a library's algorithms (two ways of asking within one run). A value is a launch's median, a change
is the difference of logarithms d = b - a, and a point's change has the model

    d = c + q + e      under "nothing changed at this point"

- **e**, launches: the difference of 20 % trimmed means with its winsorised variance (K. K. Yuen, Biometrika
  61 (1974) 165), which a few slow launches hardly move. Six launches know their variance badly, so each
  point's is moderated with what the variances of all points have in common (G. K. Smyth, Stat. Appl. Genet.
  Mol. Biol. 3 (2004) 3); that is what lets six launches against six be called among fifty points, where a
  rank test's smallest p value cannot reach the corrected level. Serial dependence of launches (drift) widens
  it (`leadline.analysis.dependence`).
- **q**, the point in this run: runs differ point by point more than their launches tell. Several runs on a
  side show by how much; with one run on each side the robust spread of d over the points does, at most
  `POINT_MOST`.
- **c**, the run: a shift that all points share (another day). It is estimated as the median over the other
  points and taken out, but never more than days explain: `RUN_SPREAD` between two single runs, or what
  earlier runs or several on a side show. A machine that is slower everywhere by more than that has changed.

A change stands when its one-sided p value, times the number of points (Bonferroni), is at most `LEVEL`, and
its estimate lies beyond the threshold. bench/parts/verdicts.py counts false failures and power.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from leadline.core.statistics import CONFIDENCE, POWER

Array = NDArray[np.float64]

LEVEL = 0.005  # of a false failure by launches; days have as much again, which is 1 % in all
WITHIN_RUN = 0.05  # of a false change among ways of asking within one run, which can be asked again
LEAST = 4  # launches on either side
TRIM = 0.2  # from either end: the usual choice, which holds against a tenth of wild launches and costs little
RUN_SPREAD = 0.04  # standard deviation of a whole run's shift: runs on different days lie 3 to 4 % apart
POINT_SPREAD = 0.02  # of one point's shift in a run, where there are too few points to see it
POINT_MOST = 0.06  # larger spreads are changes, not days
PRIOR = 0.5  # values that the two stated spreads count for, beside those seen
KNOWN = 8.0  # least degrees of freedom of a point's spread: a stated one is taken as known
TRIMMED_FROM = 16  # launches; of fewer a trimmed mean may miss a second group that one side happened to meet
MAD = 1.4826  # median absolute deviation to standard deviation
MAD_EFFICIENCY = 0.2  # of the variance that it estimates: 0.37 of many points, less in the tails of fifty
MEDIAN_COST = 1.5708  # variance of a median to that of a mean


@dataclass(frozen=True)
class Compared:
    """The launches of one point, as logarithms, a list for each run of a side; a run without it is empty.

    Values taken in turns are given as their differences, in `b` alone.
    """

    a: Sequence[Sequence[float]]
    b: Sequence[Sequence[float]]


@dataclass(frozen=True)
class Change:
    """What the launches of a point say of b - a (logarithms)."""

    shift: float
    own: float  # without the common part that days explain: what the test is about
    size: float  # what is held against a threshold: `own`, or `shift` where all points have changed
    low: float  # ends of the 95 % interval of `shift`, without what all points share
    high: float
    higher: float  # p value, corrected for the number of points, of an increase; at most 1
    lower: float
    detectable: float  # change found with probability POWER; infinite with too few launches
    error: float  # standard error of `own`
    critical: float  # standard errors beyond which a change stands
    level: float  # of a false change among all points

    @property
    def rises(self) -> bool:
        """Whether an increase is beyond chance."""
        return self.higher <= self.level

    @property
    def falls(self) -> bool:
        """Whether a decrease is beyond chance."""
        return self.lower <= self.level

    def chance(self, change: float) -> float:
        """The chance that a change of so much (logarithm) would have been found."""
        return NormalDist().cdf(change / self.error - self.critical) if self.error > 0 else 1.0


@dataclass(frozen=True)
class Common:
    """What all points share."""

    shift: float  # median over the points, logarithm
    explained: float  # the largest common shift that days explain; 0 where both sides are of one run
    point_spread: float  # standard deviation of a point's own shift in a run
    runs: tuple[int, int]
    earlier: int = 0  # earlier runs by which `explained` is known
    error: float = 0.0  # of `shift`, by what launches scatter: as if a launch moved all points alike

    @property
    def changed(self) -> bool:
        """Whether all points moved together by more than days explain."""
        return abs(self.shift) > self.explained

    @property
    def moved(self) -> bool:
        """Whether all points moved together by more than launches scatter."""
        return abs(self.shift) > NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * self.error


def judge(
    points: Sequence[Compared],
    *,
    days: bool = True,
    inflation: tuple[Sequence[float], Sequence[float]] = ((), ()),
    earlier: Sequence[float] = (),
    among: int | None = None,
) -> tuple[list[Change | None], Common]:
    """The change of each point, None with fewer than `LEAST` launches on a side, and what all share.

    `days`: whether the sides were measured in different runs. `inflation`: for each run of a side by how much
    serial dependence widens the variance of its means (1 where there is none). `earlier`: the shift
    (logarithm) of each of some earlier runs against all of them, which shows how much runs differ. `among`:
    the number of points for which p values are corrected, where it is not that of all with enough launches.
    """
    a, b = (
        _Side([getattr(point, name) for point in points], factors)
        for name, factors in zip("ab", inflation, strict=True)
    )
    runs = (a.runs, b.runs)
    counts = [side.launches.sum(axis=1) >= LEAST for side in (a, b) if side.runs]
    enough = np.logical_and.reduce(counts) if counts else np.zeros(len(points), dtype=bool)
    if not enough.any():
        return [None] * len(points), Common(0.0, 0.0, 0.0, runs)
    a, b = a.only(enough), b.only(enough)
    variance, freedom = _moderated([side for side in (a, b) if side.runs])
    shift = b.middle - a.middle
    noise = (a.weight + b.weight) * variance
    terms: list[tuple[Array, Array | float]] = [(noise, freedom)]
    if not days:
        common = Common(float(np.median(shift)), 0.0, 0.0, runs, error=_typical(noise))
        return _changes(enough, (shift, shift, shift), terms, WITHIN_RUN, among), common
    share = a.share + b.share
    spread, spread_freedom = _point_spread((a, b), variance, shift, noise, _restless(earlier))
    terms.append((spread**2 * share, spread_freedom))
    per_run, explained = _run_spread((a, b), noise + spread**2 * share, earlier)
    common = Common(float(np.median(shift)), explained, spread, runs, len(earlier), _typical(noise))
    taken, error = _taken_out(shift, noise + spread**2 * share, per_run * share)
    terms.append((error, inf))
    own = shift - np.clip(taken, -explained, explained)
    shifts = (shift, own, shift if common.changed else own)
    return _changes(enough, shifts, terms, LEVEL, among), common


def _typical(noise: Array) -> float:
    """The standard error of a typical point."""
    return float(np.median(np.sqrt(noise)))


def within_run(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> list[Change | None]:
    """The change from the first to the second of each pair of lists of times, all measured in one run.

    Raises ValueError for a time that is not above zero.
    """
    logs = [[[log(value) for value in side] for side in pair] for pair in pairs]
    return judge([Compared([before], [after]) for before, after in logs], days=False)[0]


class _Side:
    """Trimmed mean, winsorised squares and launches of each point (row) and run (column) of one side."""

    def __init__(self, points: Sequence[Sequence[Sequence[float]]], inflation: Sequence[float]) -> None:
        self.runs = max((len(runs) for runs in points), default=0)
        shape = (len(points), self.runs)
        self.means, self.squares = np.full(shape, np.nan), np.zeros(shape)
        self.kept, self.launches = np.zeros(shape), np.zeros(shape)
        for row, runs in enumerate(points):
            for column, values in enumerate(runs):
                if len(values):
                    found = _trimmed(np.asarray(values, dtype=np.float64))
                    self.means[row, column], self.squares[row, column], self.kept[row, column] = found
                    self.launches[row, column] = len(values)
        self.inflation = np.asarray(inflation or [1.0] * self.runs, dtype=np.float64)

    def only(self, rows: NDArray[np.bool_]) -> "_Side":
        """The side with those points alone."""
        other = _Side([], ())
        other.runs, other.inflation = self.runs, self.inflation
        for name in ("means", "squares", "kept", "launches"):
            setattr(other, name, getattr(self, name)[rows])
        return other

    @property
    def middle(self) -> Array:
        """Each point's mean over its runs; 0 where the differences are all on the other side."""
        return np.nanmean(self.means, axis=1) if self.runs else np.zeros(len(self.means))

    @property
    def share(self) -> Array:
        """1 / runs of each point: how much of a run's variance its mean has."""
        measured = (self.kept > 0).sum(axis=1)
        return 1 / measured if self.runs else np.zeros(len(self.means))

    @property
    def weight(self) -> Array:
        """Variance of `middle` for launches of variance 1."""
        if not self.runs:
            return np.zeros(len(self.means))
        each = np.where(self.kept > 0, self.inflation / np.maximum(self.kept, 1), 0.0)
        return np.asarray(each.sum(axis=1) * self.share**2)


def _trimmed(values: Array) -> tuple[float, float, float]:
    """Trimmed mean, squared deviations of the winsorised values scaled to those of the kept, number kept."""
    ordered = np.sort(values)
    cut = int(TRIM * values.size) if values.size >= TRIMMED_FROM else 0
    kept = values.size - 2 * cut
    winsorised = np.clip(ordered, ordered[cut], ordered[-cut - 1])
    squares = float(((winsorised - winsorised.mean()) ** 2).sum())
    return float(ordered[cut : values.size - cut].mean()), squares, float(kept)


def _moderated(sides: Sequence[_Side]) -> tuple[Array, Array]:
    """Variance of a launch (as Yuen scales it) at each point, drawn to what all share; its freedom."""
    freedom = sum(np.maximum(side.kept - 1, 0).sum(axis=1) for side in sides)
    return moderated(sum(side.squares.sum(axis=1) for side in sides) / freedom, freedom)


def moderated(raw: Array, freedom: Array) -> tuple[Array, Array]:
    """Variances with so many degrees of freedom, drawn to what all of them share; their freedom then.

    Fewer than three that are above zero share nothing, and stay as they are.
    """
    from scipy.special import digamma, polygamma  # noqa: PLC0415  (0.1 s to import)

    positive = raw > 0
    if positive.sum() < 3:
        return np.maximum(raw, 1e-24), freedom
    half = freedom[positive] / 2
    logs = np.log(raw[positive]) - digamma(half) + np.log(half)
    low, high = np.quantile(logs, (0.1, 0.9))
    middle = float(np.clip(logs, low, high).mean())
    excess = float(((logs - middle) ** 2).sum() / (logs.size - 1) - polygamma(1, half).mean())
    prior = _inverse_trigamma(excess) * 2 if excess > 1e-3 else 1e3
    typical = np.exp(middle + digamma(prior / 2) - np.log(prior / 2))
    return (prior * typical + freedom * raw) / (prior + freedom), prior + freedom


def _inverse_trigamma(value: float) -> float:
    """Where trigamma is `value`, by Newton's method on 1 / trigamma (Smyth's appendix)."""
    from scipy.special import polygamma  # noqa: PLC0415

    x = 0.5 + 1 / value
    for _ in range(30):
        there = polygamma(1, x)
        x += there * (1 - there / value) / polygamma(2, x)
    return float(x)


def _restless(earlier: Sequence[float]) -> float:
    """How many times as far as stated earlier runs of this machine differ, 1 or more."""
    return max(1.0, float(np.std(earlier, ddof=1)) / RUN_SPREAD) if len(earlier) > 1 else 1.0


def _point_spread(
    sides: Sequence[_Side], variance: Array, shift: Array, noise: Array, restless: float
) -> tuple[float, float]:
    """Standard deviation of a point's own shift in one run, and its degrees of freedom.

    Where runs differ `restless` times as much as stated, so do their points: what moves a machine does not
    move all of them alike.
    """
    several = [side for side in sides if side.runs > 1]
    if several:
        found, expected = [], []
        for side in several:
            own = side.means - np.nanmean(side.means, axis=1, keepdims=True)
            own = own - np.nanmedian(own, axis=0, keepdims=True)
            there = np.isfinite(own)
            lost = (side.runs - 1) / side.runs
            found.append(own[there] / lost**0.5)
            expected.append((variance[:, None] * side.inflation / np.maximum(side.kept, 1))[there])
        deviations, errors = np.concatenate(found), np.concatenate(expected)
        freedom = MAD_EFFICIENCY * (deviations.size - shift.size)
        share = 1.0
    else:
        deviations, errors = shift - np.median(shift), noise
        freedom = MAD_EFFICIENCY * (shift.size - 1)
        share = float(np.median(sides[0].share + sides[1].share))
    seen = _excess(deviations, errors) / share if deviations.size > 2 else 0.0
    stated, most = (restless * POINT_SPREAD) ** 2, (restless * POINT_MOST) ** 2
    both = (PRIOR * stated + freedom * min(seen, most)) / (PRIOR + freedom)
    return float(both) ** 0.5, max(KNOWN, PRIOR + freedom)


def _excess(deviations: Array, errors: Array) -> float:
    """The variance beyond `errors` that makes the standardised deviations have the median of a normal's."""
    low, high = 0.0, float(np.max(deviations**2))
    if MAD * np.median(np.abs(deviations) / np.sqrt(errors)) <= 1:
        return 0.0
    for _ in range(40):
        middle = (low + high) / 2
        wide = MAD * np.median(np.abs(deviations) / np.sqrt(errors + middle)) > 1
        low, high = (middle, high) if wide else (low, middle)
    return (low + high) / 2


def _run_spread(sides: tuple[_Side, _Side], variance: Array, earlier: Sequence[float]) -> tuple[float, float]:
    """Variance of a whole run's shift, and the largest common shift that days explain."""
    from scipy.special import stdtrit  # noqa: PLC0415

    squares, freedom = PRIOR * RUN_SPREAD**2, PRIOR
    if len(earlier) > 1:
        squares += float(np.var(earlier)) * len(earlier)
        freedom += len(earlier) - 1
    for side in sides:
        if side.runs > 1:
            by_run = np.nanmedian(side.means - np.nanmean(side.means, axis=1, keepdims=True), axis=0)
            squares += float((by_run**2).sum())
            freedom += side.runs - 1
    # What is stated of single runs is taken as known; what a few runs show is not.
    several = freedom > PRIOR
    quantile = float(stdtrit(freedom, 1 - LEVEL)) if several else NormalDist().inv_cdf(1 - LEVEL)
    per_run = squares / freedom
    share = float(np.median(sides[0].share + sides[1].share))
    known = MEDIAN_COST / float((1 / variance).sum())
    return per_run, quantile * (per_run * share + known) ** 0.5


def _taken_out(shift: Array, variance: Array, days: Array) -> tuple[Array, Array]:
    """The common shift as all other points show it, drawn to none where few do; and the variance of that."""
    if shift.size == 1:
        return np.zeros(1), days
    known = MEDIAN_COST / ((1 / variance).sum() - 1 / variance)
    weight = days / (days + known)
    return weight * _others_median(shift), weight * known


def _others_median(values: Array) -> Array:
    """For each value the median of all others."""
    ordered = np.sort(values)
    ranks = np.empty(values.size, dtype=np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(values.size)
    low, high = (values.size - 2) // 2, (values.size - 1) // 2
    return np.asarray((ordered[low + (ranks <= low)] + ordered[high + (ranks <= high)]) / 2)


def _changes(
    enough: NDArray[np.bool_],
    shifts: tuple[Array, Array, Array],
    terms: Sequence[tuple[Array, Array | float]],
    level: float,
    among: int | None,
) -> list[Change | None]:
    """Changes at the points with enough launches, from the parts of their variance and their freedoms.

    `shifts` are `Change`'s shift, own and size; the parts are launches, the point in its run, what all share.
    """
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415

    shift, own, size = shifts
    count = max(1, own.size if among is None else among)

    error, freedom = _sum(terms)
    point_error, point_freedom = _sum(terms[:2])
    higher, lower = (np.minimum(1.0, count * stdtr(freedom, -sign * own / error)) for sign in (1, -1))
    critical = stdtrit(freedom, 1 - level / count)
    reach = stdtrit(point_freedom, (1 + CONFIDENCE) / 2) * point_error
    detectable = np.expm1((critical + NormalDist().inv_cdf(POWER)) * error)
    columns = (shift, own, size, shift - reach, shift + reach, higher, lower, detectable, error, critical)
    rows = iter(zip(*columns, strict=True))
    return [Change(*map(float, (*next(rows), level))) if one else None for one in enough]


def _sum(terms: Sequence[tuple[Array, Array | float]]) -> tuple[Array, Array]:
    """Standard error of a sum of variances, and its degrees of freedom (Welch and Satterthwaite)."""
    total = np.asarray(sum(part for part, _ in terms))
    return np.sqrt(total), np.asarray(total**2 / sum(part**2 / freedom for part, freedom in terms))
