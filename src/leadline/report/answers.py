"""A page that answers questions: sentences, counts, and sections with figures and a table."""

from dataclasses import dataclass, field

from leadline.report.origin import Origin
from leadline.report.page import Count, Plot


@dataclass(frozen=True)
class Table:
    """A table of words."""

    label: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Section:
    """A question that the page answers, with figures and a table."""

    title: str
    anchor: str
    says: str
    figures: list[Plot]
    table: Table | None = None
    text: str = ""  # a file, shown as it is


@dataclass(frozen=True)
class Answers:
    """All that the page says; the first of `verdict` is the answer, `note` how to read its numbers."""

    title: str
    subtitles: list[str]
    verdict: list[str]
    counts: list[Count]
    sections: list[Section]
    origins: list[Origin]
    note: str = field(default="")
