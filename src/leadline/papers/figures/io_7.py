"""What the settings of one layer alone give (Behzad et al., figure 7)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = (
    "Bandwidth on 2,048 ranks by default, with the tuned settings of one layer alone, and with all of them."
)


def describe(points: Points) -> list[Figure]:
    """Bandwidth, a dot for each layer, a line a machine and kernel."""
    parts = ("default", "lustre only", "gpfs only", "mpi-io only", "hdf5 only", "tuned")
    return points.of("io", "bandwidth", settings=parts, ranks=2048).side_by_side(
        *("io-7", "7 Partial tuning"),
        lambda row: str(row["settings"]),
        lambda row: f"{row['mpi']}, {row['kernel']}",
    )
