"""Reductions and gathers of Blue Gene/P on several communicators at once (Balaji et al., figure 11)."""

from leadline.papers.figures._points import BY_PROCESSES, CORES, FigurePart, at_once

CAPTION = (
    "Mean time of one to four at once, each of a core of every node. A reduction waits for its "
    "processors, not for the links; what an allgather moves grows with the system."
)

PARTS = [
    FigurePart(
        *(f"bgp-11{part}", f"11({part}) Mean time of {operation} of {told} at once", operation, "mean"),
        where={"communicator": CORES, "bytes": size},
        line=at_once,
        without=["partition", "communicator"],
        how=BY_PROCESSES,
    )
    for part, operation, size, told in (("a", "allreduce", 16384, "16 KiB"), ("b", "allgather", 4, "4 B"))
]
