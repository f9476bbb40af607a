"""Between two neighbouring nodes of Blue Gene/P (Balaji et al., figure 2)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = "Latency and bandwidth between two neighbouring nodes; in and out of cache are one line."
_WHERE = {"mapping": "XYZT", "partition": 2048}


def describe(points: Points) -> list[Figure]:
    """(a) one-way latency by size, in and out of cache; (b) unidirectional bandwidth."""
    latency = points.of("pingpong", "latency", **_WHERE)
    bandwidth = points.of("bandwidth", "bandwidth", **_WHERE)
    return [
        *latency.draw("bgp-2a", "2(a) One-way latency between nodes", "buffers"),
        *bandwidth.draw("bgp-2b", "2(b) Unidirectional bandwidth between nodes", None, log=False),
    ]
