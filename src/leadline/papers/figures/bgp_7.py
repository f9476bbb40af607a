"""One node and its six neighbours on Blue Gene/P (Balaji et al., figure 7)."""

from leadline.papers.figures._points import FigurePart

CAPTION = "What one node receives from, and sends to, so many of its neighbours at once."

PARTS = [
    FigurePart(
        *(
            f"bgp-7{part}",
            f"7({part}) Fan-{direction}",
            "fan",
            "bandwidth",
            {"direction": direction},
            "bytes",
        ),
        how={"x": "neighbours", "log": False},
    )
    for part, direction in (("a", "in"), ("b", "out"))
]
