"""What a run says of one way between two ranks: the whole message, its two ends, and the slower of them.

Each is a series along message size with the median of every launch. Draws of launches are joint: one draw
serves all series, so that what two benchmarks share of a slow launch stays shared.
"""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.series import Series, draw_jointly, series
from leadline.analysis.windows import slower_end
from leadline.calibrate._shared import Streams

Array = NDArray[np.float64]

WHOLE, SEND, RECEIVE, STREAM, BOTH = "pingpong", "send", "receive", "bandwidth", "bibandwidth"
EXCHANGE = "exchange"  # one message each way at once
LINK = "link"  # long streams that a link holds up: what a message of them takes
# Benchmark and metric of each series.
FROM = {
    WHOLE: ("pingpong", "latency"),
    SEND: ("overhead", "send_overhead"),
    RECEIVE: ("overhead", "receive_overhead"),
    STREAM: ("bandwidth", "message_rate"),
}


@dataclass(frozen=True)
class Evidence:
    """Series of one way, by name: sizes (S,), typical times (S,) and times in each draw (draws, S), in s."""

    sizes: dict[str, Array]
    typical: dict[str, Array]
    draws: dict[str, Array]
    launches: int  # the fewest of any series
    # s/B of the link where it holds long streams up; 0: the ends do, as within a node; None: unknown
    wire: float | None = 0.0

    def spread(self, name: str) -> Array:
        """How uncertain each size of a series is: the draws' deviation as a share of the typical time."""
        return np.asarray(self.draws[name].std(axis=0) / np.abs(self.typical[name]), dtype=np.float64)

    def at(self, name: str, sizes: Array) -> Array:
        """Typical times of a series at other sizes, straight between those measured."""
        return np.asarray(np.interp(sizes, self.sizes[name], self.typical[name]), dtype=np.float64)


def missing(records: pl.DataFrame) -> list[str]:
    """The benchmarks without which a way cannot be described, of those that `records` lack."""
    there = set(records.get_column("benchmark"))
    return sorted(
        {
            f"{benchmark} with a {metric} above nothing at two sizes or more"
            if benchmark in there
            else benchmark
            for benchmark, metric in FROM.values()
            if _series(records, benchmark, metric) is None
        }
    )


def evidence(records: pl.DataFrame) -> Evidence:
    """The evidence of a way within a node in records of one condition, which lack nothing (`missing`)."""
    return _found(records, None)


def between_nodes(records: pl.DataFrame, shared: Streams | None, within: Evidence | None) -> Evidence:
    """The same of the way between two nodes.

    `shared` tells whether the link or the ends hold a stream up. Without it the link is taken to, unless a
    stream is faster than one `within` a node: what cores copy there is no measure for such a network.
    """
    found = _found(records, shared if shared is not None and shared.filled else None)
    if shared is not None:
        size = shared.size
        return replace(found, wire=float(found.typical[LINK][0]) / size if shared.held_by_link else 0.0)
    longest, gap = float(found.sizes[STREAM][-1]), float(found.typical[STREAM][-1])
    if within is not None and gap < float(within.at(STREAM, np.array([longest]))[0]):
        return replace(found, wire=None)
    parts = (found.sizes, found.typical, found.draws)
    sizes, typical, draws = ({**part, LINK: part[STREAM][..., -1:]} for part in parts)
    return Evidence(sizes, typical, draws, found.launches, gap / longest)


def _found(records: pl.DataFrame, shared: Streams | None) -> Evidence:
    """The evidence but for what holds a stream up; `shared` are streams that fill a link."""
    parts: dict[str, Series] = {}
    for name, (benchmark, metric) in FROM.items():
        found = _series(records, benchmark, metric)
        assert found is not None, f"{benchmark} is missing"
        parts[name] = found
    both = _series(records, "bibandwidth", "bandwidth")
    if both is not None and both.keys.get("window", 1) != 1:  # one message each way tells of no stream
        # What a core needs to send one message and to receive one: bytes go both ways.
        parts[BOTH] = replace(both, medians=2 * both.sizes / both.medians)
    if (exchange := _series(records, "bibandwidth", "bandwidth", window=1)) is not None:
        parts[EXCHANGE] = replace(exchange, medians=2 * exchange.sizes / exchange.medians)
    if shared is not None:
        # What a message of any pair takes the link.
        parts[LINK] = replace(shared.together, medians=shared.size / shared.together.medians)
    window = parts[STREAM].keys.get("window", 1)
    parts[STREAM] = replace(parts[STREAM], medians=1 / parts[STREAM].medians)
    sizes = {name: part.sizes for name, part in parts.items()}
    typical = {name: part.typical for name, part in parts.items()}
    draws = dict(zip(parts, draw_jointly(list(parts.values())), strict=True))
    assert isinstance(window, int)
    whole, many = (typical[WHOLE][None], draws[WHOLE])
    paced = {STREAM: window} | ({LINK: shared.window * shared.pairs} if shared is not None else {})
    for name, messages in paced.items():
        typical[name] = slower_end(sizes[name], typical[name][None], messages, sizes[WHOLE], whole)[0]
        draws[name] = slower_end(sizes[name], draws[name], messages, sizes[WHOLE], many)
    return Evidence(sizes, typical, draws, min(part.launches for part in parts.values()))


def _series(records: pl.DataFrame, benchmark: str, metric: str, window: int | None = None) -> Series | None:
    """The series to take, where there are several: buffers reused, then the largest window or that one."""
    measured = series(records, benchmark, metric, fewest=2)
    found = sorted((each for each in measured if window in (None, each.keys.get("window"))), key=_preference)
    return found[-1] if found else None


def _preference(each: Series) -> tuple[bool, int]:
    window = each.keys.get("window", 0)
    return each.keys.get("buffers") == "reused", window if isinstance(window, int) else 0
