"""Broadcasts of Blue Gene/P on several communicators at once (Balaji et al., figure 10)."""

from leadline.papers.figures._points import CORES, Points, at_once
from leadline.report.figures import Figure

CAPTION = (
    "Mean time of broadcasts on one to four communicators at once, each of a core of every node: small "
    "ones leave a node together, large ones share its links."
)


def describe(points: Points) -> list[Figure]:
    """(a) of 4 B and (b) of 16 KiB, by processes, a line a number of communicators."""
    return [
        figure
        for part, size, told in (("a", 4, "4 B"), ("b", 16384, "16 KiB"))
        for figure in points.of("bcast", "mean", communicator=CORES, bytes=size)
        .named("at once", at_once)
        .without("partition", "communicator", "bytes")
        .draw(
            *(f"bgp-10{part}", f"10({part}) Mean time of broadcasts of {told} at once", "at once"),
            x="ranks",
            x_title="processes",
        )
    ]
