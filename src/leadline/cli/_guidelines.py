"""What `leadline guidelines` and the end of a run that asks for it print: which guidelines are broken."""

import sys
from typing import TYPE_CHECKING

import click

from leadline.cli._table import print_table, tell

if TYPE_CHECKING:
    from leadline.analysis.guidelines import Verdict


def print_verdict(verdict: "Verdict") -> None:
    """A table of broken guidelines for each MPI, and what to make of it."""
    from leadline.analysis.guidelines import formatting  # noqa: PLC0415

    bold = sys.stdout.isatty()
    for place, rows in formatting.tables(verdict.broken).items():
        click.secho(f"\n{place}: {len(rows)} broken", bold=bold)
        print_table(rows, formatting.COLUMNS)
    if verdict.broken:
        click.echo()
        print_table(
            formatting.meanings(verdict.broken),
            {"guideline": "guideline", "says": "says", "source": "source"},
        )
        click.echo()
    for sentence in formatting.sentences(verdict):
        tell(sentence, indent="")
