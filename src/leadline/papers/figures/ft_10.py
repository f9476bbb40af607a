"""What NAS FT takes, however its planes are handed over (Bell et al., figures 7 and 10)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = (
    "Time of the first two iterations by one exchange, by slabs and by pencils, each by messages and by "
    "puts, on each machine."
)


def describe(points: Points) -> list[Figure]:
    """Time, a dot for each way of handing over, a line a machine and what is handed over."""
    return points.of("ft", "time", iterations=2).side_by_side(
        *("ft-10", "10 Two iterations of NAS FT"),
        lambda row: str(row["by"]),
        lambda row: f"{row['mpi']}, {row['pieces']}",
    )
