"""The commands for programs as files."""

import click

from leadline.cli._group import LazyGroup


@click.group(cls=LazyGroup, package=__name__)
def command() -> None:
    """Read and write programs in the forms of other tools.

    'import' makes a program of another tool's file, 'export' writes one; 'leadline replay' executes it.
    """
