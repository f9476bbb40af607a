"""`leadline io library`: the path of the preloaded library."""

import click


@click.command()
def command() -> None:
    """Print the path of the library for LD_PRELOAD; build the library first where necessary.

    docs/tune-my-program.md describes how to use it in a job script.
    """
    from leadline.native.build import build_h5tuner  # noqa: PLC0415

    click.echo(build_h5tuner())
