"""`leadline tune library`: the library that is preloaded, built if need be."""

import click


@click.command()
def command() -> None:
    """Print the path of the library for LD_PRELOAD, after building it if need be.

    How it is used: docs/tune-my-program.md.
    """
    from leadline.programs.build import build_h5tuner  # noqa: PLC0415

    click.echo(build_h5tuner())
