"""The commands about a program's files."""

import click

from leadline.cli._group import LazyGroup


@click.group(cls=LazyGroup, package=__name__)
def command() -> None:
    """Tune HDF5, MPI-IO and file-system settings of a program without changing it.

    'tune' searches settings by running the program again and again, 'run' starts a program with the best
    known settings, 'advise' prints them. 'doctor' checks that settings can be preloaded into a program,
    'check' that a settings file is correct, 'library' prints the path of the preloaded library.
    """
