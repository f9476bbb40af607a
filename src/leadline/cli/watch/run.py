"""`leadline watch run`: one more run of a watched machine, and the verdict on it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from leadline.cli._options import agent_option, hosts_option, machine_option, mapping_option, network_option
from leadline.cli._progress import shown
from leadline.cli._table import json_option
from leadline.cli._target import check_agent, described, interruptible, local, tell_overruled, warn
from leadline.cli._types import AtLeast, PlanFile
from leadline.cli._watch import (
    any_host_option,
    conclude,
    failures_are_no_regressions,
    history_option,
    threshold_option,
)


@click.command
@click.argument("plan", type=PlanFile())
@history_option
@threshold_option
@any_host_option
@machine_option("Watch a simulated machine instead of measuring.")
@click.option(
    "--ranks",
    type=AtLeast(1),
    help="With --on: ranks of the part of the machine that the run has. Default: the whole machine.",
)
@mapping_option()
@network_option("With --on: network model. Default: auto.", default=None)
@click.option("--noise", is_flag=True, help="With --on: simulate the machine's noise, different in each run.")
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIRECTORY",
    help="Where I/O benchmarks write their files. Default: the run's directory.",
)
@hosts_option("Hosts for a plan that names none.")
@agent_option("With --hosts: starts processes on them in place of ssh.")
@json_option
def command(
    *, plan: Path, history: Path, threshold: float, any_host: bool, as_json: bool, **asked: Any
) -> None:
    """Measure PLAN, add the run to the history, and judge it against the baseline.

    Exit codes: 0, nothing became worse, or too few runs are known to judge; 1, a point became slower, drifts,
    or failed; 2, nothing could be measured or judged; 130, interrupted.
    """
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.plan.model import Plan  # noqa: PLC0415  (polars takes a while to load)
    from leadline.run import session, watched  # noqa: PLC0415

    machine = asked["machine"]
    for name in ("ranks", "mapping", "network", "noise"):
        if asked[name] and not machine:
            raise click.UsageError(
                f"--{name} needs a simulated machine: name it with --on", click.get_current_context()
            )
    for name in ("hosts", "agent", "directory"):
        if asked[name] and machine:
            raise click.UsageError(
                f"--{name} needs a measured machine: leave out --on", click.get_current_context()
            )
    with failures_are_no_regressions():
        read = Plan.load(plan)
        check_agent(read, asked)
        tell_overruled(read, asked)
        with watched.locked(history):
            path = watched.next_run(history)
            before = watched.open_history(history, any_host)
            seed = int(path.name.rpartition("-")[2])
            target = (
                described(machine, plan, seed, asked) if machine else local(None, asked["directory"], asked)
            )

            def begun(facts: Mapping[str, Any]) -> None:
                """Refuse what could not be compared, before time is spent on it."""
                if before.runs and (why := watched.differs(before.runs[0], read.text, facts, any_host)):
                    raise UsageError(
                        f"nothing was measured, as this run could not be compared with the baseline: {why}; '"
                        f"leadline watch accept --next --history {history}' lets a new baseline begin with it"
                    )
                warn(facts)

            with shown() as (show, say), interruptible(path):
                session.run(read, target, path, seed=seed, say=say, show=show, begun=begun)
            baseline = watched.baseline_of(history)
            if baseline is None or baseline.first is None:
                begins = before.runs[0].name if baseline is None and before.runs else path.name
                watched.accept(history, begins, before.baseline.runs)
                click.echo(f"the baseline begins with {begins}", err=True)
            conclude(watched.judge(watched.open_history(history, any_host), threshold), as_json)
