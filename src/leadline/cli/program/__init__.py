"""The commands for programs as files."""

import click

from leadline.cli._group import LazyGroup


@click.group(cls=LazyGroup, package=__name__)
def command() -> None:
    """Convert program files from and to the formats of other tools.

    A program file has the MPI calls of each rank; 'leadline record' writes it, 'leadline replay' executes it.
    'import' makes one from another tool's file, 'export' writes a file for another tool.
    """
