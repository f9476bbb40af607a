"""Barriers of Blue Gene/P by communicator (Balaji et al., figure 8)."""

from leadline.report.figures import Figure
from leadline.report.papers._points import Points

CAPTION = (
    "A barrier on all processes, on a copy of their communicator, and on all but the last, by the size of "
    "the system: the first two are hardware's, the last is made of messages."
)


def describe(points: Points) -> list[Figure]:
    """(a) time of a barrier by processes, a line a communicator; (b) needs several communicators at once."""
    barrier = points.of("barrier", "time").without("partition")
    title = "8(a) Time of a barrier by communicator"
    return barrier.draw("bgp-8a", title, "communicator", x="ranks", x_title="processes")
