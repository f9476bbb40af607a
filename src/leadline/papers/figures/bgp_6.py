"""Several streams between two nodes, and a hot spot (Balaji et al., figure 6)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure
from leadline.report.subject import Row

CAPTION = (
    "Aggregate bandwidth of one to four streams between two nodes; mean latency of the workers that ask "
    "one master, directly and through a tree of two levels."
)


def _streams(row: Row) -> str:
    """The name of a number of streams."""
    return "1 stream" if row["pairs"] == 1 else f"{row['pairs']} streams"


def describe(points: Points) -> list[Figure]:
    """(a) aggregate bandwidth by size, a line a number of streams; (b) latency by workers, a line a size."""
    streams = points.of("multistream", "bandwidth").named("streams", _streams)
    streams = streams.without("pairs")
    hotspot = points.of("hotspot", "latency")
    return [
        *streams.draw("bgp-6a", "6(a) Aggregate bandwidth of several streams", "streams", log=False),
        *hotspot.draw("bgp-6b", "6(b) Mean latency at a hot spot", "bytes", x="workers"),
    ]
