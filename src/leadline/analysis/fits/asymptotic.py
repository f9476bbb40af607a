"""Latency and bandwidth by the two ends: what the smallest messages take, and what the largest ones move a
second.

Latency is the mean of the times at 1 to 4 B, bandwidth the mean of size over time at 32 to 256 MiB, each
size weighing alike: the way of a published study of ping-pong fits, which wanted it beside least squares
because the latency is always one that was measured. Where a run stops below 32 MiB its last 4 sizes stand
in (as many as there are from 32 to 256 MiB in powers of two), where it has no 1 to 4 B its smallest size;
the notes say so.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.fits import Fit
from leadline.analysis.fits._line import straight
from leadline.analysis.series import pingpong
from leadline.core.units import format_bytes

QUESTION = "Which latency and bandwidth do the smallest and the largest messages see?"

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SMALL = (1, 4)  # B
LARGE = (32 * 2**20, 256 * 2**20)  # B
LAST = 4  # sizes that stand in for LARGE
FEWEST = 5  # sizes that leave both ends something when one is left out


def small_end(sizes: Array) -> Mask:
    """Which sizes tell the latency: 1 to 4 B, else the smallest."""
    chosen: Mask = (sizes >= SMALL[0]) & (sizes <= SMALL[1])
    return chosen if chosen.any() else np.asarray(sizes == sizes.min())


def large_end(sizes: Array) -> Mask:
    """Which sizes tell the bandwidth: 32 to 256 MiB, else the last 4 of those that are not the small end."""
    chosen: Mask = (sizes >= LARGE[0]) & (sizes <= LARGE[1])
    if chosen.any():
        return chosen
    rest = np.flatnonzero(~small_end(sizes) & (sizes > 0))[-LAST:]
    return np.isin(np.arange(sizes.size), rest)


def line(x: Array, y: Array) -> tuple[Array, Array]:
    """Latency and time per byte from the ends; `y` may hold many data sets, sizes along its last axis."""
    large = large_end(x)
    return y[..., small_end(x)].mean(axis=-1), 1 / (x[large] / y[..., large]).mean(axis=-1)


def notes(sizes: Array) -> list[str]:
    """Which sizes stood for the ends, where they are not those of the method."""
    said = []
    small, large = sizes[small_end(sizes)], sizes[large_end(sizes)]
    if small.min() < SMALL[0] or small.max() > SMALL[1]:
        said.append(f"latency from {format_bytes(int(small[0]))}: no size of 1 to 4 B was measured")
    if large.max() < LARGE[0]:
        first, last = (format_bytes(int(size)) for size in (large.min(), large.max()))
        said.append(f"bandwidth from {large.size} sizes, {first} to {last}: the run stops below 32 MiB")
    return said


def fit(records: pl.DataFrame) -> Iterator[Fit]:
    """One fit for each ping-pong series that has a large end beside its small one."""
    for source in pingpong(records, fewest=3):
        if large_end(source.sizes).any():
            yield straight("asymptotic", QUESTION, source, line, fewest=FEWEST, notes=notes(source.sizes))
