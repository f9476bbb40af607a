"""A node and its neighbours on Blue Gene/L (Hofmann and Rünger, figure 4)."""

from leadline.core.record import Row
from leadline.papers.figures._points import FigurePart

CAPTION = (
    "What a node sends and receives with its six neighbours, in messages of 1 MB: one node alone, and all "
    "nodes at once, with messages of 1 MB or of 0.5 to 1.5 MB, neighbours one hop away or anywhere."
)
_WHERE = {"bytes": 1_000_000}


def _situation(row: Row) -> str:
    """How large the system is, which messages, which mapping."""
    nodes = "16 x 16 x 16" if row["ranks"] == 4096 else "8 x 8 x 16"
    sizes = "varying" if row["variation"] == "varying" else "equal"
    return f"{nodes}, {sizes}, {'optimal' if row['mapping'] == 'XYZT' else 'random'}"


PARTS = [
    FigurePart(
        *("bgl-4-left", "4 (left) One node and its six neighbours", "neighbours", "bandwidth", _WHERE),
        dot=lambda row: str(row["way"]),
        line=lambda row: f"{row['operation']}, {'VN' if row['mpi'] == 'bgl-vn' else 'CO'}",
    ),
    FigurePart(
        *("bgl-4-right", "4 (right) All nodes and their neighbours", "allneighbours", "bandwidth", _WHERE),
        dot=lambda row: str(row["way"]),
        line=_situation,
    ),
]
