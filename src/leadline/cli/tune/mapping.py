"""`leadline tune mapping`: searches the placement of ranks by simulation."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._machine import load_described
from leadline.cli._options import Parsed, machine_option, network_option
from leadline.cli._submit import Submittable
from leadline.cli._table import json_option, print_table, tell
from leadline.cli._types import AtLeast, Existing, PlanFile, Word
from leadline.cli._working import working
from leadline.plan.settings import positive_time

if TYPE_CHECKING:
    from leadline.tune.mapping.tuning import Outcome, Trial

COLUMNS = {
    "mapping": "mapping",
    "kind": "kind",
    "told_hops": "bytes x hops",
    "told_busiest": "busiest link",
    "told_time": "time",
}
SHOWN = 10  # of the mappings that were simulated


@click.command(cls=Submittable)
@click.argument("plan", required=False, type=PlanFile(), metavar="[PLAN|FILE.program]")
@machine_option("Machine to simulate.", required=True)
@click.option(
    "--ranks",
    type=AtLeast(2),
    help="Number of ranks. Default: the ranks of the plan's halo, or of the matrix.",
)
@click.option(
    "--matrix",
    type=Existing(),
    metavar="FILE",
    help="Communication matrix of a program: from, to, bytes, in .csv, .parquet or .npz; or a program file.",
)
@click.option(
    "--within",
    "seconds",
    type=Parsed(positive_time),
    default="60 s",
    show_default=True,
    metavar="TIME",
    help="Time for the search and the simulations together.",
)
@network_option("Network model, where the plan names none.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File for the best mapping, for the launcher or another program as --form says. "
    "'leadline run --mapping' reads it with --form seats.",
)
@click.option(
    "--form",
    type=Word(["rankfile", "hostfile", "order", "seats"]),
    help="Format of the file: Open MPI's rank file, a host file for Slurm, an order of axes, or seats: "
    "one placement a rank, which 'leadline run --mapping' reads. Default: an order where that is the best "
    "mapping, else a rank file.",
)
@click.option(
    "--hosts",
    metavar="a,b|node[00-15]|FILE",
    help="Host names of the nodes, in the machine's order. Default: placeholders node0, node1, ...",
)
@json_option
def command(*, plan: Path | None, machine: Path, output: Path | None, **asked: Any) -> None:
    """Search for the best mapping of ranks to nodes for a halo exchange or a communication matrix.

    Candidates are orders of axes, tilings and, for up to 4,096 ranks, permutations. Leadline ranks them by
    the load on the links and simulates the best. PLAN has the benchmark halo or halo3d; --matrix
    takes its place. Of FILE.program, as 'leadline record' writes it, the messages count; those of collectives
    are left out. The table lists the simulated mappings relative to the machine's default mapping; --output
    writes the best one, if it is faster than the default.
    """
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.tune.mapping import tuning as mapping  # noqa: PLC0415  (numpy takes a while to load)
    from leadline.tune.mapping.candidates import ORDER, PERMUTATION, TILING  # noqa: PLC0415
    from leadline.tune.mapping.forms import hosts, save, text, usual_form  # noqa: PLC0415

    if plan is not None and plan.suffix == ".program" and asked["matrix"] is None:
        asked["matrix"] = plan
    if plan is None and asked["matrix"] is None:
        raise UsageError("missing PLAN (one with the benchmark halo), or a communication matrix by --matrix")
    described, form = load_described(machine), asked["form"]
    with working("reading the messages") as say:
        if asked["matrix"] is not None:
            task = mapping.of_matrix(asked["matrix"], described, asked["ranks"], asked["network"])
        else:
            assert plan is not None
            task = mapping.of_plan(plan, described, asked["ranks"], asked["network"])
        hosts(asked["hosts"], task.distances.nodes)  # what is wrong with them is told before the search
        kinds = [ORDER] if form == "order" else [ORDER, TILING, PERMUTATION]
        outcome = mapping.tune(task, asked["seconds"], kinds, say)
    best = outcome.best()
    form = form or usual_form(best)
    better = best is not outcome.usual and best.ratio is not None and best.ratio < 1
    if output is not None and better:
        save(text(outcome, best, form, asked["hosts"]), output)
    rows = [_row(outcome, each, each is best) for each in outcome.trials]
    if asked["as_json"]:
        print_table(rows, {}, as_json=True)
        return
    print_table(rows[: SHOWN + 1], COLUMNS)
    for line in [_conclusion(outcome, best), *mapping.method(outcome)]:
        tell(line)
    if not better:
        click.echo("No file was written: the default mapping needs none.")
    elif output is not None:
        click.echo(f"{output}: {best.candidate.name}, as {form}{_use(form, output)}")
        if asked["hosts"] is None and form in ("rankfile", "hostfile"):
            click.echo("Its host names node0, node1, ... are placeholders: name your nodes with --hosts.")
    elif form == "order":
        click.echo(f"Use it with --mapping {best.candidate.name}.")
    else:
        click.echo(f"No file was written: --output FILE writes a {form}.")


def _row(outcome: "Outcome", trial: "Trial", best: bool) -> dict[str, object]:
    """A mapping as an object; for people also its numbers in words."""
    assert trial.ratio is not None
    times = {case.told(): time for case, time in zip(outcome.task.cases, trial.times, strict=True)}
    return {
        "mapping": trial.candidate.name,
        "kind": trial.candidate.kind,
        "best": best,
        "usual": trial is outcome.usual,
        "hop_bytes": trial.hop_bytes,
        "busiest": trial.busiest,
        "time": trial.ratio,
        "times": times,
        "told_hops": _percent(trial.hop_bytes),
        "told_busiest": _percent(trial.busiest),
        "told_time": _percent(trial.ratio) + (" (default)" if trial is outcome.usual else ""),
    }


def _percent(part: float) -> str:
    """A part of the usual mapping's."""
    return f"{100 * part:.3g} %"


def _conclusion(outcome: "Outcome", best: "Trial") -> str:
    """What came of it, in a sentence."""
    assert best.ratio is not None
    usual = outcome.usual.candidate.name
    if best is outcome.usual or best.ratio >= 1:
        return f"No mapping was found that is faster than {usual}."
    return (
        f"{best.candidate.name} ({best.candidate.kind}) takes {_percent(best.ratio)} of the time of {usual}: "
        f"a gain of {_percent(1 - best.ratio)}, as simulated."
    )


def _use(form: str, path: Path) -> str:
    """How the file is used."""
    return {
        "rankfile": f"; mpirun --rankfile {path}",
        "hostfile": f"; SLURM_HOSTFILE={path} srun --distribution=arbitrary",
        "seats": f"; --mapping {path}",
        "order": "; --mapping",
    }[form]
