"""Broadcasts and reductions of Blue Gene/L by subsets of nodes (Hofmann and Rünger, figure 2)."""

from math import prod

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure
from leadline.report.subject import Row

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


def describe(points: Points) -> list[Figure]:
    """Broadcast and sum, by nodes, a line a kind of subset; in co-processor and in virtual node mode."""
    modes = (("bgl", "top", "CO"), ("bgl-vn", "bottom", "VN"))
    return [
        figure
        for mode, part, told in modes
        for operation in ("bcast", "allreduce")
        for figure in _subsets(points, operation, mode).draw(
            *(f"bgl-2-{part}-{operation}", f"2 ({part}) {operation} of 1 MB, {told} mode", "subset"),
            x="nodes",
        )
    ]


def _subsets(points: Points, operation: str, mode: str) -> Points:
    """An operation on subsets; sums are of integers."""
    where = {"type": "int64", "reduction": "sum"} if operation == "allreduce" else {}
    found = points.of(operation, "time", mpi=mode, bytes=1_000_000, **where)

    def count(row: Row) -> int:
        ranks = row["ranks"] // 2 if mode == "bgl-vn" else row["ranks"]
        return nodes(row["communicator"], ranks)

    rows = [{**row, "nodes": count(row), "subset": shape(row["communicator"])} for row in found.rows]
    return Points(rows).without("communicator", "ranks", "partition")
