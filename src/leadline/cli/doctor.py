"""The verb that says whether this machine is ready, and that adds an MPI."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from leadline.cli._table import json_option, print_table
from leadline.cli._working import working

if TYPE_CHECKING:
    from leadline.targets.local.doctor import Finding


@click.command()
@click.option("--install", "name", metavar="NAME", help="Add an MPI first: openmpi, mpich or impi.")
@json_option
@click.pass_context
def command(context: click.Context, name: str | None, as_json: bool) -> None:
    """Check that this machine is ready to be measured, or add an MPI to it.

    Every MPI is tried by starting two ranks. Exit code 1 when something needed is missing.

    With --install, an MPI from the Python package index gets an environment of its own, and only that MPI is
    checked.
    """
    from leadline.targets.local import doctor  # noqa: PLC0415

    with working("checking") as say:
        findings = [_installed(name, say)] if name else doctor.check_up(lambda what: say(f"checking {what}"))
    rows = [vars(finding) for finding in findings]
    print_table(rows, {"check": "check", "state": "", "found": "found", "advice": "what would do"}, as_json)
    if not doctor.healthy(findings) or (name and findings[0].state != doctor.OK):
        context.exit(1)


def _installed(name: str, say: Callable[[str], None]) -> "Finding":
    """Add the MPI and try it; `say` hears what takes the time."""
    from leadline.mpi.install import install  # noqa: PLC0415
    from leadline.targets.local import doctor  # noqa: PLC0415

    say(f"installing {name}")
    mpi = install(name)
    say(f"trying {mpi.id}")
    return doctor.examine(mpi)
