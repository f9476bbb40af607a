"""The page of a reproduced paper: its claims with what the simulation gives, and its figures drawn again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline import units
from leadline.report import figures
from leadline.report.origin import Origin, origins
from leadline.report.page import Count, Plot, plot
from leadline.report.papers import PaperFigure, draw
from leadline.report.tables import Cell, Column, Table, TableRow
from leadline.reproduce.outcome import MISSED, STATES, Outcome, counts
from leadline.reproduce.paper import Paper
from leadline.reproduce.results import Results

_DIGITS = 4  # of a simulated value: more than any paper gives


@dataclass(frozen=True)
class FigureSection:
    """A figure of the paper on the page."""

    number: str
    anchor: str
    caption: str
    figures: list[Plot]


@dataclass(frozen=True)
class ReproductionPage:
    """All that the page says."""

    title: str
    subtitles: list[str]
    counts: list[Count]
    claims: Table
    sections: list[FigureSection]
    origins: list[Origin]


def compose(
    paper: Paper, results: Results, outcomes: Sequence[Outcome], provenances: Sequence[Mapping[str, Any]]
) -> ReproductionPage:
    """The page of a paper's claims and figures; `provenances` are those of the runs, one each."""
    machines = dict.fromkeys(each.machine for each in paper.experiments)
    return ReproductionPage(
        title=paper.title,
        subtitles=[paper.authors, f"its experiments again, simulated on {' and '.join(machines)}"],
        counts=[Count(state, str(n), bad=state == MISSED and n > 0) for state, n in counts(outcomes).items()],
        claims=claims_table(outcomes),
        sections=[_section(each) for each in draw(paper.name, results.rows)],
        origins=origins(provenances),
    )


def claims_table(outcomes: Sequence[Outcome]) -> Table:
    """A row a claim, in the paper's order."""
    headings = ("claim", "what", "in the paper", "expected", "accepted", "simulated", "state", "how and why")
    numbers = {"expected", "accepted", "simulated"}
    columns = [Column(heading, heading in numbers) for heading in headings]
    return Table("Claims of the paper", columns, [_row(each) for each in outcomes])


def expected(outcome: Outcome) -> str:
    """What the paper has, with its unit; nothing where it has no number."""
    claim = outcome.claim
    return "" if claim.expect is None else f"{claim.expect:g} {claim.unit}".rstrip()


def band(outcome: Outcome) -> str:
    """The accepted values; nothing where a property must hold, or the expected value be met."""
    return "" if (band := outcome.claim.band) is None else f"{band[0]:g} to {band[1]:g}"


def simulated(outcome: Outcome) -> str:
    """What the simulation gives, with its unit; a property's number in words."""
    if outcome.says or outcome.value is None:
        return outcome.says
    return f"{outcome.value:.{_DIGITS}g} {outcome.claim.unit}".rstrip()


def _row(outcome: Outcome) -> TableRow:
    """A claim's row, marked by its state."""
    claim = outcome.claim
    said = [f"{each.rstrip('.')}." for each in (outcome.how, outcome.why) if each]
    cells = [
        Cell(claim.id),
        Cell(claim.what),
        Cell(claim.basis),
        Cell(expected(outcome), claim.expect, True),
        Cell(band(outcome), claim.band[0] if claim.band else None, True),
        Cell(simulated(outcome) or units.MISSING, outcome.value, not outcome.says),
        Cell(outcome.state, STATES.index(outcome.state)),
        Cell(" ".join(said)),
    ]
    return TableRow(cells, outcome.state.replace(" ", "-"))


def _section(figure: PaperFigure) -> FigureSection:
    """A figure's section."""
    plots = [plot(part) for part in figure.parts]
    return FigureSection(figure.number, f"figure-{figure.number}", figure.caption, plots)


def drawn(paper: Paper, results: Results) -> list[figures.Figure]:
    """Every part of the paper's figures, for files."""
    return [part for each in draw(paper.name, results.rows) for part in each.parts]
