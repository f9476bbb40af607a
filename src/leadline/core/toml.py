"""TOML files: read with a schema whose every complaint names the file and the line, and written.

A library could write them, but none keeps a table of three short values on one line, as numbers with their
sources are; three shapes of lines need no more than `dump`.
"""

import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from leadline.core.errors import UsageError, suggest

T = TypeVar("T")

_POSITION = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")
_HEADER = re.compile(r"\s*\[\[?\s*([A-Za-z0-9_.-]+)\s*\]\]?")
_KEY = re.compile(r"\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[=.]")


NEEDED: Final = object()  # the default of a key that must be there


@dataclass(frozen=True)
class Key:
    """A key of a table: how its value is read, which raises UsageError, and what holds where it is absent."""

    read: Callable[[object], object]
    default: object = NEEDED


@dataclass(frozen=True)
class Table:
    """One table of a TOML file, with the lines on which it and its keys stand; line 0: it is of no file."""

    path: Path
    data: dict[str, object]
    line: int
    lines: dict[str, int] = field(default_factory=dict)

    def error(self, sentence: str, key: str | None = None) -> UsageError:
        """The sentence with its place, "FILE:LINE: ..."."""
        line = self.lines.get(key, self.line) if key else self.line
        return UsageError(f"{self.path}:{line}: {sentence}" if line else f"{self.path}: {sentence}")

    def check_keys(self, known: Collection[str], where: str) -> None:
        """Raise UsageError for the first key that is not `known`, naming the nearest one."""
        for key in self.data:
            if key not in known:
                raise self.error(f"unknown key {key!r} in {where}{suggest(key, known)}", key)

    def get(self, key: str, parse: Callable[[object], T], default: T) -> T:
        """The value of `key` as `parse` understands it, `default` where it is absent."""
        if key not in self.data:
            return default
        try:
            return parse(self.data[key])
        except UsageError as problem:
            raise self.error(f"{key}: {problem}", key) from None

    def need(self, key: str, parse: Callable[[object], T], where: str) -> T:
        """The value of `key`; UsageError where it is absent."""
        if key not in self.data:
            raise self.error(f"{where} needs the key {key!r}")
        try:
            return parse(self.data[key])
        except UsageError as problem:
            raise self.error(f"{key}: {problem}", key) from None

    def read(self, keys: Mapping[str, Key], where: str) -> dict[str, Any]:
        """The values of all `keys`; UsageError for another key, a missing one, a bad value."""
        self.check_keys(keys, where)
        return {
            name: self.need(name, key.read, where)
            if key.default is NEEDED
            else self.get(name, key.read, key.default)
            for name, key in keys.items()
        }


@dataclass(frozen=True)
class Document:
    """A TOML file: its text, its top table, and the tables within."""

    text: str
    top: Table
    tables: Mapping[str, list[Table]]  # by name, in their order

    @classmethod
    def made(cls, data: dict[str, Any], name: str) -> "Document":
        """What a file with these values would hold, tuples as lists; complaints name the table's ordinal and
        `name`.
        """
        data = {key: _as_written(each) for key, each in data.items()}
        tables = {
            key: [each] if isinstance(each, dict) else each for key, each in data.items() if _is_table(each)
        }
        places = {
            key: [Table(Path(f"{key} {number} of {name}"), each, 0) for number, each in enumerate(rows, 1)]
            for key, rows in tables.items()
        }
        return cls(dump(data), Table(Path(name), data, 0), places)

    def table(self, name: str) -> Table | None:
        """The table `[name]`; UsageError where something else has that name."""
        if not isinstance(self.top.data.get(name, {}), dict):
            raise self.top.error(f"{name} is written [{name}], once", name)
        return next(iter(self.tables.get(name, [])), None)

    def rows(self, name: str) -> list[Table]:
        """The tables `[[name]]`; UsageError where something else has that name."""
        given = self.top.data.get(name, [])
        if not isinstance(given, list) or len(given) != len(self.tables.get(name, [])):
            raise self.top.error(f"{name} is written [[{name}]], once a row", name)
        return self.tables.get(name, [])


def _as_written(value: Any) -> Any:
    """A value with its tuples as lists, in tables and lists as well."""
    if isinstance(value, list | tuple):
        return [_as_written(each) for each in value]
    return {key: _as_written(each) for key, each in value.items()} if isinstance(value, dict) else value


