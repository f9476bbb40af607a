"""`leadline io check`: checks a settings file of the preloaded library."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._table import json_option, print_table
from leadline.cli._types import Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leadline.tune.io.settings import Setting

COLUMNS = {"layer": "layer", "name": "setting", "value": "value", "file": "files", "dataset": "datasets"}
WORDS = {"layer": "layer", "name": "setting", "takes": "values", "meaning": "meaning"}


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--as",
    "form",
    type=Word(["toml", "xml", "c", "fortran", "h5py", "romio"]),
    help="Convert: print the settings in this format, or as source code for a program that can be changed "
    "(romio: the file that the variable ROMIO_HINTS names).",
)
@click.option("--words", is_flag=True, help="List all settings with their values and meanings.")
@json_option
def command(*, file: Path | None, form: str | None, words: bool, as_json: bool) -> None:
    """Check a settings file for the preloaded library (TOML, or H5Tuner's XML), and print its settings.

    The preloaded library's own parser reads the file; an error has its line number. docs/tune-my-program.md
    describes both formats.
    """
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.tune.io import settings as h5settings  # noqa: PLC0415

    if words:
        print_table([asdict(word) for word in h5settings.words()], WORDS, as_json=as_json)
        return
    if file is None:
        raise UsageError("missing FILE, a settings file; '--words' lists all settings")
    settings = h5settings.read(file)
    if form is not None:
        click.echo(_converted(settings, form), nl=False)
        return
    print_table([_row(each) for each in settings], COLUMNS, as_json=as_json)
    if as_json:
        return
    for each in settings:
        if each.condition:
            click.echo(f"line {each.line}: {each.name} {each.condition}")
    click.echo(f"{file}: correct, {len(settings)} setting{'' if len(settings) == 1 else 's'}")


def _converted(settings: "Sequence[Setting]", form: str) -> str:
    """The settings in another form."""
    from leadline.tune.io import export, files  # noqa: PLC0415
    from leadline.tune.io import settings as h5settings  # noqa: PLC0415

    if form == "romio":
        return files.romio_hints(
            {each.name: each.value for each in settings}, {each.name: each.layer for each in settings}
        )
    forms = {"toml": h5settings.toml, "xml": h5settings.xml}
    return forms[form](settings) if form in forms else export.source(form, settings)


def _row(each: "Setting") -> dict[str, object]:
    """A setting as an object."""
    return {**asdict(each), "condition": each.condition}
