"""What a rank's messages to itself cost is told by them, with its pieces, and simulated so."""

import pytest

from leadline.calibrate import Value, _own
from planted import frame_of, rows

SIZES = [2**k for k in range(23)]


def test_lines_that_were_planted_are_found() -> None:
    """50 ns and 20 GB/s up to 64 KiB, nothing and 5 GB/s beyond; nobody else is charged."""
    times = [5e-8 + size / 20e9 if size <= 65536 else size / 5e9 for size in SIZES]
    keys = {"benchmark": "own", "ranks": 2}
    table = frame_of(rows([times] * 6, SIZES, metric="time", **keys))
    first, second = _own.rows(table)
    assert (first["name"], second["name"]) == ("own", "own-2")
    reach, overhead, rate = first["up_to"], first["send_overhead"], first["send_copy"]
    assert isinstance(reach, Value) and isinstance(overhead, Value) and isinstance(rate, Value)
    assert (reach.low, reach.high) == (65536, 131072)
    assert overhead.value == pytest.approx(5e-8)
    assert rate.value == pytest.approx(20e9)
    assert isinstance(second["send_copy"], Value)
    assert second["send_copy"].value == pytest.approx(5e9)
    assert _own.rows(table.clear()) == []
