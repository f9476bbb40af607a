"""The verb that measures."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._working import working

if TYPE_CHECKING:
    from leadline.campaign import Campaign, Progress
    from leadline.execute import RealExecutor
    from leadline.plan import Plan
    from leadline.store import Store


@click.command()
@click.argument("plan", required=False)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Directory of the run; it must not exist yet. Default: runs/PLAN-DATE.",
)
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="RUN", help="Go on with a run that was ended early."
)
@click.option("--seed", default=1, show_default=True, help="Decides the order of points within launches.")
def command(*, plan: str | None, output: Path | None, resume: Path | None, seed: int) -> None:
    """Measure what a plan asks for, on this machine's MPIs.

    PLAN is the name of a shipped plan (see 'leadline list plans') or a TOML file. Every finished point is on
    the disk at once: a run that is interrupted keeps them, and --resume goes on from there. The exit code is
    1 when a point failed; the others are measured all the same.
    """
    from leadline import plan_files, store  # noqa: PLC0415  (polars takes a while to load)

    if resume and (plan or output):
        raise click.UsageError(
            "--resume takes its plan and its directory from the run", click.get_current_context()
        )
    if resume:
        path = store.find(str(resume))
        _measure(path, path / store.PLAN, seed, resume=True)
    elif plan:
        chosen = plan_files.find(plan)
        _measure(output or _new_run(chosen), chosen, seed, resume=False)
    else:
        raise click.UsageError("missing PLAN, such as 'quick'", click.get_current_context())


def _new_run(plan: Path) -> Path:
    """A directory named after the plan and the time."""
    from datetime import datetime  # noqa: PLC0415

    from leadline.store import RUNS  # noqa: PLC0415

    return RUNS / f"{plan.stem}-{datetime.now():%Y%m%d-%H%M%S}"


def _measure(path: Path, plan_path: Path, seed: int, resume: bool) -> None:
    """Read the plan, find its MPIs, take its points, and say what came of it."""
    from leadline import provenance, registry  # noqa: PLC0415
    from leadline.campaign import Campaign  # noqa: PLC0415
    from leadline.execute import RealExecutor, identities, scratch  # noqa: PLC0415
    from leadline.mpi.discover import find  # noqa: PLC0415
    from leadline.plan import Here, Plan  # noqa: PLC0415
    from leadline.store import Store  # noqa: PLC0415
    from leadline.topology import usable_cores  # noqa: PLC0415

    with working("looking at the plan and the machine"):
        plan = Plan.load(plan_path, registry.benchmarks)
        known = find()
        points = plan.points(registry.benchmarks, Here(lambda word: identities(word, known), usable_cores()))
    named = {point.mpi for point in points}
    mpis = {mpi.id: mpi for mpi in known if mpi.id in named}
    if resume:
        opened = Store.reopen(path)
    else:
        asked = {point.benchmark for point in points}
        asking = [each for name, each in registry.benchmarks().items() if name in asked]
        facts = provenance.collect(mpis.values(), plan_path, asking)
        opened = Store.create(path, plan.text, facts)
        _warn(facts["before"])
    with opened as store, scratch() as place, _shown(plan) as (show, say):
        executor = RealExecutor(mpis, place, say)
        campaign = Campaign(plan, points, executor, store, show=show, seed=seed)
        if resume:
            campaign.resume()
        _take(campaign, executor, store)
        if campaign.remarks:
            store.note(remarks=sorted(campaign.remarks))
        records = store.records()
        store.finish()
    for remark in sorted(campaign.remarks):
        click.echo(f"leadline: {remark}", err=True)
    _conclude(records, path)


def _warn(before: dict[str, float]) -> None:
    """Say beforehand that the machine is not quiet; the records and the report say so as well."""
    from leadline.noise import SIGNS  # noqa: PLC0415

    limit = next(sign.disturbed for sign in SIGNS if sign.name == "others")
    if (busy := before["others"] + before["steal"]) >= limit:
        click.echo(
            f"leadline: the machine is not quiet: others keep {busy:.1f} processors busy; "
            "points that this disturbs will be marked",
            err=True,
        )


def _take(campaign: "Campaign", executor: "RealExecutor", store: "Store") -> None:
    """Run the campaign; what was found out about its launches is kept before the first."""
    from leadline.provenance import merged  # noqa: PLC0415
    from leadline.store import provenance  # noqa: PLC0415

    try:
        campaign.prepare()
        store.note(kinds=merged(provenance(store.path), executor.facts())["kinds"])
        campaign.run()
    except KeyboardInterrupt as interrupt:
        way_on = f"every finished point is kept, go on with 'leadline run --resume {store.path}'"
        raise KeyboardInterrupt(way_on) from interrupt


def _conclude(records: Any, path: Path) -> None:
    """Say how many points were measured, skipped and failed; exit code 1 where one failed."""
    from leadline.record import FAILED, OK, SKIPPED  # noqa: PLC0415
    from leadline.store import point_key  # noqa: PLC0415

    by_status: dict[str, dict[Any, str]] = {OK: {}, SKIPPED: {}, FAILED: {}}
    for row in records.drop("samples").iter_rows(named=True):
        by_status[row["status"]].setdefault(point_key(row), row["reason"])
    launches = records["launch"].n_unique()
    click.echo(
        f"{path}: {len(by_status[OK])} points measured in {launches} launches, "
        f"{len(by_status[SKIPPED])} skipped, {len(by_status[FAILED])} failed"
    )
    for reason in dict.fromkeys(by_status[FAILED].values()):
        click.echo(f"  failed: {reason}", err=True)
    if by_status[FAILED]:
        click.get_current_context().exit(1)


@contextmanager
def _shown(plan: "Plan") -> Iterator[tuple[Callable[["Progress"], None], Callable[[str], None]]]:
    """A progress bar on a terminal, nothing elsewhere: what to call with progress, and with preparations."""
    if not sys.stderr.isatty():
        yield (lambda _: None), (lambda _: None)
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    # Drawn only when the campaign ticks: a thread of its own would take processor time from the ranks.
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[left]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
    )
    with bar:
        task = bar.add_task("preparing", total=plan.time, left="")

        def show(progress: "Progress") -> None:
            left = f"{progress.open} points open, {progress.launches} launches"
            bar.update(
                task, completed=progress.elapsed, description=progress.doing[:48], left=left, refresh=True
            )

        def say(what: str) -> None:
            bar.update(task, description=what, refresh=True)

        yield show, say
