"""`leadline run`: measures the points of a plan on this machine, or simulates them on another."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._options import (
    Parsed,
    agent_option,
    hosts_option,
    machine_option,
    mapping_option,
    network_option,
    positive_time,
    where_option,
)
from leadline.cli._progress import shown
from leadline.cli._submit import Resumable, Submittable
from leadline.cli._table import tell
from leadline.cli._target import check_agent, described, interruptible, local, tell_overruled, warn
from leadline.cli._then import print_results
from leadline.cli._types import AtLeast, PlanFile, Run
from leadline.cli._working import working

if TYPE_CHECKING:
    import polars as pl

    from leadline.plan.model import Plan
    from leadline.targets.simulated.machine import SimulatedMachine

# Of a described machine only.
DESCRIBED = ("ranks", "mapping", "network", "noise", "uncertainty", "point_limit")


class _Run(Submittable):
    """As a job, a run goes to a directory that is known beforehand, and is resumed from it."""

    cut = "If the time limit ends it, a new job resumes the run."

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As any command; who looks for an option that plans have as a key is told so."""
        from leadline.core.axes import AXES  # noqa: PLC0415

        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as problem:
            if (key := problem.option_name.lstrip("-")) not in AXES:
                raise
            raise click.UsageError(f"{key} is a key of plans (docs/plans.md), and no option", ctx) from None

    def resumable(self, params: dict[str, Any], words: list[str]) -> Resumable:
        if params["resume"]:
            return Resumable(words, words, None)
        if not params["plan"]:
            raise click.UsageError("missing PLAN, such as 'quick'", click.get_current_context())
        from leadline.run import store  # noqa: PLC0415  (loads polars)

        output = params["output"] or store.fresh(params["plan"].stem)
        words = words if params["output"] else [*words, "--output", str(output)]
        files = ["--directory", str(params["directory"])] if params["directory"] else []
        return Resumable(words, ["run", "--resume", str(output), *files], output)


