"""Where `run` and `watch` take a plan: this machine or a described one; and what is said before and after."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._machine import load_described
from leadline.cli._table import tell
from leadline.core.errors import Interrupted

if TYPE_CHECKING:
    from leadline.plan.model import Plan
    from leadline.targets import Target
    from leadline.targets.simulated.machine import SimulatedMachine


def described(machine: Path, plan: Path, seed: int, asked: Mapping[str, Any]) -> "SimulatedMachine":
    """The described machine as the options `ranks` to `point_limit` of a described machine want it."""
    from leadline.plan.settings import NETWORKS  # noqa: PLC0415
    from leadline.targets.simulated.limits import LIMIT, POINT_LIMIT  # noqa: PLC0415
    from leadline.targets.simulated.machine import SimulatedMachine  # noqa: PLC0415

    network = asked["network"] or NETWORKS[0]
    return SimulatedMachine.of(
        load_described(machine),
        plan,
        asked["ranks"],
        asked["mapping"],
        network,
        noise=asked["noise"],
        seed=seed,
        point_limit=asked.get("point_limit", LIMIT) or POINT_LIMIT,  # LIMIT: a verb without the option
    )


def local(tuned: Path | None, files: Path | None, where: Mapping[str, Any]) -> "Target":
    """This machine, with the settings in the directory `tuned` beside each library's own choice.

    `where` has the `hosts` and the `agent` of the options, None where they were not given.
    """
    from leadline.targets.local.machine import LocalMachine  # noqa: PLC0415
    from leadline.tune.collectives import files as collectives_files  # noqa: PLC0415

    settings = {name: vars(each) for name, each in collectives_files.read(tuned).items()} if tuned else {}
    return LocalMachine.here(settings, files, where["hosts"] or (), where["agent"])


def check_agent(plan: "Plan", where: Mapping[str, Any]) -> None:
    """UsageError where --agent is given and neither an option, nor the plan, nor an allocation has hosts."""
    from leadline.mpi.launcher import allocation  # noqa: PLC0415

    hosts = where["hosts"] or any(each.settings.hosts for each in plan.measures)
    if where["agent"] and not hosts and not allocation():
        raise click.UsageError("--agent needs --hosts, or hosts in the plan", click.get_current_context())


def tell_overruled(plan: "Plan", asked: Mapping[str, Any]) -> None:
    """Say for which measurements --ranks or --mapping does nothing, as the plan says it for them.

    Raises UsageError where that is so of all.
    """
    for option, key in (("ranks", "partition"), ("mapping", "mapping")):
        own = dict.fromkeys(each.benchmark for each in plan.measures if each.settings.axes[key])
        if not asked[option] or not own:
            continue
        if all(each.settings.axes[key] for each in plan.measures):
            raise click.UsageError(
                f"--{option} would change nothing: each measurement of the plan has its own {key}",
                click.get_current_context(),
            )
        tell(
            f"leadline: --{option} is for measurements without their own {key}, not for {', '.join(own)}",
            err=True,
        )


def warn(facts: Mapping[str, Any]) -> None:
    """Say beforehand that the machine is not quiet; the records and the report say so as well."""
    from leadline.core.busy import BUSY  # noqa: PLC0415

    if (before := facts.get("before")) is None:
        return
    if (busy := before["others"] + before["steal"]) >= BUSY:
        click.echo(
            f"leadline: before the run, other processes keep {busy:.1f} processors busy; points "
            "measured beside other work will be marked",
            err=True,
        )


@contextmanager
def interruptible(path: Path) -> Iterator[None]:
    """An interruption within the block says how to go on with the run, once there is one."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if not path.exists():
            raise
        why = f"{interrupt}; " if isinstance(interrupt, Interrupted) else ""
        way_on = f"{why}every finished point is kept; resume with 'leadline run --resume {path}'"
        raise KeyboardInterrupt(way_on) from interrupt
