"""`leadline jobs follow`: follows a job to its end, as --submit does without --detach."""

import click


@click.command()
@click.argument("job")
@click.pass_context
def command(ctx: click.Context, *, job: str) -> None:
    """Follow a job to its end; if the time limit ended a run, a new job resumes it.

    JOB is a name from 'leadline jobs', or the batch system's job ID. The exit code is that of
    the command in the job.
    """
    from leadline.batch.job import load  # noqa: PLC0415
    from leadline.cli._submit import follow_job  # noqa: PLC0415

    ctx.exit(follow_job(load(job)))
