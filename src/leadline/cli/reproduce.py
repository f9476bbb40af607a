"""The verb that runs a paper's experiments on the paper's machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from leadline.cli._options import network_option
from leadline.cli._submit import Submittable
from leadline.cli._table import json_option, print_table, tell
from leadline.cli._types import Run
from leadline.cli._working import working
from leadline.core.record import Row

if TYPE_CHECKING:
    from leadline.papers.outcome import Outcome
    from leadline.papers.paper import Paper

COLUMNS = {
    "id": "claim",
    "state": "state",
    "told_expect": "expected",
    "told_band": "accepted",
    "told_value": "value",
    "what": "what",
}


class PaperName(click.ParamType):  # type: ignore[type-arg]  # generic only since click 8.2
    """The name of a paper whose claims are shipped."""

    name = "paper"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Paper":
        """The paper; UsageError where there is none of that name."""
        from leadline.papers import paper  # noqa: PLC0415  (only when the verb is used)

        return value if isinstance(value, paper.Paper) else paper.find(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The papers that there are."""
        from leadline.papers import paper  # noqa: PLC0415

        return [CompletionItem(name) for name in paper.shipped() if name.startswith(incomplete)]


@click.command(cls=Submittable)
@click.argument("paper", type=PaperName())
@click.option(
    "--from",
    "runs",
    type=Run(),
    multiple=True,
    metavar="RUN",
    help="Check this run of the paper's plan instead of simulating it again; repeat it for each plan.",
)
@network_option()
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="The page to write. Default: report/PAPER.html.",
)
@json_option
def command(
    *, paper: "Paper", runs: tuple[Path, ...], network: str, output: Path | None, as_json: bool
) -> None:
    """Simulate a paper's experiments on the paper's machine, and check its claims.

    PAPER is bgp (MPI on Blue Gene/P, 2009), bgl (MPI on Blue Gene/L, 2008), orfeo (ring, sum of arrays and
    Jacobi solver on ORFEO, 2021), ft (one-sided NAS FT) or io (tuning of parallel I/O). Every claim is
    reached, missed, calibrated (a constant of the machine was set by it, so that it proves nothing), or not
    covered yet. On two cores orfeo and bgl take less than a minute, bgp some minutes, ft three quarters of
    an hour. A missed claim is a result, not an error: the exit code is 1 only when a point could not be
    simulated. The page has the claims and the paper's figures, drawn again; its path is the last line
    printed.
    """
    from leadline.core import record  # noqa: PLC0415  (heavy imports only when the verb is used)
    from leadline.papers import experiments, outcome, page  # noqa: PLC0415
    from leadline.papers.results import Results  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415  (heavy imports only when the verb is used)

    paths = list(runs)
    if not paths:
        with working(f"simulating {paper.name}") as say:
            paths = experiments.run(paper, network, store.RUNS, say)
    with working("judging the claims"):
        records = record.concat(store.load(path) for path in paths)
        results = Results(records, experiments.machines(paper))
        outcomes = outcome.judge(paper, results)
    provenances = [
        {"run": path.name, **store.provenance(path), "plan_text": store.plan_text(path)} for path in paths
    ]
    written = output or Path("report") / f"{paper.name}.html"
    with working(f"writing {written}"):
        page.write(paper, results, outcomes, provenances, written)
    print_table([_row(each, as_json) for each in outcomes], COLUMNS, as_json)
    if not as_json:
        _conclude(outcomes)
        click.echo(written)
    if records["status"].is_in([record.FAILED, record.INVALID]).any():
        click.get_current_context().exit(1)


def _row(each: "Outcome", as_json: bool) -> Row:
    """A claim as an object; for people also its numbers in words."""
    from leadline.papers.page import band, expected, simulated  # noqa: PLC0415

    row: Row = {
        "id": each.claim.id,
        "kind": each.claim.kind,
        "what": each.claim.what,
        "expect": each.claim.expect,
        "band": each.claim.band,
        "unit": each.claim.unit,
        "value": each.value,
        "reached": each.reached,
        "state": each.state,
        "why": each.why,
        "how": each.how,
        "basis": each.claim.basis,
    }
    if not as_json:
        row |= {"told_expect": expected(each), "told_band": band(each), "told_value": simulated(each)}
    return row


def _conclude(outcomes: "list[Outcome]") -> None:
    """Why claims were missed, and how many are in each state."""
    from leadline.papers.outcome import MISSED, counts  # noqa: PLC0415

    for each in outcomes:
        if each.state == MISSED:
            tell(f"missed {each.claim.id}: {each.why or 'the cause is unknown'}")
    click.echo(", ".join(f"{count} {state}" for state, count in counts(outcomes).items() if count))
