"""What tuning gains over the default settings, by machine, kernel and ranks (Behzad et al., figure 6)."""

from leadline.papers.figures._points import FigurePart

CAPTION = (
    "Bandwidth of writing without settings and with tuned ones: those of table 5 on 2,048 ranks, elsewhere "
    "the best of the whole space."
)

PARTS = [
    FigurePart(
        *("io-6", "6 Default and tuned bandwidth", "io", "bandwidth", {"settings": ("default", "tuned")}),
        dot=lambda row: str(row["settings"]),
        line=lambda row: f"{row['mpi']}, {row['kernel']}, {row['ranks']} ranks",
    )
]
