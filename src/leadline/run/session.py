"""A run: a plan taken at a target, on this machine or on a described one, from its points to its records."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from leadline.core.errors import UsageError
from leadline.native.registry import benchmarks
from leadline.plan.model import Plan, Registry
from leadline.run import provenance, store
from leadline.run.campaign import Campaign, Progress
from leadline.run.store import Memory, Store
from leadline.targets import Executor, Target
from leadline.targets.local.executor import scratch
from leadline.targets.local.machine import LocalMachine
from leadline.targets.simulated.machine import SimulatedMachine


def _quiet(_: object) -> None:
    """Nobody listens."""


def run(
    plan: Plan,
    target: Target,
    path: Path,
    *,
    seed: int = 1,
    say: Callable[[str], None] = _quiet,
    show: Callable[[Progress], None] = _quiet,
    begun: Callable[[dict[str, object]], None] = _quiet,
) -> pl.DataFrame:
    """Take a plan's points at a target into a run at `path`, which must not exist yet. Returns the records.

    `seed` decides the order of points within launches. `say` hears what is being prepared, `show` how far it
    is, `begun` the provenance before the first launch. Raises UsageError for what the plan or the target
    cannot mean, LeadlineError for what the machine lacks; then nothing is begun.
    """
    points = plan.points(target)
    target.check(points)
    Store.check_new(path)
    facts = provenance.common(plan, points) | dict(target.facts(points))
    begun(facts)
    with scratch() as place:
        executor = target.executor(place, path, say)
        for point in points:
            executor.refuse(point)  # builds and probes, which is not the plan's time
        with Store.create(path, plan.text, {**facts, "kinds": executor.facts()}) as opened:
            return _finished(Campaign(plan, points, executor, opened, show=show, seed=seed), opened)


def plan_of(path: Path, registry: Registry = benchmarks) -> Plan:
    """The plan of the run at `path`; raises UsageError where there is no run."""
    if not (text := store.plan_text(path)):
        raise UsageError(f"there is no run in {path}: it has no {store.PLAN}")
    return Plan.parse(text, path / store.PLAN, registry)


def resume(
    path: Path,
    plan: Plan | None = None,
    *,
    seed: int = 1,
    files: Path | None = None,
    say: Callable[[str], None] = _quiet,
    show: Callable[[Progress], None] = _quiet,
) -> pl.DataFrame:
    """Continue the run at `path`, finished or not, with its own plan and target. Returns all its records.

    `plan` is that of the run (`plan_of`) where it is read already, `files` is where benchmarks write theirs
    (None: in the run). Raises UsageError where there is no run, or its machine is described otherwise by now,
    LeadlineError where it is damaged or another process has it.
    """
    facts = store.provenance(path)
    plan = plan or plan_of(path)
    target = target_of(facts, files)
    points = plan.points(target)
    target.check(points)
    with Store.reopen(path) as opened, scratch() as place:
        executor = target.executor(place, path, say)
        campaign = Campaign(plan, points, executor, opened, show=show, seed=seed)
        campaign.resume()
        for point in campaign.wanted():
            executor.refuse(point)
        opened.note(kinds=provenance.merged(facts, executor.facts())["kinds"])
        return _finished(campaign, opened)


def simulate(
    plan: Plan,
    target: Target,
    *,
    say: Callable[[str], None] = _quiet,
    show: Callable[[Progress], None] = _quiet,
) -> pl.DataFrame:
    """The records of a plan at a target, of which no run is kept; raises as `run` does."""
    points = plan.points(target)
    target.check(points)
    with scratch() as place:
        executor: Executor = target.executor(place, place, say)
        taken = Memory(plan.name)
        campaign = Campaign(plan, points, executor, taken, show=show)
        campaign.prepare()
        campaign.run()
    return taken.records()


def target_of(facts: dict[str, Any], files: Path | None = None) -> Target:
    """Where the run with this provenance was taken, as it was.

    Raises UsageError where it was a described machine that is gone, or is described otherwise by now.
    """
    if "simulated" in facts:
        return SimulatedMachine.of_run(facts)
    return LocalMachine.here(facts.get("tuned"), files, facts.get("hosts", ()), facts.get("agent"))


def _finished(campaign: Campaign, opened: Store) -> pl.DataFrame:
    """The records of a campaign that is prepared, run and closed."""
    campaign.prepare()
    campaign.run()
    opened.note(remarks=sorted(campaign.remarks))
    records = opened.records()
    opened.finish()
    return records
