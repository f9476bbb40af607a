"""Barriers of Blue Gene/P by communicator, and several at once (Balaji et al., figure 8)."""

from leadline.papers.figures._points import CORES, Points, at_once
from leadline.report.figures import Figure

CAPTION = (
    "A barrier on all processes, on a copy of their communicator, and on all but the last, by the size of "
    "the system: the first two are hardware's, the last is made of messages. Barriers on several "
    "communicators at once, each of a core of every node: what leaves a node together costs less."
)


def describe(points: Points) -> list[Figure]:
    """(a) time of a barrier by processes, a line a communicator; (b) mean time of several at once."""
    alone = points.of("barrier", "time", communicator=("world", "dup", "world-1")).without("partition")
    several = points.of("barrier", "mean", communicator=CORES).named("at once", at_once)
    title = "8(a) Time of a barrier by communicator"
    return [
        *alone.draw("bgp-8a", title, "communicator", x="ranks", x_title="processes"),
        *several.without("partition", "communicator").draw(
            *("bgp-8b", "8(b) Mean time of barriers at once", "at once"), x="ranks", x_title="processes"
        ),
    ]
