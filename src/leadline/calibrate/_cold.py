"""What a message costs more where a computation has taken the caches: rows of `[[cold]]` from `cold`.

After a walk through w B half of a round trip of n B takes o(w) + n (c(w) - c(2 n)) more than after none: o
for code and queues at either end, c for the data, which the receiver is charged with; the two buffers of a
message are themselves as much as a walk through 2 n. Both are straight lines between the walks that were
measured, grow from none, and are told apart with a handshake and without. So their steps from walk to walk
solve linear equations, none below nothing.
"""

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.series import Series, draw_jointly, series
from leadline.calibrate._values import FASTEST, Value, from_launches
from leadline.calibrate._write import Entry

Array = NDArray[np.float64]

BENCHMARKS = ("cold",)
WAITS = 1.1  # times the walk, beside what it computes without one, until rank 0 sends
KINDS = {"": False, "handshake_": True}  # what the keys of a kind begin with, and whether it asks first


def rows(records: pl.DataFrame, asks: Callable[[Array], NDArray[np.bool_]]) -> list[dict[str, Entry]]:
    """The rows, memory growing; none where `cold` was not measured with and without a walk, at two sizes.

    `asks` says at which sizes there is a handshake.
    """
    found = {int(str(each.keys["walked"])): each for each in series(records, "cold", "latency", fewest=2)}
    times = {int(str(each.keys["walked"])): each for each in series(records, "cold", "computing")}
    if 0 not in found or 0 not in times:
        return []
    lasts = _walks(times)
    walked = [each for each in lasts if each in found]
    if not walked:
        return []
    parts = [found[each] for each in (0, *walked)]
    sizes = np.array(sorted(set.intersection(*(set(each.sizes) for each in parts))))
    typical = np.stack([_at(each, each.typical, sizes) for each in parts])
    drawn = [_at(each, draws, sizes) for each, draws in zip(parts, draw_jointly(parts), strict=True)]
    draws, launches = np.stack(drawn, axis=1), parts[0].launches
    made: list[dict[str, Entry]] = [
        {
            "walked": Value(float(each), "B", source="memory that both ranks walked through"),
            "time": from_launches(lasts[each], "s", BENCHMARKS),
        }
        for each in walked
    ]
    memory = np.array(walked, dtype=np.float64)
    for begin, handshake in KINDS.items():
        those = asks(sizes) == handshake
        if not those.any():
            continue
        costs = _costs(typical[:, those], sizes[those], memory)
        many = [_costs(each[:, those], sizes[those], memory) for each in draws]
        for row, (overhead, cost), each in zip(made, costs, np.stack(many, axis=1), strict=True):
            row[f"{begin}overhead"] = Value.drawn(overhead, each[:, 0], launches, "s", BENCHMARKS)
            if cost * FASTEST > 1:
                with np.errstate(divide="ignore"):
                    row[f"{begin}copy"] = Value.drawn(1 / cost, 1 / each[:, 1], launches, "B/s", BENCHMARKS)
    return made


def _walks(times: Mapping[int, Series]) -> dict[int, list[float]]:
    """How long a walk takes, s, in each launch; without walks that take no longer than a shorter one."""
    beside = float(np.nanmedian(times[0].medians))
    found, longest = {}, 0.0
    for walked in sorted(each for each in times if each):
        took = [(float(np.nanmedian(of)) - beside) / WAITS for of in times[walked].medians]
        if (typical := float(np.median(took))) > longest:
            found[walked], longest = took, typical
    return found


def _at(of: Series, values: Array, sizes: Array) -> Array:
    """Values by the series' sizes, (..., S), at some of them."""
    return np.asarray(values[..., np.searchsorted(of.sizes, sizes)], dtype=np.float64)


def _costs(times: Array, sizes: Array, walked: Array) -> Array:
    """Overhead, s, and cost, s/B, of each walk, (walks, 2), by times after none and each, (1 + walks, S)."""
    from scipy.optimize import nnls  # noqa: PLC0415  (slow to import)

    # How much of each step from walk to walk lies below so much memory, (..., walks).
    begins = np.concatenate(([0.0], walked[:-1]))

    def below(memory: Array) -> Array:
        return np.clip((memory[..., None] - begins) / (walked - begins), 0, 1)

    data = np.maximum(0, below(walked)[:, None, :] - below(2 * sizes)[None, :, :]) * sizes[None, :, None]
    steps = np.broadcast_to(below(walked)[:, None, :], data.shape)
    scale = times[1:].reshape(-1, 1)  # a distance counts as a share of the whole
    sides = np.concatenate([steps, data], axis=2).reshape(scale.size, -1) / scale
    # Seconds and bytes differ by nine powers of ten: columns of equal length keep the digits.
    lengths = np.linalg.norm(sides, axis=0)
    lengths[lengths == 0] = 1
    found, _ = nnls(sides / lengths, ((times[1:] - times[0]).reshape(-1, 1) / scale)[:, 0])
    return np.cumsum((found / lengths).reshape(2, -1), axis=1).T
