"""Flood bandwidth one-sided and two-sided (Bell et al., figure 3)."""

from leadline.papers.figures._points import FigurePart

CAPTION = "Bandwidth of a flood of messages of one size, by non-blocking sends and by puts, on each machine."

PARTS = [
    FigurePart(
        *("ft-3", "3 Flood bandwidth by operation", "flood", "bandwidth", {"operation": ("isend", "put")}),
        line=lambda row: f"{row['mpi']}, {row['operation']}",
        without=["partition", "operation"],
    )
]
