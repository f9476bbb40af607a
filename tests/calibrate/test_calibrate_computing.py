"""Does a calibrated machine compute as fast as the solver of its run did?"""

import pytest

from leadline.calibrate import _node
from planted import frame_of, rows


def test_memory_and_core_are_told_by_the_solver() -> None:
    """Eight of eight cores copy 4e9 points a second, one updates 2e8: 64 GB/s of the node, 1.2 Gflop/s.

    Of two cores' copies nobody knows what eight would get.
    """
    keys = {"benchmark": "jacobi", "unit": "1/s", "kernel": "streaming", "bytes": None}
    told = [
        row | {"edge": edge}
        for metric, ranks, edge, value in (
            ("bound", 8, 200, 4e9),
            ("bound", 1, 200, 0.6e9),
            ("bound", 8, 24, 36e9),  # from the caches
            ("rate", 1, 24, 2e8),
            ("rate", 1, 200, 1e8),
        )
        for row in rows([[value]] * 6, [8], metric=metric, ranks=ranks, **keys)
    ]
    found = _node.computing(frame_of(told), 8)
    assert found["memory"].value == pytest.approx(64e9)
    assert found["flops"].value == pytest.approx(1.2e9)
    assert found["memory"].low is not None
    assert _node.computing(frame_of(told).clear(), 8) == {}
    assert "memory" not in _node.computing(frame_of(told), 16)
