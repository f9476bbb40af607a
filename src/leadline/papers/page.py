"""The page of a reproduced paper: its claims with what the simulation gives, and its figures drawn again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.core import units
from leadline.core.json_types import JsonObject
from leadline.papers.figures import PaperFigure, draw
from leadline.papers.outcome import MISSED, Outcome, counts
from leadline.papers.paper import Paper
from leadline.papers.results import Results
from leadline.report import figures, render, save
from leadline.report.origin import Origin, origins
from leadline.report.page import Count, Plot, plot

_DIGITS = 4  # of a simulated value: more than any paper gives


@dataclass(frozen=True)
class ClaimRow:
    """A claim in the page's table, all in words."""

    id: str
    what: str
    basis: str
    how: str
    why: str
    expected: str
    band: str
    simulated: str
    state: str


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
    claims: list[ClaimRow]
    sections: list[FigureSection]
    origins: list[Origin]


def write(
    paper: Paper,
    results: Results,
    outcomes: Sequence[Outcome],
    provenances: Sequence[JsonObject],
    out: Path,
) -> Path:
    """Write the page about a reproduced paper, its claims and its figures, to the file `out` and return it.

    `provenances` as for `leadline.report.write`. Raises LeadlineError when there is no place to write.
    """
    composed = compose(paper, results, outcomes, provenances)
    return save(render.html(composed, "reproduction.html.j2"), out)


def compose(
    paper: Paper, results: Results, outcomes: Sequence[Outcome], provenances: Sequence[JsonObject]
) -> ReproductionPage:
    """The page of a paper's claims and figures; `provenances` are those of the runs, one each."""
    machines = dict.fromkeys(each.machine for each in paper.experiments)
    return ReproductionPage(
        title=paper.title,
        subtitles=[paper.authors, f"its experiments again, simulated on {' and '.join(machines)}"],
        counts=[Count(state, str(n), bad=state == MISSED and n > 0) for state, n in counts(outcomes).items()],
        claims=claim_rows(outcomes),
        sections=[_section(each) for each in draw(paper.name, results.rows)],
        origins=origins(provenances),
    )


def claim_rows(outcomes: Sequence[Outcome]) -> list[ClaimRow]:
    """A row a claim, in the paper's order."""
    return [
        ClaimRow(
            id=each.claim.id,
            what=each.claim.what,
            basis=each.claim.basis,
            how=_sentence(each.how),
            why=_sentence(each.why),
            expected=expected(each),
            band=band(each),
            simulated=simulated(each) or units.MISSING,
            state=each.state,
        )
        for each in outcomes
    ]


def _sentence(text: str) -> str:
    """A text with a stop at its end, and a capital at its beginning."""
    return f"{text[0].upper()}{text[1:].rstrip('.')}." if text else ""


def expected(outcome: Outcome) -> str:
    """What the paper has, with its unit; nothing where it has no number."""
    claim = outcome.claim
    if claim.expect is None:
        return ""
    numbers = claim.expect if isinstance(claim.expect, tuple) else (claim.expect,)
    return f"{', '.join(f'{each:g}' for each in numbers)} {claim.unit}".rstrip()


def band(outcome: Outcome) -> str:
    """The accepted values; nothing where a property must hold, or the expected value be met."""
    return "" if (band := outcome.claim.band) is None else f"{band[0]:g} to {band[1]:g}"


def simulated(outcome: Outcome) -> str:
    """What the simulation gives, with its unit; a property's number in words."""
    if outcome.says or outcome.value is None:
        return outcome.says
    return f"{outcome.value:.{_DIGITS}g} {outcome.claim.unit}".rstrip()


def _section(figure: PaperFigure) -> FigureSection:
    plots = [plot(part) for part in figure.parts]
    return FigureSection(figure.number, f"figure-{figure.number}", figure.caption, plots)


def drawn(paper: Paper, results: Results) -> list[figures.Figure]:
    """Every part of the paper's figures, for files."""
    return [part for each in draw(paper.name, results.rows) for part in each.parts]
