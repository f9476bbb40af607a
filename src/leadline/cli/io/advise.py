"""`leadline io advise`: prints the best known settings for a program, without running it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._table import json_option, print_table
from leadline.cli._types import AtLeast

if TYPE_CHECKING:
    from leadline.tune.io.patterns import Advice

COLUMNS = {
    "source": "source",
    "told_distance": "distance",
    "told_parts": "differs in",
    "told_confidence": "confidence",
    "told_speedup": "speed-up",
    "told_settings": "settings",
}


@click.command()
@click.argument("source", metavar="PROGRAM|LOG")
@click.option("--most", type=AtLeast(1), default=3, show_default=True, help="Number of results.")
@click.option(
    "--database",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Database to search. Default: Leadline's own.",
)
@click.option(
    "--remember",
    type=click.Path(path_type=Path),
    metavar="SETTINGS",
    help="Store this settings file in the database, as the best known for the access pattern of LOG.",
)
@click.option(
    "--speedup",
    type=click.FloatRange(min=0, min_open=True),
    metavar="FACTOR",
    help="With --remember: speed-up over the default settings.",
)
@json_option
def command(
    *,
    source: str,
    most: int,
    database: Path | None,
    remember: Path | None,
    speedup: float | None,
    as_json: bool,
) -> None:
    """Print the best known settings for a program's access pattern; nothing is run.

    PROGRAM is an executable that 'leadline io run' ran before; LOG is a log of the preloaded library or of
    Darshan.

    The table lists the nearest access patterns of the database with their settings, their distance and its
    parts, and a confidence, which is a judgement and not a probability. A program that uses neither HDF5 nor
    MPI-IO gets no settings, since they could not reach it. The database holds published settings, and those
    for which 'leadline io tune' measured a significant gain on this machine.
    """
    from leadline.tune.io import patterns as io_patterns  # noqa: PLC0415
    from leadline.tune.io import profiles as io_profiles  # noqa: PLC0415
    from leadline.tune.io import settings as h5settings  # noqa: PLC0415

    log = Path(source)
    if not io_patterns.is_log(log):
        log = io_profiles.last_of(source) or log
    access_pattern, kept = io_patterns.read(log), database or io_patterns.database()
    if remember is not None:
        settings = {each.name: each.value for each in h5settings.read(remember)}
        io_patterns.remember(access_pattern, settings, f"{log.name} and {remember.name}", speedup, kept)
        if not as_json:
            click.echo(f"stored in {kept}")
    found = io_patterns.advise(access_pattern, kept)[:most]
    if not found and not as_json:
        click.echo("No advice: this program used neither HDF5 nor MPI-IO, and settings reach no other files.")
        return
    print_table([_row(each, as_json) for each in found], COLUMNS, as_json)


def _row(each: "Advice", as_json: bool) -> dict[str, object]:
    """An advice as an object; for people also in words."""
    from dataclasses import asdict  # noqa: PLC0415

    row = asdict(each)
    if not as_json:
        row["told_distance"] = f"{each.distance:.2f}"
        row["told_parts"] = ", ".join(
            f"{name.replace('_', ' ')} {'?' if part is None else format(part, '.2g')}"
            for name, part in each.parts.items()
            if part != 0
        )
        row["told_confidence"] = f"{100 * each.confidence:.0f} %"
        row["told_speedup"] = f"{each.speedup:.3g}" if each.speedup else ""
        row["told_settings"] = ", ".join(f"{name}={value}" for name, value in each.settings.items())
    return row