@click.command(cls=_Run)
@click.argument("plan", required=False, type=PlanFile())
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Directory for the run: a new or an empty one. Default: runs/PLAN-DATE.",
)
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="RUN", help="Resume a run that was interrupted."
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    help="Seed of the order of points within launches; with --on also of the noise.",
)
@machine_option("Simulate this machine instead of measuring.")
@click.option(
    "--ranks",
    type=AtLeast(1),
    help="With --on: size of the simulated partition, in ranks, where the plan names no partition. Each "
    "benchmark runs on as many of them as the plan's key ranks says. Default: the whole machine.",
)
@mapping_option()
@network_option(
    "With --on: network model in place of the plan's. Default: the plan's, else auto.", default=None
)
@click.option(
    "--tuned",
    type=click.Path(path_type=Path),
    metavar="DIRECTORY",
    help="Measure collective operations also with the settings that 'leadline tune collectives' wrote to "
    "DIRECTORY, launch by launch, and print the gain.",
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIRECTORY",
    help="Where I/O benchmarks write their files, such as a parallel file system. Default: the run's "
    "directory.",
)
@hosts_option("Hosts for a plan that names none. Default: this one, or those of the allocation.")
@agent_option("With --hosts: starts processes on them in place of ssh.")
@click.option("--noise", is_flag=True, help="With --on: simulate the machine's noise, too.")
@click.option(
    "--uncertainty",
    is_flag=True,
    help="With --on: also simulate with each machine constant at both ends of its interval, and print the "
    "resulting interval of each answer.",
)
@click.option("--sensitivity", is_flag=True, hidden=True)  # its name in version 0.1
@click.option(
    "--point-limit",
    type=Parsed(positive_time),
    metavar="TIME",
    help="With --on: how long this host may simulate a point before it is skipped, such as '1 h'. "
    "Default: 3 min.",
)
@click.option(
    "--against",
    type=Run(),
    metavar="RUN",
    help="With --on: compare with this measured run of the same plan, as 'leadline validate' does.",
)
@where_option("With --against: use only measured points with this value, such as mpi=openmpi.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="With --against or --uncertainty: print their answer as JSON: an object for each point, pattern and "
    "the whole, or for each answer and machine constant.",
)
def command(*, plan: Path | None, output: Path | None, resume: Path | None, seed: int, **asked: Any) -> None:
    """Measure the points of a plan with this machine's MPIs, or simulate them on another machine.

    PLAN is a name from 'leadline list plans' or a TOML file. Each finished point is written to disk at once,
    so an interrupted run keeps it, and --resume continues the run. The exit code is 1 when a point failed or
    its result was wrong, and when nothing was measured; skipped points do not change it. The other points
    are measured nevertheless.
    """
    from leadline.plan.model import Plan  # noqa: PLC0415  (polars takes a while to load)
    from leadline.run import session, store  # noqa: PLC0415

    context = click.get_current_context()
    machine, tuned, files = (asked.pop(name) for name in ("machine", "tuned", "directory"))
    where = {name: asked.pop(name) for name in ("hosts", "agent")}
    after = _against(asked, bool(machine))
    if resume and (plan or output or machine or tuned or any(where.values())):
        raise click.UsageError(
            "--resume takes plan, machine, hosts and settings from the run: leave out PLAN, -o, --on, "
            "--hosts, --agent and --tuned",
            context,
        )
    if files and machine:
        raise click.UsageError("--directory needs a measured run: with --on no file is written", context)
    if any(where.values()) and machine:
        raise click.UsageError("--hosts and --agent need a measured run: --on names a machine", context)
    if tuned and machine:
        raise click.UsageError(
            "--tuned needs a measured run: a simulated machine has no MPI library", context
        )
    for name in DESCRIBED:
        if asked[name] and not machine:
            raise click.UsageError(
                f"--{name.replace('_', '-')} needs a simulated machine: name it with --on", context
            )
    before = None
    if resume:
        path = store.find(str(resume))
        read = session.plan_of(path)
        before = store.load(path).height
        taken = partial(session.resume, path, read, seed=seed, files=files)
    elif plan:
        path = output or store.fresh(plan.stem)
        with working("looking at the plan and the machine"):
            read = Plan.load(plan)
            simulated = described(machine, plan, seed, asked) if machine else None
            check_agent(read, where)
            tell_overruled(read, asked)
            _tell_places(read, simulated, asked["ranks"] or 0)
            if simulated and asked["uncertainty"]:
                after = _uncertainty(read, simulated, asked["as_json"])
            target = simulated or local(tuned, files, where)
        taken = partial(session.run, read, target, path, seed=seed, begun=warn)
    else:
        raise click.UsageError("missing PLAN, such as 'quick'; 'leadline list plans' has them all", context)
    with shown() as (show, say), interruptible(path):
        records = taken(say=say, show=show)
    for remark in store.provenance(path).get("remarks", ()):
        tell(f"leadline: {remark}", err=True)
    if after:
        after(records)
    _conclude(records, path, None if after else read.then, before=before)


def _tell_places(plan: "Plan", target: "SimulatedMachine | None", partition: int) -> None:
    """Say which collectives use fewer ranks than the part of a described machine that was asked for has, and
    which benchmarks of two ranks have both on one node where the plan does not say where they are.
    """
    from leadline.core.collectives import OPERATIONS  # noqa: PLC0415

    few = dict.fromkeys(
        each.benchmark
        for each in plan.measures
        if each.benchmark in OPERATIONS and not each.settings.axes["ranks"]
    )
    if few and partition > 2:
        tell(
            f"leadline: {', '.join(few)}: on the benchmark's fewest ranks, not on {partition}; "
            "with 'ranks = \"cores\"' in the plan on all of them",
            err=True,
        )
    near = dict.fromkeys(
        each.benchmark
        for each in plan.measures
        if set(each.settings.axes["placement"]) <= {"default"} and not each.settings.axes["ranks"]
    )
    several = target and target.machine.max_nodes > 1 and target.machine.ranks_per_node > 1
    if near and target and several and target.mapping.startswith("T"):
        tell(
            f"leadline: {', '.join(near)}: two ranks are on one node of {target.machine.name}; with "
            "'placement = \"nodes\"' in the plan, or another --mapping, on two",
            err=True,
        )


