"""Broadcasts of Blue Gene/P by communicator (Balaji et al., figure 9)."""

from leadline.papers.figures._points import BY_PROCESSES, FigurePart

CAPTION = (
    "A broadcast of 1 MiB on all processes, on a copy of their communicator, and on all but the last, "
    "which the collective network does not serve."
)

PARTS = [
    FigurePart(
        *("bgp-9", "9 Time of a broadcast of 1 MiB by communicator", "bcast", "time"),
        where={"communicator": ("world", "dup", "world-1"), "bytes": 1 << 20},
        line="communicator",
        without=["partition"],
        how=BY_PROCESSES,
    )
]
