"""`leadline io doctor`: whether settings can be preloaded into a program."""

import click

from leadline.cli._table import json_option


@click.command()
@click.argument("program")
@json_option
def command(*, program: str, as_json: bool) -> None:
    """Check whether settings can be preloaded into PROGRAM, and what to do where they cannot.

    PROGRAM is an executable or a Python script. Leadline inspects its file and libraries, or the packages of
    the script, and does not run it. The exit code is 0 where all settings, or only those of MPI-IO, can be
    preloaded, and 1 where none can. 'leadline doctor PROGRAM' is the same.
    """
    import json  # noqa: PLC0415
    from dataclasses import asdict  # noqa: PLC0415

    from leadline.tune.io import doctor as h5doctor  # noqa: PLC0415

    found = h5doctor.diagnose(program)
    if as_json:
        click.echo(json.dumps({**asdict(found), "program": str(found.program)}, indent=2))
    else:
        click.echo(f"{found.program}: settings can be preloaded: {found.verdict}")
        for each in found.findings:
            click.echo(f"  {each}")
    if found.verdict == h5doctor.BAD:
        click.get_current_context().exit(1)
