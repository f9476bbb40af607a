"""`leadline jobs cancel`: ends a job and does not resume it."""

import click


@click.command()
@click.argument("job", nargs=-1, required=True)
def command(*, job: tuple[str, ...]) -> None:
    """End jobs and do not resume them; what they finished is kept.

    JOB is a name from 'leadline jobs', or the batch system's job ID.
    """
    from leadline import batch  # noqa: PLC0415
    from leadline.batch.job import load  # noqa: PLC0415

    for each in [load(name) for name in job]:
        batch.cancel(each)
        click.echo(f"{each.name}: cancelled")
