"""Reductions by operation and type, and overlap (Hofmann and Rünger, figure 3)."""

from leadline.core.record import Row
from leadline.papers.figures._points import FigurePart, Points

CAPTION = (
    "Reductions of 1 MB on all nodes, on a box and on scattered nodes: only sums of integers are as fast "
    "as the collective network, and none is that a function of the user computes. An exchange of 1 MB in "
    "pairs during a broadcast of 1 MB, over one after the other."
)
_SITUATIONS = {"world": "all", "box-16x16x8": "rectangular", "scattered-2048": "scattered"}
_WHERE = {"communicator": tuple(_SITUATIONS), "bytes": 1_000_000}


def _situation(row: Row) -> str:
    """Which nodes take part."""
    return _SITUATIONS[row["communicator"]]


def _ordered(points: Points) -> Points:
    return Points(sorted(points.rows, key=lambda row: (row["reduction"], row["type"])))


PARTS = [
    FigurePart(
        *("bgl-3-left", "3 (left) Reductions of 1 MB by operation and type", "allreduce", "time"),
        where={"mpi": "bgl", **_WHERE},
        prepare=_ordered,
        dot=_situation,
        line=lambda row: f"{row['reduction']}, {row['type']}",
    ),
    FigurePart(
        *("bgl-3-right", "3 (right) An exchange during a broadcast, over one after the other"),
        *("overlap", "together"),
        where={"with": "bcast", **_WHERE},
        dot=_situation,
        line=lambda row: "VN mode" if row["mpi"] == "bgl-vn" else "CO mode",
        how={"quantity_name": "together over one after the other"},
    ),
]
