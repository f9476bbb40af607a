"""Between two cores of a node of Blue Gene/P (Balaji et al., figure 3)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = (
    "Latency and bandwidth between core 0 and another core of its node. Messages within a node pass the "
    "network's engine as well, so that which core it is makes no difference."
)


def describe(points: Points) -> list[Figure]:
    """(a) one-way latency by size and pair of cores; (b) unidirectional bandwidth, within and between."""
    latency = points.of("corepairs", "latency").named("cores", lambda row: f"cores {row['pair']}")
    bandwidth = points.of("bandwidth", "bandwidth", partition=2048)
    bandwidth = bandwidth.named(
        "ends", lambda row: "within a node" if row["mapping"] == "TXYZ" else "between nodes"
    )
    return [
        *latency.without("pair").draw("bgp-3a", "3(a) One-way latency within a node", "cores"),
        *bandwidth.without("mapping").draw(
            "bgp-3b", "3(b) Unidirectional bandwidth within a node", "ends", log=False
        ),
    ]
