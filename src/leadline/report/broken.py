"""The guidelines that a run shows to be broken, as a section of the page."""

from dataclasses import dataclass

import polars as pl

from leadline.analysis.guidelines import formatting, judge
from leadline.report.tables import Cell, Column, Table, TableRow


@dataclass(frozen=True)
class Broken:
    """What the section says: sentences, a table for each kind of launch, and what the guidelines mean."""

    sentences: list[str]
    tables: list[tuple[str, Table]]
    meanings: list[Table]


def broken(records: pl.DataFrame) -> Broken | None:
    """The section of some records; None where they compare nothing."""
    verdict = judge(records)
    if not verdict.findings:
        return None
    tables = [
        (place, _table(f"Broken guidelines of {place}", formatting.COLUMNS, rows))
        for place, rows in formatting.tables(verdict.broken).items()
    ]
    named = {"guideline": "guideline", "says": "says", "source": "source"}
    meanings = formatting.meanings(verdict.broken)
    return Broken(
        formatting.sentences(verdict),
        tables,
        [_table("What the guidelines say", named, meanings)] if meanings else [],
    )


def _table(label: str, columns: dict[str, str], rows: list[dict[str, str]]) -> Table:
    return Table(
        label,
        [Column(heading) for heading in columns.values()],
        [TableRow([Cell(row[key]) for key in columns]) for row in rows],
    )
