"""`leadline doctor`: checks this machine, installs an MPI, or checks a program."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from leadline.cli._options import agent_option, hosts_option
from leadline.cli._table import json_option, print_table
from leadline.cli._working import working

if TYPE_CHECKING:
    from leadline.targets.local.doctor import Finding

COLUMNS = {"check": "check", "state": "state", "found": "found", "advice": "advice"}


@click.command()
@click.argument("program", required=False)
@click.option("--install", "name", metavar="NAME", help="Install an MPI first: openmpi, mpich or impi.")
@hosts_option("Compare these hosts; 'allocation': those of the batch system.")
@agent_option("With --hosts: starts processes on them in place of ssh.")
@click.option("--mpi", metavar="NAME", help="With --hosts: the MPI to compare them with. Default: the first.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    *,
    program: str | None,
    name: str | None,
    hosts: tuple[str, ...] | None,
    agent: str | None,
    mpi: str | None,
    as_json: bool,
) -> None:
    """Check that this machine can be measured, or that I/O settings can be preloaded into PROGRAM.

    Leadline starts two ranks with each MPI that it finds. The exit code is 1 when something is missing that
    measuring needs.

    --install NAME installs an MPI from the Python package index into an environment of its own, and checks
    only this MPI. With PROGRAM, an executable or a Python script, only
    that is checked, as 'leadline io doctor PROGRAM' does.

    --hosts measures messages between pairs of hosts and names the slow host, the slow link, and the host
    whose settings differ (clock, governor, kernel, MPI library, huge pages, NUMA); the exit code is 1 if one
    is found. Something is called slow only where an interval, corrected for the number of pairs, makes it
    certain.
    """
    if hosts:
        if program or name:
            raise click.UsageError("--hosts compares hosts only; give neither PROGRAM nor --install", context)
        from leadline.cli import _hosts  # noqa: PLC0415

        with working("checking") as say:
            differing = _hosts.compare(hosts, agent, mpi, say)
        print_table([vars(finding) for finding in differing], COLUMNS, as_json)
        context.exit(int(any(finding.state != "ok" for finding in differing)))
    if agent or mpi:
        raise click.UsageError("--agent and --mpi belong to --hosts", context)
    if program:
        if name:
            raise click.UsageError("--install and PROGRAM exclude each other", context)
        from leadline.cli.io.doctor import command as check_program  # noqa: PLC0415

        context.invoke(check_program, program=program, as_json=as_json)
        return
    from leadline.targets.local import doctor  # noqa: PLC0415

    with working("checking") as say:
        findings = [_installed(name, say)] if name else doctor.check_up(lambda what: say(f"checking {what}"))
    print_table([vars(finding) for finding in findings], COLUMNS, as_json)
    if not doctor.healthy(findings) or (name and findings[0].state != doctor.OK):
        context.exit(1)


def _installed(name: str, say: Callable[[str], None]) -> "Finding":
    """Install an MPI and try it; `say` receives the current step."""
    from leadline.mpi.install import install  # noqa: PLC0415
    from leadline.targets.local import doctor  # noqa: PLC0415

    say(f"installing {name}")
    mpi = install(name)
    say(f"trying {mpi.id}")
    return doctor.examine(mpi)
