"""Collective buffers of vpic on Intrepid (Behzad et al., figure 10)."""

from leadline.papers.figures._points import BY_BUFFER, FigurePart

CAPTION = "Bandwidth of vpic on 2,048 ranks of Intrepid, by the size of buffers, all else as tuned."

PARTS = [
    FigurePart(
        *("io-10", "10 Collective buffers on Intrepid", "io", "bandwidth"),
        where={"settings": "buffers", "mpi": "intrepid", "kernel": "vpic", "ranks": 2048},
        without=["aggregators"],
        how=BY_BUFFER,
    )
]
