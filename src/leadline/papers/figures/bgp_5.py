"""Two pairs that share a link of Blue Gene/P (Balaji et al., figure 5)."""

from leadline.core.record import Row
from leadline.papers.figures._points import LINEAR, FigurePart, Points

CAPTION = (
    "Bandwidth of each of two pairs in a line of four nodes while both send, and of one alone. Traffic "
    "that passes through keeps its bandwidth; the pair that begins at the shared link is throttled."
)
_PAIRS = {
    ("nested", "first"): "P0-P3",
    ("nested", "second"): "P1-P2",
    ("overlapping", "first"): "P0-P2",
    ("overlapping", "second"): "P1-P3",
}


def _name(row: Row) -> str:
    return _PAIRS[row["pattern"], row["measured"]] if row["other"] == "busy" else "no overlap"


def _chosen(points: Points) -> Points:
    """The pairs while both send, and the first alone."""
    return Points([row for row in points.rows if row["other"] == "busy" or row["measured"] == "first"])


PARTS = [
    FigurePart(
        *(f"bgp-5-{pattern}", title, "congestion", "bandwidth", {"pattern": pattern}),
        prepare=_chosen,
        line=_name,
        without=["pattern", "measured", "other"],
        how=LINEAR,
    )
    for pattern, title in (
        ("nested", "5 P1-P2 within P0-P3"),
        ("overlapping", "5, second experiment: P1-P3 beside P0-P2"),
    )
]
