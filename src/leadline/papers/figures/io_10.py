"""Collective buffers of vpic on Intrepid (Behzad et al., figure 10)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = "Bandwidth of vpic on 2,048 ranks of Intrepid, by the size of buffers, all else as tuned."


def describe(points: Points) -> list[Figure]:
    """Bandwidth by the size of buffers."""
    found = points.of("io", "bandwidth", settings="buffers", mpi="intrepid", kernel="vpic", ranks=2048)
    return found.without("aggregators").draw(
        "io-10", "10 Collective buffers on Intrepid", None, x="buffer", x_title="buffer size (B)"
    )
