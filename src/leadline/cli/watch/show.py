"""`leadline watch show`: the verdict on the newest run of a history, without measuring."""

from pathlib import Path

import click

from leadline.cli._table import json_option
from leadline.cli._watch import (
    any_host_option,
    conclude,
    failures_are_no_regressions,
    history_option,
    threshold_option,
)
from leadline.cli._working import working


@click.command
@history_option
@threshold_option
@any_host_option
@json_option
def command(*, history: Path, threshold: float, any_host: bool, as_json: bool) -> None:
    """Judge the newest run of a history again, without measuring; the files in it are written anew.

    The exit codes are those of 'leadline watch run'.
    """
    from leadline.run import watched  # noqa: PLC0415  (loads polars)

    with failures_are_no_regressions():
        with working("reading the history"):
            verdict = watched.judge(watched.open_history(history, any_host), threshold)
        with watched.locked(history):
            conclude(verdict, as_json)
