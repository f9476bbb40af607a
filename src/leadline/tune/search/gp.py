"""Bayesian optimisation with a Gaussian process that knows of noise.

The logarithm of the time is a Gaussian process over the coordinates of the space (Matérn 3/2, a length scale
of its own for each coordinate) plus noise of unknown size, fitted by scikit-learn. What is asked for next has
the largest expected improvement over the best that the process believes in, not over the luckiest sample
(Picheny, Wagner, Ginsbourger: A benchmark of kriging-based infill criteria for noisy optimization, 2013, the
"plug-in"). The space is discrete, so the improvement is reckoned for every point; for a space too large to
write out, for points drawn at random and the neighbours of the best. Failures count as slow as the slowest,
with a margin.
"""

import math
import warnings

import numpy as np
from scipy.stats import norm, qmc

from leadline.tune.search._driver import Steps, Task
from leadline.tune.search._space import Floats, Index, as_index

QUESTION = "Where does a model of the times so far, with their noise, expect the most?"

FIRST = 4  # points before there is a model; with fewer length scales mean nothing
_DRAWN = 2_000  # candidates where the space cannot be written out
_MARGIN = 0.7  # of a failure above the slowest success, in logarithms: twice as slow
_NOISE = (1e-4, 0.25)  # bounds of the variance of noise, in parts of the variance of what was seen


def search(task: Task) -> Steps:
    """A few points spread over the space, then one after another where the model expects the most."""
    times = dict(task.known)
    if len(times) < FIRST:
        advised = [task.space.start] if task.space.start else []
        spread = _spread(task, FIRST - len(advised))
        first = [each for each in dict.fromkeys([*advised, *spread]) if each not in times]
        times.update(zip(first, (yield first), strict=True))
    while (chosen := _next(task, times)) is not None:
        (times[chosen],) = yield [chosen]


def _spread(task: Task, count: int) -> list[Index]:
    """Different points that lie far apart: those nearest to a scrambled Sobol' sequence."""
    candidates = _candidates(task, {})
    if not candidates:
        return []
    places = np.array(candidates) / np.maximum(1, np.array(task.space.shape) - 1)
    sequence = qmc.Sobol(places.shape[1], seed=task.rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # balance of a power of two is of no use here
        wanted = sequence.random(count)
    nearest = [candidates[int(np.argmin(((places - one) ** 2).sum(axis=1)))] for one in wanted]
    return list(dict.fromkeys(nearest))


def _candidates(task: Task, times: dict[Index, float]) -> list[Index]:
    """The points that may be asked for next."""
    if task.space.enumerable:
        every = list(map(as_index, task.space.points))
    else:
        drawn = task.space.draw(task.rng, _DRAWN)
        near = task.space.neighbours(min(times, key=lambda one: times[one])) if times else ()
        every = list(dict.fromkeys([*drawn, *near]))
    return [each for each in every if each not in times]


def _next(task: Task, times: dict[Index, float]) -> Index | None:
    """The candidate of the largest expected improvement; None where there is no candidate left."""
    candidates = _candidates(task, times)
    if not candidates:
        return None
    seen = _logarithms(list(times.values()))
    if seen is None or np.ptp(seen) == 0:
        return candidates[int(task.rng.integers(len(candidates)))]
    x, at = task.space.coordinates(list(times)), task.space.coordinates(candidates)
    believed, mean, deviation = _model(x, seen, at)
    gain = believed.min() - mean
    ratio = gain / np.maximum(deviation, 1e-12)
    improvement = gain * norm.cdf(ratio) + deviation * norm.pdf(ratio)
    return candidates[int(np.argmax(improvement))]


def _logarithms(times: list[float]) -> Floats | None:
    """Times as the model sees them, mean 0 and deviation 1; None where nothing succeeded."""
    good = np.log([time for time in times if math.isfinite(time)])
    if not len(good):
        return None
    worst = good.max() + _MARGIN
    seen = np.array([math.log(time) if math.isfinite(time) else worst for time in times])
    return np.asarray((seen - seen.mean()) / (seen.std() or 1.0))


def _model(x: Floats, y: Floats, at: Floats) -> tuple[Floats, Floats, Floats]:
    """What the process believes of the points seen, and mean and deviation at the others."""
    # A second to import, and only this method needs it.
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415
    from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: PLC0415
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel  # noqa: PLC0415
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    matern = Matern(np.full(x.shape[1], 0.7), length_scale_bounds=(0.2, 5.0), nu=1.5)
    process = GaussianProcessRegressor(ConstantKernel(1.0, (0.3, 30.0)) * matern + WhiteKernel(0.01, _NOISE))
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # a length at its bound: that axis does not matter
        with threadpool_limits(1):  # matrices of some tens of rows: threads only wait for each other
            process.fit(x, y)
            mean, deviation = process.predict(at, return_std=True)
            believed = process.predict(x)
    noise = process.kernel_.k2.noise_level
    return believed, mean, np.sqrt(np.maximum(deviation**2 - noise, 1e-12))
