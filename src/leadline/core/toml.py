"""The text of a plan: TOML whose every complaint names the file and the line."""

import re
import tomllib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from leadline.core.errors import UsageError, suggest

T = TypeVar("T")

_POSITION = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")
_HEADER = re.compile(r"\s*\[\[?\s*([A-Za-z0-9_.-]+)\s*\]\]?")
_KEY = re.compile(r"\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[=.]")


@dataclass(frozen=True)
class Table:
    """One table of a TOML file, with the lines on which it and its keys stand."""

    path: Path
    data: dict[str, Any]
    line: int
    lines: dict[str, int] = field(default_factory=dict)

    def error(self, sentence: str, key: str | None = None) -> UsageError:
        """The sentence with its place, "FILE:LINE: ..."."""
        line = self.lines.get(key, self.line) if key else self.line
        return UsageError(f"{self.path}:{line}: {sentence}")

    def check_keys(self, known: Collection[str], where: str) -> None:
        """Raise UsageError for the first key that is not `known`, naming the nearest one."""
        for key in self.data:
            if key not in known:
                raise self.error(f"unknown key {key!r} in {where}{suggest(key, known)}", key)

    def get(self, key: str, parse: Callable[[Any], T], default: T) -> T:
        """The value of `key` as `parse` understands it, `default` where it is absent."""
        if key not in self.data:
            return default
        try:
            return parse(self.data[key])
        except UsageError as problem:
            raise self.error(f"{key}: {problem}", key) from None

    def need(self, key: str, parse: Callable[[Any], T], where: str) -> T:
        """The value of `key`; UsageError where it is absent."""
        if key not in self.data:
            raise self.error(f"{where} needs the key {key!r}")
        try:
            return parse(self.data[key])
        except UsageError as problem:
            raise self.error(f"{key}: {problem}", key) from None


def read(path: Path, what: str = "plan") -> tuple[str, Table, dict[str, list[Table]]]:
    """The text of a TOML file (a plan, a machine), its top table, and the tables within by name in order.

    Raises UsageError for a file that cannot be read or is not TOML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"cannot read the {what} {path}: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        line = problem.object[: problem.start].count(b"\n") + 1
        raise UsageError(f"{path}:{line}: a {what} is UTF-8 text, but byte {problem.start} is not") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _syntax_error(path, text, str(problem)) from None
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
    return text, Table(path, data, 1, {**headers, **top}), tables


def _syntax_error(path: Path, text: str, message: str) -> UsageError:
    """What tomllib says, with the line in front as everywhere else."""
    match = _POSITION.search(message)
    line = match[1] if match and match[1] else str(max(1, len(text.splitlines())))
    what = message[: match.start()] if match else message
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
