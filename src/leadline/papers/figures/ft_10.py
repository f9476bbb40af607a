"""What NAS FT takes, however its planes are handed over (Bell et al., figures 7 and 10)."""

from leadline.papers.figures._points import FigurePart

CAPTION = (
    "Time of the first two iterations by one exchange, by slabs and by pencils, each by messages and by "
    "puts, on each machine."
)

PARTS = [
    FigurePart(
        *("ft-10", "10 Two iterations of NAS FT", "ft", "time", {"iterations": 2}),
        dot=lambda row: str(row["by"]),
        line=lambda row: f"{row['mpi']}, {row['pieces']}",
    )
]
