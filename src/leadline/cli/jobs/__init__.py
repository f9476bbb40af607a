"""`leadline jobs`: lists, follows and cancels what `--submit` gave to a batch system."""

import click

from leadline.cli._group import LazyGroup
from leadline.cli._table import json_option, print_table

COLUMNS = {
    "name": "job",
    "system": "system",
    "native": "identity",
    "state": "state",
    "attempts": "jobs",
    "submitted": "submitted",
    "command": "command",
}


@click.group(cls=LazyGroup, package=__name__, invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """List the jobs that --submit submitted; with a command, follow or cancel one."""
    if ctx.invoked_subcommand:
        return
    from leadline import batch  # noqa: PLC0415

    rows = [
        {
            "name": job.name,
            "system": job.system,
            "native": job.native,
            "state": batch.state(job),
            "attempts": job.attempts,
            "submitted": job.submitted,
            "command": f"leadline {' '.join(job.command)}",
        }
        for job in batch.jobs()
    ]
    if not rows and not as_json:
        click.echo("nothing was submitted yet; 'leadline run PLAN --submit slurm' does", err=True)
        return
    print_table(rows, COLUMNS, as_json)
