"""The commands that choose a library's algorithms and the mapping of ranks."""

import click

from leadline.cli._group import LazyGroup

# A program's files have a group of their own, `leadline io`.
MOVED = {name: f"io {name}" for name in ("run", "advise", "check", "doctor", "library")}


@click.group(cls=LazyGroup, package=__name__, moved=MOVED | {"io": "io tune"})
def command() -> None:
    """Choose an MPI library's collective algorithms, or a mapping of ranks, and write its settings.

    'collectives' chooses algorithms from a run that measured them, 'mapping' chooses the placement of ranks
    by simulation. For a program's files see 'leadline io'.
    """
