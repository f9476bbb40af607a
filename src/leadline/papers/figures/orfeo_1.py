"""Messages once round a ring of ORFEO's processes (Celoria, figure 1)."""

from leadline.papers.figures._points import BY_PROCESSES, FigurePart

CAPTION = (
    "Time in which two messages of every process go once round the ring: its slope changes where the "
    "processes fill a socket and a node."
)

PARTS = [
    FigurePart(
        *("orfeo-1", "1 Time of a turn of the ring", "ring", "time", {"way": "in-turn"}),
        line=lambda row: str(row["mpi"]),
        without=["partition"],
        how=BY_PROCESSES,
    )
]
