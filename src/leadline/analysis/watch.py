"""Has a watched machine changed, point by point, since the runs that were accepted as its baseline?

The sample is the run, for runs on different days differ by more than their launches show. A value is the
logarithm of a point's median in a run, larger is slower. The first `BASELINE` runs are the baseline; a later
run's deviation d from its mean has the model

    d = c + q      c: what all points of that run share (a day), q: the point in that run, launches included

- **q**: its standard deviation is that of the baseline's runs, or that of differences of all neighbouring
  runs where they show more, moderated with what all points have in common
  (`leadline.analysis.verdict.moderated`), and larger where a run's own launches are farther apart than those
  of the baseline. Runs that resemble the run before, as all points together show, count as fewer.
- **c**: the median over the points, where there are `SHARED` or more, is taken out of each point and judged
  as a series of its own.
- A **shift** is sought in the mean of the newest 3, 5, 8, ... runs. Deviations are cut a little beyond what
  that mean must reach, so that one wild run never calls a change: it is suspected, and the next runs decide.
- A **drift** is the slope of all runs over days, named as such where a line lies closer to the runs than a
  step does.

A p value is multiplied by the number of series and of windows (Bonferroni) and held against `LEVEL`, a run's
chance of a false alarm in either direction; the estimate must also lie beyond the threshold. The dates of
changes come from `ruptures` (C. Truong et al., Signal Process. 167 (2020) 107299; PELT: R. Killick et
al., J. Am. Stat. Assoc. 107 (2012) 1590).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import expm1, log1p
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from leadline.analysis.verdict import moderated
from leadline.core.statistics import CONFIDENCE

Array = NDArray[np.float64]

BASELINE = 14  # runs: each day of the week twice, and a standard deviation within a fifth
LEAST = 5  # runs of a baseline that is chosen shorter
THRESHOLD = 0.02  # relative change that matters
LEVEL = 0.002  # of a false alarm in one run, by chance alone
WINDOWS = (3, 5, 8, 13, 21)  # newest runs whose mean is judged
CUT = 1.3  # how far one run counts at most: times the mean that would be called a change
MOST = 0.6  # of that mean, which all but a fifth of the runs must reach
WILD = 3.0  # standard deviations that a run always counts
ALONE = 0.9  # probability that a mean is called; 80 % and more are left where its runs must reach MOST, too
SHARED = 8  # points from which on their median tells what they share
TREND = 8  # runs after the baseline, and days, that a drift needs
STEP = 0.6  # of what a line leaves: a step that leaves less is one
PENALTY = 12.0  # squared standard deviations that a change point must explain

REGRESSION, IMPROVEMENT, DRIFT = "regression", "improvement", "drift"
SUSPECTED, UNCHANGED, ABSENT = "suspected", "unchanged", "not measured"
UNJUDGED = "not judged"  # too few runs are known


@dataclass(frozen=True)
class Finding:
    """What the runs say of one series: a point, or what all points share."""

    verdict: str
    change: float | None  # of the newest runs against the baseline, relative time: 0.05 is 5 % slower
    low: float | None  # ends of its 95 % interval, which covers launches and days
    high: float | None
    chance: float | None  # p value among all series and windows, at most 1
    detectable: float | None  # change found within 3 runs with probability 80 %, or a little more
    window: int  # newest runs that `change` is the mean of
    since: int | None = None  # the first run (row) of the change or of the drift
    rate: float | None = None  # of a drift, relative change a day
    worse: bool = False

    @property
    def bad(self) -> bool:
        """Whether a check fails for it: slower, at once or by and by."""
        return self.worse and self.verdict in (REGRESSION, DRIFT)


@dataclass(frozen=True)
class Assessment:
    """The findings of all points, in order; and of what they share, where there are enough of them."""

    points: list[Finding]
    shared: Finding | None
    own: Array  # (runs, points) deviations from the baseline without the shared part, logarithms
    together: Array  # (runs,) the shared part
    correlation: float  # of a run with the run before


class _Frame:
    """One matrix of series, (runs, series), with what its baseline shows."""

    def __init__(self, values: Array, errors: Array, baseline: int, correlation: float) -> None:
        self.runs, self.series = values.shape
        self.baseline, self.correlation = baseline, correlation
        before = values[:baseline]
        self.count = np.isfinite(before).sum(axis=0)
        middle = _median(before, axis=0)
        raw = np.nanvar(before, axis=0, ddof=1)
        # All runs count where they show more than the baseline's few. A step is one difference: the largest
        # is left out, or a change would hide itself.
        steps = np.sort(np.diff(values, axis=0) ** 2, axis=0)  # NaN last
        there = np.isfinite(steps).sum(axis=0)
        steps[np.arange(len(steps))[:, None] >= there - 1] = 0.0
        raw = np.fmax(raw, steps.sum(axis=0) / np.maximum(there - 1, 1) / 2 / (1 - correlation))
        variance, self.freedom = moderated(raw, np.maximum(self.count - 1.0, 1.0))
        # Runs that resemble each other lie closer together than independent ones.
        lost = 1 - self.inflated(baseline)
        self.variance = variance * (baseline - 1) / baseline / lost
        self.sigma = np.sqrt(self.variance)
        cut = WILD * self.sigma
        centre = middle + np.nanmean(np.clip(before - middle, -cut, cut), axis=0)
        self.deviations = values - centre
        of_baseline = (errors[:baseline] ** 2).mean(axis=0)
        self.extra = np.maximum(errors**2 - of_baseline, 0.0)

    def inflated(self, runs: int) -> float:
        """The variance of the mean of so many neighbouring runs, for runs of variance 1."""
        lags = np.arange(1, runs)
        return float((runs + 2 * ((runs - lags) * self.correlation**lags).sum()) / runs**2)

    def error(self, window: int) -> Array:
        """The standard error of the difference between the newest runs and the baseline."""
        each = self.variance * (self.inflated(window) + self.inflated(self.baseline))
        return np.asarray(np.sqrt(each + self.extra[-window:].mean(axis=0) / window))

    def mean(self, window: int, called: Array | None = None) -> Array:
        """Mean deviation of the newest runs, NaN where one of them lacks the point.

        `called`: the mean at which a change is called, by which one run's part of it is limited.
        """
        newest = self.deviations[-window:]
        if called is not None:
            reach = np.maximum(CUT * called, WILD * self.sigma)
            newest = np.clip(newest, -reach, reach)
        return np.asarray(newest.mean(axis=0))

    def reached(self, window: int) -> Array:
        """How far all but a fifth of the newest runs are to the side of their mean."""
        newest = self.deviations[-window:]
        towards = np.sort(newest * np.sign(newest.mean(axis=0)), axis=0)
        return np.asarray(towards[window // 5])

    def smoothed(self) -> Array:
        """The deviations without wild runs: cut around the median of five neighbours."""
        padded = np.pad(self.deviations, ((2, 2), (0, 0)), mode="edge")
        around = _median(np.stack([padded[k : k + self.runs] for k in range(5)]), axis=0)
        reach = WILD * self.sigma
        return np.asarray(around + np.clip(self.deviations - around, -reach, reach))


def assess(  # noqa: PLR0917
    values: Array,
    days: Sequence[float],
    baseline: int,
    threshold: float = THRESHOLD,
    errors: Array | None = None,
    level: float = LEVEL,
) -> Assessment:
    """Judge the newest of some runs, row by row the logarithms of each point's time; NaN: not measured.

    `days` has the day of each run (ascending), `baseline` how many of the first are the baseline, `errors`
    the standard errors that each run's launches give its values. Raises ValueError with fewer than `LEAST`
    runs in the baseline or none after it.
    """
    runs, points = values.shape
    if not LEAST <= baseline < runs:
        raise ValueError(
            f"{LEAST} runs of a baseline and one after it are needed, but got {baseline} of {runs}"
        )
    errors = np.zeros_like(values) if errors is None else np.nan_to_num(errors)
    known = np.isfinite(values[:baseline]).sum(axis=0) >= LEAST
    usable = known & np.isfinite(values[-1])
    together = np.zeros(runs)
    shares = usable.sum() >= SHARED
    if shares:
        some = values[:, usable]
        together = _median(some - _median(some[:baseline], axis=0), axis=1)
        together -= together[:baseline].mean()
    own = values - together[:, None]
    correlation = _correlation(own[:, usable]) if usable.any() else 0.0
    tests = int(usable.sum()) + int(shares)
    shared = None
    if shares:
        frame = _Frame(together[:, None], np.zeros((runs, 1)), baseline, _correlation(together[:, None]))
        shared = _judged(frame, days, threshold, level, tests)[0]
    findings = [Finding(ABSENT, None, None, None, None, None, 0)] * points
    if usable.any():
        frame = _Frame(own[:, usable], errors[:, usable], baseline, correlation)
        moved = shared if shared is not None and shared.verdict in (REGRESSION, IMPROVEMENT, DRIFT) else None
        for place, finding in zip(
            np.flatnonzero(usable), _judged(frame, days, threshold, level, tests), strict=True
        ):
            findings[place] = _beside(finding, moved, threshold)
    centred = own - _median(own[:baseline], axis=0)
    return Assessment(findings, shared, centred, together, correlation)


def _correlation(own: Array) -> float:
    """How much a run resembles the run before, over all series: of what is left of them beside a line or,
    where that is far less, beside a step, which would else pass for runs that resemble each other.

    A line that is fitted to n values takes about (2 + 4 r) / n of a correlation r out of them.
    """
    runs = len(own)
    filled = np.where(np.isfinite(own), own, _median(own, axis=0))
    x = np.arange(runs) - (runs - 1) / 2
    centred = filled - filled.mean(axis=0)
    left = centred - np.outer(x, x @ filled) / (x @ x)
    beside = _beside_step(centred)
    left = np.where((beside**2).sum(axis=0) < STEP * (left**2).sum(axis=0), beside, left)
    squares = (left**2).sum(axis=0)
    if not (squares > 0).any():
        return 0.0
    some = left[:, squares > 0]
    found = float(((some[1:] * some[:-1]).sum(axis=0) / squares[squares > 0]).mean())
    return min(max(found + (2 + 4 * max(found, 0.0)) / runs, 0.0), 0.8)


def _beside_step(centred: Array) -> Array:
    """What is left of series of mean 0, each beside the step that leaves least, 2 runs from its ends."""
    runs = len(centred)
    sums = np.cumsum(centred, axis=0)[1:-2]  # of the runs before each place
    before = np.arange(2, runs - 1)[:, None]
    place = np.argmax(sums**2 * (1 / before + 1 / (runs - before)), axis=0)
    at = np.arange(runs)[:, None] < place + 2
    first, last = (np.where(side, centred, 0).sum(axis=0) / side.sum(axis=0) for side in (at, ~at))
    return np.asarray(centred - np.where(at, first, last))


def _judged(
    frame: _Frame, days: Sequence[float], threshold: float, level: float, tests: int
) -> list[Finding]:
    """The finding of each series of a frame among so many tests."""
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415  (0.1 s to import)

    after = frame.runs - frame.baseline
    windows = [window for window in WINDOWS if window <= after]
    best = np.full(frame.series, 1.0)
    chosen = np.ones(frame.series, dtype=np.int64)
    critical = stdtrit(frame.freedom, 1 - level / 2 / tests / max(1, len(windows)))
    for window in windows:
        error = frame.error(window)
        statistic = np.abs(frame.mean(window, critical * error)) / error
        chance = 2 * stdtr(frame.freedom, -statistic) * len(windows) * tests
        most = frame.reached(window) >= MOST * critical * error
        better = np.isfinite(chance) & (chance < best) & most
        best, chosen = np.where(better, chance, best), np.where(better, window, chosen)
    alone = 2 * stdtr(frame.freedom, -np.abs(frame.mean(1)) / frame.error(1)) * tests
    slopes, trend = _trend(frame, days, tests)
    reach = stdtrit(frame.freedom, (1 + CONFIDENCE) / 2)
    three = frame.error(min(3, max(after, 1)))
    margin = NormalDist().inv_cdf(ALONE)
    detectable = np.maximum((critical + margin) * three, log1p(threshold) + margin * three)
    smooth = frame.smoothed()
    means = {window: frame.mean(window) for window in (1, *windows)}
    errors = {window: frame.error(window) for window in (1, *windows)}
    findings = []
    error_of = {window: each.tolist() for window, each in errors.items()}
    for place in range(frame.series):
        window = int(chosen[place])
        shift, away = float(means[window][place]), float(reach[place]) * error_of[window][place]
        slope, span = float(slopes[place]), float(days[-1] - days[0])
        newest = float(frame.deviations[-1, place])
        drifts = trend[place] <= level and abs(slope * span) > log1p(threshold)
        shifts = best[place] <= level and _beyond(shift, threshold)
        series = smooth[:, place] / float(frame.sigma[place])
        line = (drifts or shifts) and len(days) >= frame.baseline + TREND and _is_line(series, days)
        found = Finding(
            UNCHANGED,
            *(expm1(shift), expm1(shift - away), expm1(shift + away)),
            min(1.0, float(best[place])),
            expm1(float(detectable[place])),
            window,
        )
        if drifts and line:
            rate, worse = expm1(slope), slope > 0
            found = replace(found, verdict=DRIFT, chance=float(trend[place]), since=0, rate=rate, worse=worse)
        elif shifts:
            verdict = REGRESSION if shift > 0 else IMPROVEMENT
            since = change_point(series, frame.baseline)
            found = replace(found, verdict=verdict, since=since, worse=shift > 0)
        elif alone[place] <= level and _beyond(newest, threshold):
            found = replace(found, verdict=SUSPECTED, chance=float(alone[place]), worse=newest > 0)
        findings.append(found)
    return findings


def _median(values: Array, axis: int = 0) -> Array:
    """The median along an axis of what is not NaN; NaN where nothing is."""
    if np.isfinite(values).all():
        return np.asarray(np.median(values, axis=axis))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of what is NaN all along
        return np.asarray(np.nanmedian(values, axis=axis))


def _beyond(shift: float, threshold: float) -> bool:
    """Whether a change (logarithm) is larger than the relative one that matters."""
    return shift > log1p(threshold) or shift < log1p(-threshold)


def _beside(finding: Finding, moved: Finding | None, threshold: float) -> Finding:
    """A point's finding where all points together have moved: only what it did beyond that is its own.

    With a shared change the rest may seem to have moved the other way: then the point itself has not changed.
    """
    if moved is None or moved.change is None or finding.change is None:
        return finding
    total = log1p(finding.change) + log1p(moved.change)
    if finding.verdict in (REGRESSION, IMPROVEMENT, DRIFT, SUSPECTED) and (
        not _beyond(total, threshold) or (total > 0) != (finding.change > 0)
    ):
        return replace(finding, verdict=UNCHANGED, since=None, rate=None, worse=False)
    return finding


def _trend(frame: _Frame, days: Sequence[float], tests: int) -> tuple[Array, Array]:
    """The slope of each series (logarithm a day) and its p value among all tests; 1 with too few days."""
    from scipy.special import stdtr  # noqa: PLC0415

    none = np.zeros(frame.series), np.ones(frame.series)
    x = np.asarray(days, dtype=np.float64)
    if frame.runs < frame.baseline + TREND or x[-1] - x[0] < TREND:
        return none
    series = frame.smoothed()
    there = np.isfinite(series)
    number = there.sum(axis=0)
    centred = np.where(there, x[:, None] - (there * x[:, None]).sum(axis=0) / number, 0.0)
    squares = (centred**2).sum(axis=0)
    slope = (centred * np.where(there, series, 0.0)).sum(axis=0) / squares
    correlation = frame.correlation
    error = frame.sigma * np.sqrt((1 + correlation) / (1 - correlation) / squares)
    chance = 2 * stdtr(frame.freedom, -np.abs(slope) / error) * tests
    return slope, np.where(np.isfinite(chance), chance, 1.0)


def _is_line(series: Array, days: Sequence[float]) -> bool:
    """Whether a line lies closer to a series than a step anywhere does."""
    there = np.isfinite(series)
    y, x = series[there], np.asarray(days, dtype=np.float64)[there]
    slope, height = np.polyfit(x - x.mean(), y, 1)
    line = float(((y - height - slope * (x - x.mean())) ** 2).sum())
    steps = [
        float(((y[:cut] - y[:cut].mean()) ** 2).sum() + ((y[cut:] - y[cut:].mean()) ** 2).sum())
        for cut in range(2, y.size - 1)
    ]
    return line < min(steps)


def change_points(series: Array) -> list[int]:
    """The first run of each new level of a series in standard deviations; NaN is passed over.

    A level lasts two runs or more.
    """
    import ruptures  # noqa: PLC0415  (imports parts of scipy)

    there = np.flatnonzero(np.isfinite(series))
    if there.size < 4:
        return []
    ends = ruptures.Pelt(model="l2", min_size=2, jump=1).fit(series[there]).predict(pen=PENALTY)
    return [int(there[end]) for end in ends[:-1]]


def change_point(series: Array, baseline: int) -> int:
    """The first run of the level that the newest runs are at; never one of the baseline's first two."""
    found = change_points(series)
    if found:
        return found[-1]
    there = np.flatnonzero(np.isfinite(series))
    y = series[there]
    costs = {
        cut: float(((y[:cut] - y[:cut].mean()) ** 2).sum() + ((y[cut:] - y[cut:].mean()) ** 2).sum())
        for cut in range(2, y.size - 1)
    }
    return int(there[min(costs, key=costs.__getitem__)]) if costs else baseline
