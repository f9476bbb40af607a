"""Tables on the terminal, and the same as JSON: how every command prints rows.

On a terminal a table is no wider than the terminal: long cells wrap. Elsewhere each row is one line.
"""

import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import click

from leadline.core.record import Row

GAP = 2  # blanks between columns

Rows = Sequence[Row]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def json_option(function: Decorated) -> Decorated:
    """Give a command the option --json, as its parameter `as_json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON: a list of objects, one for each row."
    )(function)


def print_table(rows: Rows, columns: Mapping[str, str], as_json: bool = False) -> None:
    """Print rows. As JSON: all their keys; as a table: the keys of `columns` under their headings."""
    if as_json:
        click.echo(to_json(rows))
        return
    cells = [[shown(row.get(key)) for key in columns] for row in rows]
    terminal = sys.stdout.isatty()
    lines = plain(list(columns.values()), cells, terminal_width() if terminal else None)
    for number, line in enumerate(lines):
        click.secho(line, bold=terminal and number == 0)


def terminal_width() -> int:
    """The columns of the terminal, or what the variable COLUMNS says."""
    return shutil.get_terminal_size().columns


def wrapped(text: str, indent: str = "") -> str:
    """A paragraph as wide as the terminal, later lines indented; one line where there is no terminal."""
    if not sys.stdout.isatty():
        return text
    return textwrap.fill(
        text, terminal_width(), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def to_json(rows: Iterable[Row]) -> str:
    """A list of objects, one a line; times as ISO 8601, what is not a number as null."""
    lines = ",\n ".join(json.dumps(_finite(dict(row)), default=_other, ensure_ascii=False) for row in rows)
    return f"[{lines}]"


def plain(headings: Sequence[str], cells: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Lines of columns, lined up on the left, two blanks between them.

    Cells wrap where the table would be wider than `width`; where even that is too wide, each row is a block
    with a line for each of its cells.
    """
    lines = [list(headings), *cells]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    if width is not None and _total(widths) > width:
        narrowest = [min(w, max(_longest_word(line[i]) for line in lines)) for i, w in enumerate(widths)]
        if _total(narrowest) > width:
            return _blocks(headings, cells, width)
        while _total(widths) > width:  # from the widest that can still give
            able = [i for i, w in enumerate(widths) if w > narrowest[i]]
            widths[max(able, key=lambda i: widths[i])] -= 1
    return [row for line in lines for row in _wrapped_row(line, widths)]


def _total(widths: Sequence[int]) -> int:
    """The width of a table of such columns."""
    return sum(widths) + GAP * (len(widths) - 1)


def _longest_word(cell: str) -> int:
    """How narrow a cell can be."""
    return max((len(word) for word in cell.split()), default=0)


def _wrapped_row(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The lines of one row."""
    parts = [
        textwrap.wrap(c, w, break_long_words=False, break_on_hyphens=False) if len(c) > w else [c]
        for c, w in zip(cells, widths, strict=True)
    ]
    gap = " " * GAP
    return [
        gap.join(part.ljust(w) for part, w in zip(row, widths, strict=True)).rstrip()
        for row in zip_longest(*parts, fillvalue="")
    ]


def _blocks(headings: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[str]:
    """Each row as lines "heading: cell", for terminals that are too narrow for the table."""
    lines = []
    for line in cells:
        for number, (heading, cell) in enumerate(zip(headings, line, strict=True)):
            if cell:
                lines += textwrap.wrap(
                    f"{'' if number == 0 else '  '}{heading}: {cell}",
                    width,
                    subsequent_indent="    ",
                    break_on_hyphens=False,
                )
    return lines


def shown(value: object) -> str:
    """A value in a cell: nothing for null, words for lists and truths."""
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(each) for each in value)
    return str(value)


def _finite(value: object) -> object:
    """The same with null for infinities and what is not a number, which JSON does not have."""
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return value


def _other(value: object) -> object:
    """What JSON has no form for."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
