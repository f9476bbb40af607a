"""Several streams between two nodes, and a hot spot (Balaji et al., figure 6)."""

from leadline.papers.figures._points import LINEAR, FigurePart

CAPTION = (
    "Aggregate bandwidth of one to four streams between two nodes; mean latency of the workers that ask "
    "one master, directly and through a tree of two levels."
)

PARTS = [
    FigurePart(
        *("bgp-6a", "6(a) Aggregate bandwidth of several streams", "multistream", "bandwidth"),
        line=lambda row: "1 stream" if row["pairs"] == 1 else f"{row['pairs']} streams",
        without=["pairs"],
        how=LINEAR,
    ),
    FigurePart(
        *("bgp-6b", "6(b) Mean latency at a hot spot", "hotspot", "latency"),
        line="bytes",
        how={"x": "workers"},
    ),
]
