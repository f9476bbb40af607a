"""Collective buffers of vpic on Hopper (Behzad et al., figure 9)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = (
    "Bandwidth of vpic on 2,048 ranks of Hopper by the size of buffers, which is that of stripes, all else "
    "as tuned."
)


def describe(points: Points) -> list[Figure]:
    """Bandwidth by the size of buffers."""
    found = points.of("io", "bandwidth", settings="buffers", mpi="hopper", kernel="vpic", ranks=2048)
    return found.without("aggregators").draw(
        "io-9", "9 Collective buffers on Hopper", None, x="buffer", x_title="buffer size (B)"
    )
