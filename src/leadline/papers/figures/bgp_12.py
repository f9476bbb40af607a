"""The exchange of a halo on Blue Gene/P under orders of its axes (Balaji et al., figure 12)."""

from leadline.papers.figures._points import FigurePart, Points

CAPTION = (
    "Time in which every process swaps the edges of an N x N sub-domain with four neighbours: under the "
    "usual orders of axes, and under those that are the fastest and the slowest for the largest sub- "
    "domain."
)
_USUAL = ("XYZT", "TXYZ")


def _told(points: Points) -> Points:
    """The usual orders, the fastest and the slowest."""
    if not points.rows:
        return points
    largest = max(row["edge"] for row in points.rows)
    ranked = sorted((row for row in points.rows if row["edge"] == largest), key=lambda row: row["value"])
    ends = {ranked[-1]["mapping"]: "slowest", ranked[0]["mapping"]: "fastest"}
    wanted = Points([row for row in points.rows if row["mapping"] in (*_USUAL, *ends)])
    return wanted.named("order", lambda row: f"{row['mapping']} {ends.get(row['mapping'], '')}".rstrip())


PARTS = [
    FigurePart(
        *(f"bgp-12{part}", f"12({part}) Halo by mapping, {told} processes", "halo", "time"),
        where={"ranks": ranks},
        prepare=_told,
        line="order",
        without=["mapping", "partition"],
        how={"x": "edge", "x_title": "N of the sub-domain"},
    )
    for part, ranks, told in (("a", 16384, "16K"), ("b", 131072, "128K"))
]
