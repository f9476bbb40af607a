"""Two pairs that share a link of Blue Gene/P (Balaji et al., figure 5)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure
from leadline.report.subject import Row

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


def describe(points: Points) -> list[Figure]:
    """Bandwidth by size, first with nested, then with partly overlapping pairs."""
    titles = {"nested": "5 P1-P2 within P0-P3", "overlapping": "5, second experiment: P1-P3 beside P0-P2"}
    return [
        figure
        for pattern, title in titles.items()
        for figure in _lines(points, pattern).draw(f"bgp-5-{pattern}", title, "pairs", log=False)
    ]


def _lines(points: Points, pattern: str) -> Points:
    """The pairs of a pattern while both send, and the first alone."""

    def name(row: Row) -> str:
        return _PAIRS[row["pattern"], row["measured"]] if row["other"] == "busy" else "no overlap"

    named = points.of("congestion", "bandwidth", pattern=pattern).named("pairs", name)
    wanted = [row for row in named.rows if row["other"] == "busy" or row["measured"] == "first"]
    return Points(wanted).without("pattern", "measured", "other")
