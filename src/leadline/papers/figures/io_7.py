"""What the settings of one layer alone give (Behzad et al., figure 7)."""

from leadline.papers.figures._points import FigurePart

CAPTION = (
    "Bandwidth on 2,048 ranks by default, with the tuned settings of one layer alone, and with all of them."
)
_SETTINGS = ("default", "lustre only", "gpfs only", "mpi-io only", "hdf5 only", "tuned")

PARTS = [
    FigurePart(
        *("io-7", "7 Partial tuning", "io", "bandwidth", {"settings": _SETTINGS, "ranks": 2048}),
        dot=lambda row: str(row["settings"]),
        line=lambda row: f"{row['mpi']}, {row['kernel']}",
    )
]
