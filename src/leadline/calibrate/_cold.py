"""What a message costs more where a computation has taken the caches: rows of `[[cold]]` from `cold`.

After a walk through so much memory half of a round trip takes o + n c more than after none: o for code and
queues at either end, n c for the data, which the receiver is charged with. Messages with a handshake and
without are told apart. More memory never costs less: what a row is cheaper than the one before is chance.
"""

from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.series import Series, draw_jointly, series
from leadline.calibrate._line import line
from leadline.calibrate._values import Value, from_launches
from leadline.calibrate._write import Entry

Array = NDArray[np.float64]

BENCHMARKS = ("cold",)
WAITS = 1.1  # times the walk, beside what it computes without one, until rank 0 sends
LIMIT = 1e-13  # s/B; a copy that costs less is none
KINDS = {"": False, "handshake_": True}  # what the keys of a kind begin with, and whether it asks first


def rows(records: pl.DataFrame, asks: Callable[[Array], NDArray[np.bool_]]) -> list[dict[str, Entry]]:
    """The rows, memory growing; none where `cold` was not measured with and without a walk, at two sizes.

    `asks` says at which sizes there is a handshake.
    """
    found = {int(str(each.keys["walked"])): each for each in series(records, "cold", "latency", fewest=2)}
    times = {int(str(each.keys["walked"])): each for each in series(records, "cold", "computing")}
    walked = sorted(each for each in found if each > 0)
    if not walked or 0 not in found:
        return []
    beside = float(np.nanmedian(times[0].medians))
    parts = [found[each] for each in (0, *walked)]
    sizes = np.array(sorted(set.intersection(*(set(each.sizes) for each in parts))))
    typical = np.stack([_at(each, each.typical, sizes) for each in parts])
    drawn = [_at(each, draws, sizes) for each, draws in zip(parts, draw_jointly(parts), strict=True)]
    draws = np.stack(drawn, axis=1)
    launches = parts[0].launches
    made: list[dict[str, Entry]] = [
        {
            "walked": Value(float(each), "B", source="memory that both ranks walked through"),
            "time": from_launches(
                [(float(np.nanmedian(of)) - beside) / WAITS for of in times[each].medians], "s", BENCHMARKS
            ),
        }
        for each in walked
    ]
    for begin, handshake in KINDS.items():
        those = asks(sizes) == handshake
        if not those.any():
            continue
        costs, many = _costs(typical, sizes, those), np.stack([_costs(d, sizes, those) for d in draws])
        for row, (overhead, cost), each in zip(made, costs, np.swapaxes(many, 0, 1), strict=True):
            row[f"{begin}overhead"] = Value.drawn(overhead, each[:, 0], launches, "s", BENCHMARKS)
            if cost > LIMIT:
                with np.errstate(divide="ignore"):
                    row[f"{begin}copy"] = Value.drawn(1 / cost, 1 / each[:, 1], launches, "B/s", BENCHMARKS)
    return made


def _at(of: Series, values: Array, sizes: Array) -> Array:
    """Values by the series' sizes, (..., S), at some of them."""
    return np.asarray(values[..., np.searchsorted(of.sizes, sizes)], dtype=np.float64)


def _costs(times: Array, sizes: Array, those: NDArray[np.bool_]) -> Array:
    """Overhead and cost a byte of each walk, (walks, 2), by times after none and each, (1 + walks, S)."""
    times, sizes = times[:, those], sizes[those]
    lines = [line(sizes, each - times[0], each) for each in times[1:]]
    return np.maximum.accumulate(np.array(lines), axis=0)
