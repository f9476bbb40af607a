"""Is an application drawn over its ranks, with what its model says behind the points?"""

import planted
from leadline.report import figures
from planted import frame_of

from .conftest import found


def test_an_application_is_drawn_over_its_ranks_with_what_its_model_says() -> None:
    """Points on one and two ranks, a band behind them; a point on one number of ranks is left to others."""
    keys = {"edge": 10, "scaling": "weak", "grid": "1d", "ends": "fixed", "kernel": "streaming", "depth": 1}
    told = [
        row | {"edge": edge}
        for metric, value in (("rate", 4e8), ("bound", 5e8))
        for ranks, edge in ((1, 10), (2, 10), (2, 20))
        for row in planted.rows(
            [[value * ranks * factor] for factor in (0.9, 1, 1.1, 0.95, 1.05, 1)],
            [8],
            benchmark="jacobi",
            metric=metric,
            unit="1/s",
            ranks=ranks,
            halo="blocking",
            **{**keys, "bytes": None},
        )
    ]
    times = [[1e-6 + size / 1e10 for size in (8, 1024, 65536, 1 << 20)]] * 6
    records = frame_of(told + planted.rows(times, (8, 1024, 65536, 1 << 20)))
    drawn = {figure.name: figure for figure in figures.draw(found(records).subject("jacobi"))}
    scaling = drawn["jacobi-weak-scaling"]
    assert [(point["x"], point["y"]) for point in scaling.spec["datasets"]["points"]] == [(1, 400), (2, 800)]
    bands = scaling.spec["datasets"]["bands"]
    assert [band["x"] for band in bands] == [1, 2]
    assert bands[0]["lo"] < 500 == bands[0]["y"] < bands[0]["hi"]
    assert bands[1]["y"] < 1000
    assert "jacobi-rate" in drawn
