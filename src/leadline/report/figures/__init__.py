"""The figures of a report, one file each, found here by looking.

A figure file declares curves along a sweep as `FIGURES` (`leadline.report.plots.curve.Along`), or holds two
functions: `applies(subject) -> bool` says whether it has something to draw, and `describe(subject) ->
list[Figure]` draws it, as Vega-Lite descriptions in plain dictionaries. `generic` draws whatever metric no
other file drew.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType

from leadline.report.subject import Subject
from leadline.report.theme import Spec

FALLBACK = "generic"


@dataclass(frozen=True)
class Entry:
    """A line of a figure's legend, which the page shows as a button that hides and shows what it names.

    `kind` is series, variant, fit or choice; of the choices exactly one is shown at a time.
    """

    kind: str
    name: str
    colour: str = ""
    shape: str = ""
    dash: tuple[int, ...] = ()
    hidden: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure: `name` for files and anchors, `title`, how to read it (`caption`), and its description.

    `metrics` are those of its benchmark that it shows; the fallback leaves them out.
    """

    name: str
    title: str
    spec: Spec
    caption: str = ""
    metrics: tuple[str, ...] = ()
    legend: tuple[Entry, ...] = ()


@cache
def members() -> dict[str, ModuleType]:
    """Every figure file by name."""
    return {
        found.name: importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
        if not found.name.startswith("_")
    }


def of_file(member: ModuleType, subject: Subject) -> list[Figure]:
    """What one file has to draw of a benchmark."""
    if not hasattr(member, "FIGURES"):
        return list(member.describe(subject)) if member.applies(subject) else []
    return [
        figure
        for metric in subject.metrics
        for each in member.FIGURES
        for figure in each.describe(subject, metric)
    ]


def draw(subject: Subject) -> Iterator[Figure]:
    """All figures of one benchmark: those of the files, then the fallback for the metrics left."""
    shown: set[str] = set()
    for name, member in members().items() if subject.rows else ():
        for figure in of_file(member, subject) if name != FALLBACK else ():
            shown |= set(figure.metrics)
            yield figure
    left = [row for row in subject.rows if row["metric"] not in shown]
    if left:
        rest = replace(subject, rows=left)
        yield from members()[FALLBACK].describe(rest)
