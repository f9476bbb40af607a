"""Series whose parameters are known, as record tables."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from planted import frame_of, rows, table

Array = NDArray[np.float64]
Times = Callable[[Array], Array]

TO_4_MIB = [0, *(2**k for k in range(23))]
TO_256_MIB = [0, *(2**k for k in range(29))]


def hockney(latency: float, bandwidth: float) -> Times:
    """T(n) = latency + n / bandwidth."""
    return lambda n: latency + n / bandwidth


def three_protocols(n: Array) -> Array:
    """Short up to 1 KiB, eager up to 64 KiB, rendezvous beyond: each with its own latency and bandwidth."""
    short, eager, rendezvous = 0.3e-6 + n / 3e9, 0.8e-6 + n / 5e9, 6e-6 + n / 10e9
    return np.where(n <= 1024, short, np.where(n <= 65536, eager, rendezvous))


def pingpong(
    times: Times, sizes: Sequence[int] = TO_4_MIB, launches: int = 8, *, seed: int = 0, **spread: float
) -> pl.DataFrame:
    """Launches of a ping-pong, scattered as `medians` says."""
    return table(medians(times, sizes, launches, seed=seed, **spread), sizes, buffers="reused")


def medians(
    times: Times,
    sizes: Sequence[int],
    launches: int,
    *,
    between: float = 0.0,
    within: float = 0.0,
    seed: int = 0,
) -> Array:
    """Launch medians, (launches, sizes): fast or slow as a whole by `between`, and size by size by `within`.

    The factors are log-normal with a median of 1.
    """
    rng = np.random.default_rng(seed)
    whole = rng.lognormal(0, between, (launches, 1))
    return times(np.array(sizes, dtype=np.float64)) * whole * rng.lognormal(0, within, (launches, len(sizes)))


# The network of `loggp`: o_s 50 ns, o_r 80 ns, L 200 ns, g 150 ns, G 0.1 ns/B.
SEND, RECEIVE, LATENCY, GAP, GAP_PER_BYTE = 50e-9, 80e-9, 200e-9, 150e-9, 1e-10


def loggp(launches: int = 8, between: float = 0.0, slower: float = 1.0) -> pl.DataFrame:
    """All that LogGP needs of one network, every time `slower` times as long."""

    def scattered(times: Times, sizes: Sequence[int]) -> Array:
        return slower * medians(times, sizes, launches, between=between, seed=4)

    def one(n: Array) -> Array:
        return SEND + LATENCY + RECEIVE + np.maximum(n - 1, 0) * GAP_PER_BYTE

    def streamed(n: Array, window: int) -> Array:
        """A window is one message after the other, the last as a whole, and an empty answer."""
        paced = (window - 1) * np.maximum(GAP, (n - 1) * GAP_PER_BYTE)
        return (paced + one(n) + one(np.zeros(1))) / window

    ping = scattered(one, TO_4_MIB)
    small = [1, 8, 64]
    positive = TO_4_MIB[1:]
    # A narrower window is slower: the widest is the one to take.
    streams = [
        rows(
            1 / scattered(lambda n, window=window: streamed(n, window), positive),  # type: ignore[misc]
            positive,
            benchmark="bandwidth",
            metric="message_rate",
            unit="1/s",
            better="higher",
            window=window,
        )
        for window in (1, 64)
    ]
    overheads = [
        rows(scattered(lambda n, o=o: o + 0 * n, small), small, benchmark="overhead", metric=metric)  # type: ignore[misc]
        for metric, o in (("send_overhead", SEND), ("receive_overhead", RECEIVE))
    ]
    return frame_of(
        [*rows(ping, TO_4_MIB, buffers="reused"), *(row for part in (*streams, *overheads) for row in part)]
    )
