"""Broadcasts of Blue Gene/P on several communicators at once (Balaji et al., figure 10)."""

from leadline.papers.figures._points import BY_PROCESSES, CORES, FigurePart, at_once

CAPTION = (
    "Mean time of broadcasts on one to four communicators at once, each of a core of every node: small "
    "ones leave a node together, large ones share its links."
)

PARTS = [
    FigurePart(
        *(f"bgp-10{part}", f"10({part}) Mean time of broadcasts of {told} at once", "bcast", "mean"),
        where={"communicator": CORES, "bytes": size},
        line=at_once,
        without=["partition", "communicator", "bytes"],
        how=BY_PROCESSES,
    )
    for part, size, told in (("a", 4, "4 B"), ("b", 16384, "16 KiB"))
]
