"""What tuning gains over the default settings, by machine, kernel and ranks (Behzad et al., figure 6)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = (
    "Bandwidth of writing without settings and with tuned ones: those of table 5 on 2,048 ranks, elsewhere "
    "the best of the whole space."
)


def describe(points: Points) -> list[Figure]:
    """Bandwidth, a dot for default and tuned, a line a machine, kernel and number of ranks."""
    return points.of("io", "bandwidth", settings=("default", "tuned")).side_by_side(
        *("io-6", "6 Default and tuned bandwidth"),
        lambda row: str(row["settings"]),
        lambda row: f"{row['mpi']}, {row['kernel']}, {row['ranks']} ranks",
    )
