"""The figures of papers, drawn again from simulation: one file each, found here by looking.

A file is called PAPER_NUMBER, such as `bgp_4`, and holds two names: `CAPTION`, what the paper shows there in
a sentence, and `PARTS`, a list of `Part`: what each of its parts draws. What several of them share is in
files whose names begin with an underscore.
"""

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from leadline.core.record import Row
from leadline.papers.figures._points import Points
from leadline.report.figures import Figure


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper, drawn again: its parts, and the points of which they are made."""

    number: str
    caption: str
    parts: list[Figure]


def members(paper: str) -> dict[str, ModuleType]:
    """The files of a paper's figures by number, in their order."""
    names = [found.name for found in pkgutil.iter_modules(__path__) if found.name.startswith(f"{paper}_")]
    numbers = sorted((int(name.partition("_")[2]), name) for name in names)
    return {str(number): importlib.import_module(f"{__name__}.{name}") for number, name in numbers}


def draw(paper: str, rows: Sequence[Row]) -> list[PaperFigure]:
    """Every figure of a paper of which `rows` (of a summary) have points."""
    drawn = []
    for number, member in members(paper).items():
        if parts := [figure for part in member.PARTS for figure in part.draw(Points(rows))]:
            drawn.append(PaperFigure(number, member.CAPTION, parts))
    return drawn
