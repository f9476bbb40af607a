"""Between two cores of a node of Blue Gene/P (Balaji et al., figure 3)."""

from leadline.papers.figures._points import LINEAR, FigurePart

CAPTION = (
    "Latency and bandwidth between core 0 and another core of its node. Messages within a node pass the "
    "network's engine as well, so that which core it is makes no difference."
)

PARTS = [
    FigurePart(
        *("bgp-3a", "3(a) One-way latency within a node", "corepairs", "latency"),
        line=lambda row: f"cores {row['pair']}",
        without=["pair"],
    ),
    FigurePart(
        *("bgp-3b", "3(b) Unidirectional bandwidth within a node", "bandwidth", "bandwidth"),
        where={"partition": 2048},
        line=lambda row: "within a node" if row["mapping"] == "TXYZ" else "between nodes",
        without=["mapping"],
        how=LINEAR,
    ),
]
