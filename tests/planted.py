"""Record tables with known answers: what each launch found is given, and everything about it is quiet."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.core import record

Array = NDArray[np.float64]
Row = dict[str, Any]

QUIET: Row = {
    "run": "planted",
    "source": record.MEASURED,
    "benchmark": "pingpong",
    "metric": "latency",
    "unit": "s",
    "better": "lower",
    "mpi": "openmpi-4.1.4",
    "stack": "default",
    "protocol": "default",
    "placement": "core-group",
    "ranks": 2,
    "oversubscribed": False,
    "transport": "shared memory",
    "status": record.OK,
    "warmup": 0,
    "batch": 1,
    "stopped_by": "tolerance",
    "duration": 0.1,
    "run_delay": 0.0001,
    "switches": 1,
    "steal": 0.0,
    "others": 0.02,
}


def rows(medians: Sequence[Sequence[float]] | Array, sizes: Sequence[int], **fields: Any) -> list[Row]:
    """Records of one series: `medians[launch][size]` is what that launch found at that size; NaN leaves it
    out.
    """
    return [
        QUIET | {"launch": launch, "bytes": size, "samples": [float(value)] * 3} | fields
        for launch, found in enumerate(medians)
        for size, value in zip(sizes, found, strict=True)
        if np.isfinite(value)
    ]


def records(
    medians: Sequence[Sequence[float]] | Array, sizes: Sequence[int], **fields: Any
) -> list[record.Record]:
    """The same as records."""
    return [record.Record.of(row) for row in rows(medians, sizes, **fields)]


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows (field or coordinate to value; absent means null) as a record table."""
    return record.frame(map(record.Record.of, rows))


def table(medians: Sequence[Sequence[float]] | Array, sizes: Sequence[int], **fields: Any) -> pl.DataFrame:
    """The same as a record table."""
    return frame_of(rows(medians, sizes, **fields))


def failed(size: int, launch: int, reason: str, status: str = record.FAILED, **fields: Any) -> Row:
    """A record of a point that was not run: without metric, unit or samples."""
    nothing: Row = {"metric": "", "unit": None, "better": None, "samples": []}
    return QUIET | nothing | {"launch": launch, "bytes": size, "status": status, "reason": reason} | fields
