"""Tables on the terminal, and the same as JSON: how every command prints rows.

A table is no wider than the terminal, or than 100 columns where the output goes to a file or a pipe: a last
column of sentences goes below its rows, and long cells wrap. The variable COLUMNS sets another width; scripts
read --json.
"""

import json
import os
import re
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

PIPE = 100  # columns where the output goes to a file or a pipe, and COLUMNS does not set another width
GAP = 2  # blanks between columns
KEEP = "\N{NO-BREAK SPACE}"  # which textwrap does not take for a blank
SENTENCE = 24  # characters from which on a cell of the last column is a sentence rather than a word

# Blanks between a number and its unit, and within an interval.
_TOGETHER = re.compile(r" (?=%)|(?<=\d) (?=(?:[KMGT]i?|k)?B\b|[nµm]?s\b)|(?<=,) (?=[^][,]*\])")

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
    lines = plain(list(columns.values()), cells, output_width())
    for number, line in enumerate(lines):
        click.secho(line, bold=terminal and number == 0)


def right(rows: Rows, columns: Mapping[str, str], keys: Iterable[str]) -> tuple[Rows, dict[str, str]]:
    """Rows and columns of a table for people whose whole numbers of `keys` are lined up on the right."""
    made, headings = [dict(row) for row in rows], dict(columns)
    for key in keys:
        texts = ["" if row[key] is None else f"{row[key]:,}" for row in made]
        width = max(map(len, (columns[key], *texts)))
        headings[key] = columns[key].rjust(width)
        for row, text in zip(made, texts, strict=True):
            row[key] = text.rjust(width)
    return made, headings


def terminal_width() -> int:
    """The columns of the terminal, or what the variable COLUMNS says."""
    return shutil.get_terminal_size().columns


def output_width() -> int:
    """How wide what goes to the standard output may be: a terminal's columns, `PIPE`, or COLUMNS."""
    chosen = os.environ.get("COLUMNS", "")
    return terminal_width() if sys.stdout.isatty() or (chosen.isdecimal() and int(chosen)) else PIPE


def tell(text: str, indent: str = "  ", err: bool = False) -> None:
    """Print a sentence, `wrapped`; `err`: on the standard error."""
    click.echo(wrapped(text, indent, err=err), err=err)


def wrapped(text: str, indent: str = "", err: bool = False) -> str:
    """A paragraph as wide as the output, later lines indented.

    `err`: for the standard error, where a message is one line unless there is a terminal: logs are searched
    by line.
    """
    if err and not sys.stderr.isatty():
        return text
    return "\n".join(_lines(text, terminal_width() if err else output_width(), "", indent))


def to_json(rows: Iterable[Row]) -> str:
    """A list of objects, one a line; times as ISO 8601, what is not a number as null."""
    lines = ",\n ".join(json.dumps(_finite(dict(row)), default=_other, ensure_ascii=False) for row in rows)
    return f"[{lines}]"


def plain(headings: Sequence[str], cells: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Lines of columns, lined up on the left, two blanks between them.

    Where the table would be wider than `width`, sentences of the last column go below their rows, then cells
    wrap; where even that is too wide, each row is a block with a line for each of its cells.
    """
    widths = _widths(headings, cells)
    if width is None or _total(widths) <= width:
        return [row for line in (headings, *cells) for row in _wrapped_row(line, widths)]
    sentences = [line[-1] for line in cells]
    if len(headings) == 1 or max(map(len, sentences), default=0) < SENTENCE:
        return [row for lines in _fitted(headings, cells, width) for row in lines]
    table = _fitted(headings[:-1], [line[:-1] for line in cells], width)
    below = [_sentence(each, width) for each in ("", *sentences)]
    return [row for pair in zip(table, below, strict=True) for lines in pair for row in lines]


def _fitted(headings: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """The lines of the headings and of each row, no wider than `width`."""
    loose, widths = [headings, *cells], _widths(headings, cells)
    together = [[_kept_together(cell) for cell in line] for line in loose]
    for lines in (together, loose):
        narrowest = [max(map(_longest_word, column)) for column in zip(*lines, strict=True)]
        if _total(narrowest) <= width:
            break
    else:
        return [[], *(_block(headings, line, width) for line in cells)]
    while _total(widths) > width:  # from the widest that can still give
        able = [i for i, w in enumerate(widths) if w > narrowest[i]]
        widths[max(able, key=lambda i: widths[i])] -= 1
    return [_wrapped_row(line, widths) for line in lines]


def _widths(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    """How wide the columns are where nothing wraps."""
    return [max(map(len, column)) for column in zip(headings, *cells, strict=True)]


def _total(widths: Sequence[int]) -> int:
    """The width of a table of such columns."""
    return sum(widths) + GAP * (len(widths) - 1)


def _longest_word(cell: str) -> int:
    """How narrow a cell can be."""
    return max((len(word) for word in cell.split(" ")), default=0)


def _lines(text: str, width: int, first: str = "", later: str = "") -> list[str]:
    """A text in lines, the first indented by `first`, the others by `later`."""
    return _wrap(_kept_together(text), width, first, later)


def _wrap(text: str, width: int, first: str = "", later: str = "") -> list[str]:
    """A text in lines that end between words, and not at `KEEP`."""
    found = textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(KEEP, " ") for line in found]


def _kept_together(text: str) -> str:
    """The text with `KEEP` for the blanks of "12 %", "64 KiB" and "[1.5, 1.7]", where no line ends."""
    return re.sub(_TOGETHER, KEEP, text)


def _wrapped_row(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The lines of one row."""
    parts = [
        _wrap(c, w) if len(c) > w else [c.replace(KEEP, " ")] for c, w in zip(cells, widths, strict=True)
    ]
    gap = " " * GAP
    return [
        gap.join(part.ljust(w) for part, w in zip(row, widths, strict=True)).rstrip()
        for row in zip_longest(*parts, fillvalue="")
    ]


def _sentence(text: str, width: int) -> list[str]:
    """A sentence below its row."""
    indent = " " * 2 * GAP
    return _lines(text, width, indent, indent)


def _block(headings: Sequence[str], cells: Sequence[str], width: int) -> list[str]:
    """A row as lines "heading: cell", for terminals that are too narrow for the table."""
    lines = []
    for number, (heading, cell) in enumerate(zip(headings, cells, strict=True)):
        if cell:
            text = f"{'' if number == 0 else '  '}{heading.strip()}: {cell.strip()}"
            lines += _lines(text, width, "", "    ")
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
