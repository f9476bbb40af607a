"""Broadcasts and reductions of Blue Gene/L by subsets of nodes (Hofmann and Rünger, figure 2)."""

from math import prod

from leadline.core.record import Row
from leadline.papers.figures._points import FigurePart, Points

CAPTION = (
    "Time of 1 MB by the nodes that take part: all of them, by the collective network; those of a line, a "
    "plane or a box of the torus, whose lines packets pass on; and others. In virtual node mode "
    "rectangles gain nothing."
)
_FULL = {"line-full": 16, "plane-full": 256, "box-full": 4096}  # of 16 x 16 x 16


def nodes(communicator: str, ranks: int) -> int:
    """How many nodes a subset has."""
    if communicator in _FULL:
        return _FULL[communicator]
    sides = communicator.partition("-")[2]
    return prod(map(int, sides.split("x"))) if sides else ranks


def shape(communicator: str) -> str:
    """What a subset is in the figure's legend."""
    if communicator == "world":
        return "all"
    return "scattered" if communicator.startswith("scattered") else "rectangular"


def _subsets(points: Points) -> Points:
    """The points with the nodes that take part; in virtual node mode two ranks are one."""

    def count(row: Row) -> int:
        return nodes(row["communicator"], row["ranks"] // (2 if row["mpi"] == "bgl-vn" else 1))

    return Points([{**row, "nodes": count(row)} for row in points.rows])


PARTS = [
    FigurePart(
        *(f"bgl-2-{part}-{operation}", f"2 ({part}) {operation} of 1 MB, {told} mode", operation, "time"),
        where={"mpi": mode, "bytes": 1_000_000, **sums},
        prepare=_subsets,
        line=lambda row: shape(row["communicator"]),
        without=["communicator", "ranks", "partition"],
        how={"x": "nodes"},
    )
    for mode, part, told in (("bgl", "top", "CO"), ("bgl-vn", "bottom", "VN"))
    for operation, sums in (("bcast", {}), ("allreduce", {"type": "int64", "reduction": "sum"}))
]
