"""`leadline tune doctor`: whether a program can be given settings by preloading."""

import click

from leadline.cli._table import json_option


@click.command()
@click.argument("program")
@json_option
def command(*, program: str, as_json: bool) -> None:
    """Tell before a run whether settings can be preloaded into PROGRAM, and what to do where they cannot.

    It is judged by its file and libraries, a Python by its packages; it is not run. The exit code is 0 where
    all settings can be made, or those of MPI-IO alone, and 1 where none can.
    """
    import json  # noqa: PLC0415
    from dataclasses import asdict  # noqa: PLC0415

    from leadline.tune.io import doctor as h5doctor  # noqa: PLC0415

    found = h5doctor.diagnose(program)
    if as_json:
        click.echo(json.dumps({**asdict(found), "program": str(found.program)}, indent=2))
    else:
        click.echo(f"{found.program}: {found.verdict}")
        for each in found.findings:
            click.echo(f"  {each}")
    if found.verdict == h5doctor.BAD:
        click.get_current_context().exit(1)