def _against(asked: dict[str, Any], simulates: bool) -> "Callable[[pl.DataFrame], None] | None":
    """What holds simulated records against a measured run, if that is asked; the run is read beforehand."""
    if asked.pop("sensitivity"):
        click.echo(
            "leadline: 'run --sensitivity' is now 'run --uncertainty'; the next version drops the old name",
            err=True,
        )
        asked["uncertainty"] = True
    run, where, as_json = (asked[name] for name in ("against", "where", "as_json"))
    context = click.get_current_context()
    if run and not simulates:
        raise click.UsageError("--against needs a simulated machine: name it with --on", context)
    if run and asked["uncertainty"]:
        raise click.UsageError("--against and --uncertainty exclude each other", context)
    if where and not run:
        raise click.UsageError("--where needs --against", context)
    if as_json and not (run or asked["uncertainty"]):
        raise click.UsageError("--json needs --against or --uncertainty", context)
    if not run:
        return None
    from leadline.analysis.validate import prepared  # noqa: PLC0415
    from leadline.cli._validation import print_validation  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415

    measured = prepared(store.load(run), where, str(run))
    return lambda records: print_validation(measured, records, as_json)


def _uncertainty(plan: "Plan", target: "SimulatedMachine", as_json: bool) -> "Callable[[pl.DataFrame], None]":
    """What prints how far answers move with the machine's constants; refused beforehand where none would."""
    from leadline.cli._uncertainty import print_uncertainty  # noqa: PLC0415
    from leadline.run.uncertainty import uncertain, uncertainty  # noqa: PLC0415

    uncertain(target)

    def after(records: "pl.DataFrame") -> None:
        with working("simulating with other constants") as say:
            found = uncertainty(plan, target, records, say)
        print_uncertainty(found, as_json)

    return after


def _conclude(
    records: "pl.DataFrame", path: Path, then: "Sequence[str] | None", before: int | None = None
) -> None:
    """Say how many points were measured, skipped, failed or wrong; exit code 1 for failed, wrong or none.

    `then` is what the plan asks for at the end; None: the standard output has another answer, so that this is
    on the standard error. `before`: how many records a resumed run had.
    """
    from leadline.analysis.counts import count_points  # noqa: PLC0415
    from leadline.core.record import FAILED, INVALID, OK, SIMULATED, SKIPPED  # noqa: PLC0415

    aside = then is None
    counts = count_points(records)
    simulated = (records["source"] == SIMULATED).any()
    launches = records["launch"].n_unique()
    measured = f"measured in {launches} launch{'' if launches == 1 else 'es'}"
    done = "simulated" if simulated else measured
    click.echo(  # one line, however long the path: scripts look for it
        f"{path}: {counts[OK]} point{'' if counts[OK] == 1 else 's'} {done}, "
        f"{counts[SKIPPED]} skipped, {counts[FAILED]} failed"
        + (f", {counts[INVALID]} invalid" if counts[INVALID] else ""),
        err=aside,
    )
    if counts[SKIPPED]:
        reasons = records.filter(records["status"] == SKIPPED)["reason"].value_counts(sort=True)
        tell(
            f"  skipped: {'; '.join(reasons['reason'][:2])}"
            + (
                f"; and {len(reasons) - 2} more reason{'s' if len(reasons) > 3 else ''}"
                if len(reasons) > 2
                else ""
            )
            + f"; 'leadline show {path} --skipped' lists them",
            indent="    ",
            err=True,
        )
    if before == records.height:
        click.echo("  nothing was left to measure", err=True)
    lost = records.filter(records["status"].is_in([FAILED, INVALID]))
    if lost.height and not counts[FAILED] and not counts[INVALID]:
        click.echo("  every point that failed in a launch was measured in others", err=True)
        lost = lost.clear() if before is not None else lost  # what a resumed run mended is no failure of it
    named = lost.group_by("status", "reason", maintain_order=True).agg("benchmark")
    for status, reason, benchmarks in named.iter_rows():
        tell(f"  {status}: {', '.join(sorted(set(benchmarks)))}: {reason}", indent="    ", err=True)
    if then is not None:
        print_results(path, records, then)
    if not counts[OK]:
        click.echo("leadline: nothing was measured: no point has a result", err=True)
    if lost.height or not counts[OK]:
        click.get_current_context().exit(1)
