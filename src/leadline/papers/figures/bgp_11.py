"""Reductions and gathers of Blue Gene/P on several communicators at once (Balaji et al., figure 11)."""

from leadline.papers.figures._points import CORES, Points, at_once
from leadline.report.figures import Figure

CAPTION = (
    "Mean time of one to four at once, each of a core of every node. A reduction waits for its "
    "processors, not for the links; what an allgather moves grows with the system."
)


def describe(points: Points) -> list[Figure]:
    """(a) allreduce of 16 KiB and (b) allgather of 4 B, by processes, a line a number of communicators."""
    parts = (("a", "allreduce", 16384, "16 KiB"), ("b", "allgather", 4, "4 B"))
    return [
        figure
        for part, operation, size, told in parts
        for figure in points.of(operation, "mean", communicator=CORES, bytes=size)
        .named("at once", at_once)
        .without("partition", "communicator")
        .draw(
            *(f"bgp-11{part}", f"11({part}) Mean time of {operation} of {told} at once", "at once"),
            x="ranks",
            x_title="processes",
        )
    ]
