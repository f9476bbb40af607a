"""Reductions by operation and type, and overlap (Hofmann and Rünger, figure 3)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure
from leadline.report.subject import Row

CAPTION = (
    "Reductions of 1 MB on all nodes, on a box and on scattered nodes: only sums of integers are as fast "
    "as the collective network, and none is that a function of the user computes. An exchange of 1 MB in "
    "pairs during a broadcast of 1 MB, over one after the other."
)
_SITUATIONS = {"world": "all", "box-16x16x8": "rectangular", "scattered-2048": "scattered"}


def _situation(row: Row) -> str:
    """Which nodes take part."""
    return _SITUATIONS[row["communicator"]]


def describe(points: Points) -> list[Figure]:
    """Left: time by operation and type; right: together over one after the other."""
    where = {"communicator": tuple(_SITUATIONS), "bytes": 1_000_000}
    sums = points.of("allreduce", "time", mpi="bgl", **where)
    sums = Points(sorted(sums.rows, key=lambda row: (row["reduction"], row["type"])))
    both = points.of("overlap", "together", **{"with": "bcast"}, **where)
    return [
        *sums.side_by_side(
            *("bgl-3-left", "3 (left) Reductions of 1 MB by operation and type"),
            _situation,
            lambda row: f"{row['reduction']}, {row['type']}",
        ),
        *both.side_by_side(
            *("bgl-3-right", "3 (right) An exchange during a broadcast, over one after the other"),
            _situation,
            lambda row: "VN mode" if row["mpi"] == "bgl-vn" else "CO mode",
            quantity_name="together over one after the other",
        ),
    ]
