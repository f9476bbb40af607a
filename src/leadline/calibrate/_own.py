"""What a message of a rank to itself costs: rows of `[[own_protocol]]` from the benchmark `own`.

Such a message has no way: its core is busy with it from its posting to its end, T = o + n c by pieces of
sizes, cut where the line changes, as where a copy leaves a cache. All of it is charged where it is sent.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.criterion import criterion
from leadline.analysis.segments import partitions
from leadline.analysis.series import draw_jointly, series
from leadline.calibrate._values import Value
from leadline.calibrate._write import Entry

Array = NDArray[np.float64]

MOST = 4  # pieces: small ones, and copies from up to three levels of memory
BENCHMARKS = ("own",)


def rows(records: pl.DataFrame) -> list[dict[str, Entry]]:
    """The rows, sizes growing; none where `own` was not measured at two sizes or more, on the most ranks."""
    found = sorted(series(records, "own", "time", fewest=2), key=lambda each: int(str(each.keys["ranks"])))
    if not found:
        return []
    measured = found[-1]
    sizes, typical = measured.sizes, measured.typical
    (draws,) = draw_jointly([measured])
    starts = _pieces(sizes, typical)
    made: list[dict[str, Entry]] = []
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else sizes.size
        part = slice(start, end)
        overhead, cost = _line(sizes[part], typical[part])
        drawn = np.array([_line(sizes[part], draw[part]) for draw in draws])
        row: dict[str, Entry] = {"name": "own" if index == 0 else f"own-{index + 1}"}
        if end < sizes.size:
            row["up_to"] = Value(
                float(np.sqrt(sizes[end - 1] * sizes[end])), "B", sizes[end - 1], sizes[end], BENCHMARKS
            )
        row["send_overhead"] = Value.drawn(overhead, drawn[:, 0], measured.launches, "s", BENCHMARKS)
        row["receive_overhead"] = Value(0.0, "s", source="all of it is charged where it is sent")
        if cost > 0:
            with np.errstate(divide="ignore"):
                rates = 1 / drawn[:, 1]
            row["send_copy"] = Value.drawn(1 / cost, rates, measured.launches, "B/s", BENCHMARKS)
        made.append(row)
    return made


def _pieces(sizes: Array, times: Array) -> list[int]:
    """The first size of each piece, as the criterion chooses how many there are."""
    count = sizes.size
    cost = np.full((1, count, count), np.inf)
    for i in range(count):
        for j in range(i + 1, count):
            overhead, slope = _line(sizes[i : j + 1], times[i : j + 1])
            cost[0, j, i] = float((((overhead + slope * sizes[i : j + 1]) / times[i : j + 1] - 1) ** 2).sum())
    found = partitions(cost, MOST)
    best = min(range(len(found)), key=lambda k: criterion(max(float(found[k][0][0]), 1e-12), count, k + 1))
    return [int(each) for each in found[best][1][0]]


def _line(sizes: Array, times: Array) -> tuple[float, float]:
    """Overhead, s, and cost, s/B, neither below nothing, that come nearest to times as shares of them."""
    from scipy.optimize import nnls  # noqa: PLC0415  (slow to import)

    # Seconds and bytes differ by nine powers of ten: columns of equal length keep the digits.
    sides = np.stack([1 / times, sizes / times], axis=1)
    scale = np.linalg.norm(sides, axis=0)
    scale[scale == 0] = 1
    found, _ = nnls(sides / scale, np.ones_like(times))
    overhead, cost = found / scale
    return float(overhead), float(cost)
