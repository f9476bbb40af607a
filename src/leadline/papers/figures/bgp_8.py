"""Barriers of Blue Gene/P by communicator, and several at once (Balaji et al., figure 8)."""

from leadline.papers.figures._points import BY_PROCESSES, CORES, FigurePart, at_once

CAPTION = (
    "A barrier on all processes, on a copy of their communicator, and on all but the last, by the size of "
    "the system: the first two are hardware's, the last is made of messages. Barriers on several "
    "communicators at once, each of a core of every node: what leaves a node together costs less."
)

PARTS = [
    FigurePart(
        *("bgp-8a", "8(a) Time of a barrier by communicator", "barrier", "time"),
        where={"communicator": ("world", "dup", "world-1")},
        line="communicator",
        without=["partition"],
        how=BY_PROCESSES,
    ),
    FigurePart(
        *("bgp-8b", "8(b) Mean time of barriers at once", "barrier", "mean"),
        where={"communicator": CORES},
        line=at_once,
        without=["partition", "communicator"],
        how=BY_PROCESSES,
    ),
]
