"""One node and its six neighbours on Blue Gene/P (Balaji et al., figure 7)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = "What one node receives from, and sends to, so many of its neighbours at once."


def describe(points: Points) -> list[Figure]:
    """(a) fan-in and (b) fan-out by number of neighbours, a line a size."""
    return [
        figure
        for part, direction in (("a", "in"), ("b", "out"))
        for figure in points.of("fan", "bandwidth", direction=direction).draw(
            f"bgp-7{part}", f"7({part}) Fan-{direction}", "bytes", x="neighbours", log=False
        )
    ]
