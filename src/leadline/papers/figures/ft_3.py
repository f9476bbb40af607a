"""Flood bandwidth one-sided and two-sided (Bell et al., figure 3)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = "Bandwidth of a flood of messages of one size, by non-blocking sends and by puts, on each machine."


def describe(points: Points) -> list[Figure]:
    """Bandwidth by size, a line a machine and operation."""
    found = points.of("flood", "bandwidth", operation=("isend", "put"))
    lines = found.named("line", lambda row: f"{row['mpi']}, {row['operation']}").without(
        "partition", "operation"
    )
    return lines.draw("ft-3", "3 Flood bandwidth by operation", "line")
