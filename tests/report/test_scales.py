"""What changes with the size of a described machine, from runs whose values can be done by hand."""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from leadline.analysis.summary import summarise
from leadline.core import record
from leadline.report import write
from leadline.report.scales import compose
from planted import frame_of

from .reading import Reader

Row = dict[str, Any]
SIZES = {"small": 512, "large": 4096}


def point(run: str, benchmark: str, metric: str, value: float, **facts: Any) -> Row:
    """A simulated record of one sample at the largest partition of its run."""
    return {
        **{"run": run, "source": record.SIMULATED, "mpi": "toy", "stack": "auto", "protocol": "default"},
        **{"placement": "default", "ranks": SIZES[run], "partition": SIZES[run], "mapping": "XYZT"},
        **{"launch": 0, "status": record.OK, "benchmark": benchmark, "metric": metric, "unit": "s"},
        **{"better": "lower", "samples": [value], "warmup": 0, "stopped_by": "exact"},
        **facts,
    }


def points() -> Iterator[Row]:
    """Two runs: hardware's barrier stays, software's grows; mappings matter more in the larger one."""
    for run, ranks in SIZES.items():
        yield point(run, "barrier", "time", 1e-6, communicator="world")
        yield point(run, "barrier", "time", ranks / 512 * 4e-6, communicator="world-1")
        yield point(run, "pingpong", "latency", 3e-6, ranks=2)
        for distance, value in ((3, 2e-6), (8 if run == "small" else 14, ranks * 1e-8)):
            yield point(run, "distance", "latency", value, distance=distance)
        for index, order in enumerate(permutations("XYZT")):
            worst = 3.0 if run == "small" else 4.0
            yield point(run, "halo", "time", 1e-5 * (1 + (worst - 1) * index / 23), mapping="".join(order))
    yield point("large", "bcast", "time", 1e-3)  # has nothing to stand beside
    yield point("large", "barrier", "time", 7e-6, communicator="world-1", partition=512, ranks=512)


def rows() -> list[Row]:
    """Their summary."""
    return summarise(frame_of(points())).rows(named=True)


def told() -> dict[str, tuple[float | None, ...]]:
    """The table: each quantity with its numbers."""
    (section,) = compose(rows())
    return {row.cells[0].text: tuple(cell.sort for cell in row.cells[1:]) for row in section.table.rows}


def test_alike_points_stand_in_a_row_with_their_ratio() -> None:
    """Every quantity of both sizes, and no other."""
    assert told() == {
        "barrier, communicator world: time": pytest.approx((1e-6, 1e-6, 1.0)),
        "barrier, communicator world-1: time": pytest.approx((4e-6, 32e-6, 8.0)),
        "distance: latency, nearest nodes": pytest.approx((2e-6, 2e-6, 1.0)),
        "distance: latency, farthest nodes": pytest.approx((5.12e-6, 40.96e-6, 8.0)),
        "halo: time, best of 24 mappings": pytest.approx((1e-5, 1e-5, 1.0)),
        "halo: time, worst of 24 mappings": pytest.approx((3e-5, 4e-5, 4 / 3)),
        "halo: time, worst over best of 24 mappings": pytest.approx((3.0, 4.0, 4 / 3)),
        "pingpong: latency": pytest.approx((3e-6, 3e-6, 1.0)),
    }


def test_what_it_comes_to_is_said() -> None:
    """How many stay, and what changes most."""
    (section,) = compose(rows())
    assert section.title == "toy: from 512 to 4,096 ranks"
    assert section.sentences[0] == (
        "Of 8 quantities 4 stay within 2 % when the ranks become 8 times as many."
    )
    assert "by a factor of 8" in section.sentences[1]


def test_one_size_has_no_section() -> None:
    """Nor have real runs."""
    assert compose([row for row in rows() if row["run"] == "large"]) == []
    assert compose([{**row, "source": record.MEASURED} for row in rows()]) == []


def test_the_page_has_the_section_where_sizes_stand_together(tmp_path: Path) -> None:
    """With its table and a place in the contents."""
    page = write(frame_of(points()), [{"run": run} for run in SIZES], tmp_path / "page.html")
    reader = Reader(page.read_text(encoding="utf-8"))
    assert "scales" in reader.ids
    assert "#scales" in reader.links
    assert "halo: time, worst over best of 24 mappings" in reader.text
