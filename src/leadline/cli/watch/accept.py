"""`leadline watch accept`: sets the baseline of a history."""

from pathlib import Path

import click

from leadline.cli._types import AtLeast
from leadline.cli._watch import failures_are_no_regressions, history_option


@click.command
@click.argument("run", required=False)
@history_option
@click.option("--next", "following", is_flag=True, help="Let the baseline begin with the next run.")
@click.option(
    "--runs",
    type=AtLeast(5),
    help="Number of runs that form the baseline, 5 or more. Default: unchanged; 14 at first.",
)
def command(*, run: str | None, history: Path, following: bool, runs: int | None) -> None:
    """Restart the baseline of a history at a run, such as the first after an intended change.

    RUN is the name of a run in the history, such as run-0017; without it, it is the newest one. Runs before
    it are kept, and no longer judged.
    """
    from leadline.analysis.watch import BASELINE  # noqa: PLC0415
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.run import watched  # noqa: PLC0415

    if run and following:
        raise click.UsageError("RUN and --next exclude each other", click.get_current_context())
    with failures_are_no_regressions():
        if not history.is_dir():
            raise UsageError(f"there is no history {history}")
        with watched.locked(history):
            names = watched.names(history)
            if not following and not run and not names:
                raise UsageError(f"{history} has no run yet: the baseline begins with the first one")
            number = runs or watched.runs_of_baseline(history) or BASELINE
            accepted = watched.accept(history, None if following else run or names[-1], number)
    click.echo(f"{history}: the baseline is {accepted.runs} runs from {accepted.first or 'the next one'} on")
