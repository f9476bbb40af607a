"""The command `leadline`: one command a file of this package, one group of commands a folder.

A file is imported when its command is used, so that help and completion are quick.
"""

import click

from leadline import __version__
from leadline.cli._guard import GuardedGroup

EPILOG = """\b
First steps:
  leadline doctor              check that this machine can be measured
  leadline run quick           measure it, in less than 3 minutes, into runs/
  leadline report              write a page about the newest run
'leadline COMMAND --help' explains each command, 'leadline list plans' lists
what else can be measured.
"""


@click.group(
    "leadline",
    cls=GuardedGroup,
    package=__name__,
    moved={"against": "validate"},
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "-V", "--version", prog_name="leadline")
def main() -> None:
    """Measure what message passing and parallel I/O cost, fit models, simulate, predict and tune.

    A plan lists what to measure, and a run of the plan writes records. Most other commands read runs, or
    program files that 'leadline record' wrote.
    """
