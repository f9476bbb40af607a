"""Pieces of straight lines, T(n) = latency_i + n / bandwidth_i, that break where the protocol switches.

The number and place of the breaks are chosen by an information criterion (`criterion`) from the best
partition for each number (`segments`, exact). Weights are 1/T^2: a residual counts as a share of the time,
so 0.3 us at 8 B count like 3 ms at 256 MiB, else all breaks would be sought among the largest messages.
Pieces need not meet: a library that switches from eager to rendezvous adds a handshake, and the time jumps.

A break is known to lie after the last size of one piece and up to the first of the next: that is the least
its interval can be, and its value is their geometric mean. A break may also be the end of a cache, which
looks alike.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.criterion import criterion, line_parameters, squares
from leadline.analysis.fits import SWITCH, Fit, Parameter
from leadline.analysis.segments import SHORTEST, costs, lines, partitions
from leadline.analysis.series import Series, pingpong
from leadline.core.units import format_bytes

QUESTION = "At which sizes does the protocol switch, and what do latency and bandwidth become?"

Array = NDArray[np.float64]
Index = NDArray[np.int64]

MOST = 6  # pieces: three protocols and three levels of cache
FEWEST_TO_BREAK = (
    12  # with fewer sizes the criterion breaks straight lines more often than one time in twenty
)


def pieces_of(x: Array, y: Array, most: int = MOST) -> Index:
    """Index of the first size of each piece, under the number of pieces that the criterion prefers."""
    most = most if x.size >= FEWEST_TO_BREAK else 1
    found = partitions(costs(x[None], y[None]), most)
    best = min(range(len(found)), key=lambda k: criterion(float(found[k][0][0]), x.size, k + 1))
    starts: Index = found[best][1][0]
    return starts


def switch_places(x: Array, starts: Index) -> Array:
    """Where one piece gives way to the next, (D, pieces - 1) from (D, S) sizes: geometric mean of the two
    sizes.
    """
    rows = np.arange(len(x))[:, None]
    later = starts[:, 1:]
    return np.asarray(np.sqrt(x[rows, later - 1] * x[rows, later]), dtype=np.float64)


def evaluate(at: Array, latencies: Array, slopes: Array, switches: Array) -> Array:
    """The model of one data set at sizes `at`."""
    piece = np.searchsorted(switches, np.asarray(at, dtype=np.float64))
    return np.asarray(latencies[piece] + slopes[piece] * at, dtype=np.float64)


def fit(records: pl.DataFrame) -> Iterator[Fit]:
    """One fit for each ping-pong series of at least 3 sizes; breaks are sought from 12 sizes on."""
    for source in pingpong(records, fewest=SHORTEST):
        yield _fit(source)


def _fit(source: Series) -> Fit:
    """The fit of one series."""
    x, y = source.sizes, source.typical
    starts = pieces_of(x, y)
    latencies, slopes = (each[0] for each in lines(x[None], y[None], starts[None]))
    switches = switch_places(x[None], starts[None])[0]

    def predict(sizes: Array) -> Array:
        return evaluate(np.asarray(sizes, dtype=np.float64), latencies, slopes, switches)

    parameters, notes = _parameters(source, starts)
    if x.size < FEWEST_TO_BREAK:
        notes.append(f"{x.size} sizes: breaks are sought from {FEWEST_TO_BREAK} sizes on")
    return Fit(
        name="piecewise",
        question=QUESTION,
        series=source.keys,
        parameters=parameters,
        predict=predict,
        x=x,
        y=y,
        residuals=y - predict(x),
        criterion=criterion(squares(y, predict(x)), x.size, starts.size),
        holdout=_holdout(x, y, starts.size),
        notes=[*notes, *source.notes()],
    )


def _parameters(source: Series, starts: Index) -> tuple[list[Parameter], list[str]]:
    """Line parameters of each piece and the switches between, with intervals; and notes on the pieces."""
    x, y, draws = source.sizes, source.typical, source.draws
    many = np.broadcast_to(x, draws.shape)
    drawn_starts = partitions(costs(many, draws), starts.size)[-1][1]
    latencies, slopes = lines(x[None], y[None], starts[None])
    drawn_latencies, drawn_slopes = lines(many, draws, drawn_starts)
    parameters: list[Parameter] = []
    notes: list[str] = []
    ends = [*starts[1:], x.size]
    for i, (first, end) in enumerate(zip(starts, ends, strict=True)):
        piece = f", piece {i + 1}" if starts.size > 1 else ""
        drawn = (drawn_latencies[:, i], drawn_slopes[:, i])
        found = line_parameters(source, float(latencies[0, i]), float(slopes[0, i]), *drawn)
        low, _ = source.interval(drawn[1])
        span = f"{format_bytes(int(x[first]))} to {format_bytes(int(x[end - 1]))}"
        flat = slopes[0, i] <= 0 or (low is not None and low <= 0)
        if flat:
            notes.append(f"{span}: the slope cannot be distinguished from zero, so there is no bandwidth")
            found = found[:1]
        if piece:
            notes.append(f"piece {i + 1}: {span}")
            found = found[:2]
        parameters += [Parameter(f"{p.name}{piece}", p.value, p.low, p.high, p.unit, p.flag) for p in found]
    return [*parameters, *_switches(source, starts, drawn_starts)], notes


def _switches(source: Series, starts: Index, drawn: Index) -> list[Parameter]:
    """The breaks as parameters: from the last size of a piece in the lowest draws to the first in the
    highest.
    """
    x = source.sizes
    found = []
    for i, place in enumerate(switch_places(x[None], starts[None])[0], 1):
        low, _ = source.interval(x[drawn[:, i] - 1])
        _, high = source.interval(x[drawn[:, i]])
        last, first = float(x[starts[i] - 1]), float(x[starts[i]])
        low, high = (
            min(last, low if low is not None else last),
            max(first, high if high is not None else first),
        )
        found.append(Parameter(f"{SWITCH} {i}", float(place), low, high, "B"))
    return found


def _holdout(x: Array, y: Array, pieces: int) -> float | None:
    """Median relative error at a size left out, with the same number of pieces laid anew: all sizes at
    once.
    """
    if x.size - 1 < SHORTEST * pieces:
        return None
    rest = np.array([np.delete(np.arange(x.size), i) for i in range(x.size)])
    sizes, times = x[rest], y[rest]
    starts = partitions(costs(sizes, times), pieces)[pieces - 1][1]
    latencies, slopes = lines(sizes, times, starts)
    switches = switch_places(sizes, starts)
    predicted = [evaluate(x[i : i + 1], latencies[i], slopes[i], switches[i])[0] for i in range(x.size)]
    return float(np.median(np.abs(np.array(predicted) - y) / y))
