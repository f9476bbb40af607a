"""`leadline tune mapping`: which rank should sit where, found on the simulator."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._table import json_option, print_table
from leadline.cli._types import MachineFile, PlanFile
from leadline.cli._working import working

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


@click.command()
@click.argument("plan", required=False, type=PlanFile())
@click.option(
    "--on",
    "machine",
    type=MachineFile(),
    required=True,
    metavar="MACHINE",
    help="The described machine: its name (see 'leadline list machines') or a TOML file.",
)
@click.option(
    "--ranks",
    type=click.IntRange(min=2),
    help="How many ranks. Default: those of the plan's halo, or of the matrix.",
)
@click.option(
    "--matrix",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Messages that a program was seen to send: from, to, bytes, in .csv, .parquet or .npz.",
)
@click.option(
    "--time",
    "seconds",
    default="60 s",
    show_default=True,
    metavar="TIME",
    help="For search and simulation together.",
)
@click.option(
    "--network",
    type=click.Choice(["auto", "loggp", "flow", "packet"]),
    default="auto",
    show_default=True,
    help="How true the network is, where the plan names none.",
)
@click.option("--output", "-o", type=click.Path(path_type=Path), metavar="FILE", help="Where to write it.")
@click.option(
    "--form",
    type=click.Choice(["rankfile", "hostfile", "order", "seats"]),
    help="Open MPI's rank file, a host file for Slurm, an order of axes, or seats for --mapping. "
    "Default: an order where that is the best, else a rank file.",
)
@click.option(
    "--hosts",
    metavar="FILE|node[00-15]",
    help="Names of the nodes, in the order of their numbers. Default: node0, node1, ...",
)
@json_option
def command(*, plan: Path | None, machine: Path, output: Path | None, **asked: Any) -> None:
    """Find the best mapping of ranks for a plan's halo, or for a matrix of messages, by simulation.

    Orders of axes, tilings and, on up to 4,096 seats, permutations are held against the machine's usual
    mapping by what they cost the links; the best are simulated. With --matrix PLAN may be left out. The table
    has the mappings that were simulated, each as a part of the usual one; what was found goes to --output.
    """
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.machine import load  # noqa: PLC0415
    from leadline.plan.settings import positive_time  # noqa: PLC0415
    from leadline.tune.mapping import tuning as mapping  # noqa: PLC0415  (numpy takes a while to load)
    from leadline.tune.mapping.candidates import ORDER, PERMUTATION, TILING  # noqa: PLC0415
    from leadline.tune.mapping.forms import hosts, save, text, usual_form  # noqa: PLC0415

    if plan is None and asked["matrix"] is None:
        raise UsageError("name a PLAN with a halo, or the messages of a program with --matrix")
    try:
        seconds = positive_time(asked["seconds"])
    except UsageError as problem:
        raise UsageError(f"--time: {problem}") from None
    described, form = load(machine), asked["form"]
    with working("looking at the messages") as say:
        if asked["matrix"] is not None:
            task = mapping.of_matrix(asked["matrix"], described, asked["ranks"], asked["network"])
        else:
            assert plan is not None
            task = mapping.of_plan(plan, described, asked["ranks"], asked["network"])
        hosts(asked["hosts"], task.ground.nodes)  # what is wrong with them is told before the search
        kinds = [ORDER] if form == "order" else [ORDER, TILING, PERMUTATION]
        outcome = mapping.tune(task, seconds, kinds, say)
    best = outcome.best()
    form = form or usual_form(best)
    if output is not None:
        save(text(outcome, best, form, asked["hosts"]), output)
    rows = [_row(outcome, each, each is best) for each in outcome.trials]
    if asked["as_json"]:
        print_table(rows, {}, as_json=True)
        return
    print_table(rows[: SHOWN + 1], COLUMNS)
    for line in [_conclusion(outcome, best), *mapping.method(outcome)]:
        click.echo(line)
    if output is not None:
        click.echo(f"{output}: {best.candidate.name}, as {form}{_use(form, output)}")
    elif form == "order":
        click.echo(f"use it with --mapping {best.candidate.name}")
    else:
        click.echo(f"nothing is written; name a file with --output for a {form}")


def _row(outcome: "Outcome", trial: "Trial", best: bool) -> dict[str, Any]:
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
        "told_time": _percent(trial.ratio) + (" (usual)" if trial is outcome.usual else ""),
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
