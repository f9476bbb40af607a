"""Tables on the terminal, and the same as JSON: how every verb prints rows.

Rich lines up the columns on a terminal; elsewhere they are plain text that other programs can read.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

Rows = Sequence[Mapping[str, Any]]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def json_option(function: Decorated) -> Decorated:
    """Give a command the option --json, as its parameter `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print a list of objects, one a row.")(
        function
    )


def print_table(rows: Rows, columns: Mapping[str, str], as_json: bool = False) -> None:
    """Print rows. As JSON: all their keys; as a table: the keys of `columns` under their headings."""
    if as_json:
        click.echo(to_json(rows))
        return
    cells = [[shown(row.get(key)) for key in columns] for row in rows]
    if sys.stdout.isatty():
        _rich(list(columns.values()), cells)
    else:
        for line in plain(list(columns.values()), cells):
            click.echo(line)


def to_json(rows: Iterable[Mapping[str, Any]]) -> str:
    """A list of objects, one a line; times as ISO 8601, what is not a number as null."""
    lines = ",\n ".join(json.dumps(_finite(dict(row)), default=_other, ensure_ascii=False) for row in rows)
    return f"[{lines}]"


def plain(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns, lined up on the left, two blanks between them."""
    lines = [list(headings), *cells]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    return ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines]


def shown(value: Any) -> str:
    """A value in a cell: nothing for null, words for lists and truths."""
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(each) for each in value)
    return str(value)


def _rich(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """A table as wide as the terminal, long texts folded."""
    from rich.console import Console  # noqa: PLC0415  (only where there is a terminal)
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for line in cells:
        table.add_row(*(Text(cell) for cell in line))
    Console().print(table)


def _finite(value: Any) -> Any:
    """The same with null for infinities and what is not a number, which JSON does not have."""
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return value


def _other(value: Any) -> Any:
    """What JSON has no form for."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
