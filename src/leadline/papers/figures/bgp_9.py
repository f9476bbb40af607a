"""Broadcasts of Blue Gene/P by communicator (Balaji et al., figure 9)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = (
    "A broadcast of 1 MiB on all processes, on a copy of their communicator, and on all but the last, "
    "which the collective network does not serve."
)


def describe(points: Points) -> list[Figure]:
    """Time of a broadcast by processes, a line a communicator."""
    where = {"communicator": ("world", "dup", "world-1"), "bytes": 1 << 20}
    found = points.of("bcast", "time", **where).without("partition")
    title = "9 Time of a broadcast of 1 MiB by communicator"
    return found.draw("bgp-9", title, "communicator", x="ranks", x_title="processes")
