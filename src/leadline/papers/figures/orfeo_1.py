"""Messages once round a ring of ORFEO's processes (Celoria, figure 1)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure

CAPTION = (
    "Time in which two messages of every process go once round the ring: its slope changes where the "
    "processes fill a socket and a node."
)


def describe(points: Points) -> list[Figure]:
    """Time of a turn by processes, a line a machine."""
    found = points.of("ring", "time", way="in-turn").named("machine", lambda row: str(row["mpi"]))
    return found.without("partition").draw(
        "orfeo-1", "1 Time of a turn of the ring", "machine", x="ranks", x_title="processes"
    )