def check_unique(tables: Iterable[Table], key: str, what: str) -> None:
    """Raise UsageError for the first table whose value of `key` another table before it has."""
    lines: dict[object, int] = {}
    for table in tables:
        if (value := table.data.get(key)) in lines:
            raise table.error(f"{what} {value!r} stands on line {lines[value]} already", key)
        lines[value] = table.lines.get(key, table.line)


def read(path: Path, what: str = "plan") -> Document:
    """A TOML file (a plan, a machine); UsageError where it cannot be read or is not TOML."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"cannot read the {what} {path}: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        line = problem.object[: problem.start].count(b"\n") + 1
        raise UsageError(f"{path}:{line}: a {what} is UTF-8 text, but byte {problem.start} is not") from None
    return parse(text, path)


def parse(text: str, path: Path) -> Document:
    """What the text of a TOML file holds; UsageError, naming `path`, where it is not TOML."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _syntax_error(path, text, str(problem)) from None
    except RecursionError:
        raise UsageError(f"{path}: this is not read: its arrays or tables are nested too deeply") from None
    except ValueError as problem:  # a number of more digits than Python converts
        raise UsageError(f"{path}: this is not read: {problem}") from None
    top, inner = _positions(text)
    tables: dict[str, list[Table]] = {}
    for name, value in data.items():
        entries = value if isinstance(value, list) else [value]
        if entries and all(isinstance(each, dict) for each in entries):
            seen = inner.get(name, [])
            # An inline table, `name = {...}`, has no header: its line is that of its key.
            places = [seen[i] if i < len(seen) else (top.get(name, 1), {}) for i in range(len(entries))]
            tables[name] = [Table(path, entry, *place) for entry, place in zip(entries, places, strict=True)]
    headers = {name: places[0][0] for name, places in inner.items()}
    return Document(text, Table(path, data, 1, {**headers, **top}), tables)


def _syntax_error(path: Path, text: str, message: str) -> UsageError:
    """What tomllib says, with the line in front as everywhere else."""
    match = _POSITION.search(message)
    line = match[1] if match and match[1] else str(max(1, len(text.splitlines())))
    what = message[: match.start()] if match else message
    if what == "Cannot overwrite a value":
        return UsageError(f"{path}:{line}: a key occurs twice in its table")
    column = f", column {match[2]}" if match and match[2] else ""
    return UsageError(f"{path}:{line}: this is not TOML{column}: {what[:1].lower()}{what[1:]}")


def _positions(text: str) -> tuple[dict[str, int], dict[str, list[tuple[int, dict[str, int]]]]]:
    """Lines of the top keys, and of each table (by name, in order) with its keys.

    tomllib tells no lines of what it accepted. A line that only looks like a key (inside a multi-line string)
    can at worst make a message point there.
    """
    top: dict[str, int] = {}
    inner: dict[str, list[tuple[int, dict[str, int]]]] = {}
    current = top
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            current = {}
            inner.setdefault(header[1], []).append((number, current))
        elif key := _KEY.match(line):
            current.setdefault(key[1], number)
    return top, inner


def dump(document: Mapping[str, Any]) -> str:
    """A TOML file: plain values first, mappings as tables, lists of mappings as rows; keys as they are.

    A mapping within a table stands on one line, as `{ value = "1 us", source = "..." }`.
    """
    plain = {key: value for key, value in document.items() if not _is_table(value)}
    blocks = [list(_lines(plain))] if plain else []
    for name, value in document.items():
        if isinstance(value, Mapping):
            blocks.append([f"[{name}]", *_lines(value)])
        elif _is_table(value):
            blocks += [[f"[[{name}]]", *_lines(row)] for row in value]
    return "\n\n".join("\n".join(block) for block in blocks) + ("\n" if blocks else "")


def _is_table(value: object) -> bool:
    """Whether a value is written as a table or as rows."""
    rows = isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value)
    return isinstance(value, Mapping) or bool(rows)


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{key} = {literal(value)}" for key, value in table.items())


def literal(value: object) -> str:
    """A value as TOML has it: text, a number, true or false, a list, or a table on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # JSON's texts are TOML's, but for the one control character that JSON leaves as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_lines(value))} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)
