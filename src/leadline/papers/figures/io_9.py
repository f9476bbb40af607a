"""Collective buffers of vpic on Hopper (Behzad et al., figure 9)."""

from leadline.papers.figures._points import BY_BUFFER, FigurePart

CAPTION = (
    "Bandwidth of vpic on 2,048 ranks of Hopper by the size of buffers, which is that of stripes, all else "
    "as tuned."
)

PARTS = [
    FigurePart(
        *("io-9", "9 Collective buffers on Hopper", "io", "bandwidth"),
        where={"settings": "buffers", "mpi": "hopper", "kernel": "vpic", "ranks": 2048},
        without=["aggregators"],
        how=BY_BUFFER,
    )
]
