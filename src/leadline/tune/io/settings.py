"""Settings files of the preloaded library: read as it reads them, and written in either of their forms."""

import ctypes
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from leadline.core import toml as core_toml
from leadline.core.errors import UsageError, suggest
from leadline.native.build import build_h5tuner

ROOM = 1 << 20  # bytes for what the library tells: 256 settings of at most 4 KiB
XML_LAYERS = {
    "hdf5": "High_Level_IO_Library",
    "mpi-io": "Middleware_Layer",
    "file-system": "Parallel_File_System",
}
# Right only in a program that does what is said here; another waits for ever or reads what nobody wrote.
CONDITIONS = {
    "fill_time": "is right only if every element of the dataset is written",
    "transfer": "collective is right only if all ranks of the file make each call",
    "coll_metadata_ops": "is right only if all ranks of the file make each call that reads metadata",
    "romio_no_indep_rw": "is right only if every access is collective",
    "romio_visibility_immediate": "disabled is right only if no rank reads what another wrote without a sync",
    "IBM_lockless_io": "is right only if no two ranks write to one block of the file system",
}


@dataclass(frozen=True)
class Setting:
    """One setting: `name` of `layer` has `value` where the patterns match (empty: everywhere)."""

    layer: str
    name: str
    value: str
    file: str = ""
    dataset: str = ""
    override: bool = False
    safety: str = ""  # "hint", "layout" or "semantics", as --safety has them; empty for a vendor's own hint
    line: int = 0  # of the file that it was read from

    @property
    def condition(self) -> str | None:
        """What must hold of the program for the setting to change nothing but the time; None: nothing."""
        harmless = {("fill_time", "alloc"), ("fill_time", "ifset"), ("transfer", "independent")}
        if self.value == "false" or (self.name, self.value) in harmless:
            return None
        return CONDITIONS.get(self.name)


@dataclass(frozen=True)
class Word:
    """A word of the vocabulary: what it takes, and what it is for."""

    layer: str
    name: str
    takes: str
    meaning: str


def read(path: Path) -> list[Setting]:
    """The settings of a file of either form, by the preloaded library's own reader.

    Raises UsageError with what is wrong, its line, and the nearest word for an unknown one.
    """
    try:
        path.open("rb").close()
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror}") from None
    told = ctypes.create_string_buffer(ROOM)
    good = _library().leadline_h5_check(str(path).encode(), told, ROOM)
    text = told.value.decode(errors="replace")
    if not good:
        raise UsageError(f"{path}: {text}{_nearest(text)}")
    return [Setting(**row) for row in _rows(text)]


def words() -> list[Word]:
    """The vocabulary, in the order of the layers."""
    told = ctypes.create_string_buffer(ROOM)
    _library().leadline_h5_words(told, ROOM)
    return [Word(**row) for row in _rows(told.value.decode())]


def toml(settings: Sequence[Setting]) -> str:
    """The settings as TOML."""
    tables: dict[str, object] = {}
    for layer in XML_LAYERS:
        own = [each for each in settings if each.layer == layer and not _narrow(each)]
        tables |= {layer: {each.name: _typed(each.value) for each in own}} if own else {}
    matches = []
    for each in filter(_narrow, settings):
        where = {"file": each.file, "dataset": each.dataset, "override": each.override}
        matches.append(
            {
                **{key: value for key, value in where.items() if value},
                f"{each.layer}.{each.name}": _typed(each.value),
            }
        )
    return core_toml.dump(tables | ({"match": matches} if matches else {}))


def of_toml(text: str) -> list[Setting]:
    """The settings that `toml` wrote, without the checks and the classes of safety that `read` gives."""
    tables = tomllib.loads(text)
    found = [
        Setting(layer, name, _plain(value))
        for layer in XML_LAYERS
        for name, value in tables.get(layer, {}).items()
    ]
    for match in tables.get("match", []):
        where = {key: match[key] for key in ("file", "dataset", "override") if key in match}
        found += [
            Setting(layer, name, _plain(value), **where)
            for layer in XML_LAYERS
            for name, value in match.get(layer, {}).items()
        ]
    return found


def _plain(value: object) -> str:
    """A value of TOML as a setting has it."""
    if isinstance(value, list):
        return ",".join(map(_plain, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def xml(settings: Iterable[Setting]) -> str:
    """The settings as H5Tuner's XML (parallel-io-autotuning, figure 5)."""
    held = list(settings)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<Parameters>"]
    for layer, element in XML_LAYERS.items():
        own = [each for each in held if each.layer == layer]
        if own:
            lines += [f"  <{element}>", *(f"    {_element(each)}" for each in own), f"  </{element}>"]
    return "\n".join([*lines, "</Parameters>", ""])


def _narrow(setting: Setting) -> bool:
    return bool(setting.file or setting.dataset or setting.override)


def _element(each: Setting) -> str:
    attributes = "".join(
        f" {key}={quoteattr(value)}"
        for key, value in (("FileName", each.file), ("VariableName", each.dataset))
        if value
    )
    if each.override:
        attributes += ' override="true"'
    return f"<{each.name}{attributes}>{escape(each.value)}</{each.name}>"


def _typed(value: str) -> object:
    """A value as TOML has it: numbers, switches and lists of them where the text looks like one."""
    parts = [
        json.loads(part) if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?|true|false", part) else part
        for part in value.split(",")
    ]
    return parts[0] if len(parts) == 1 else parts


def _rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def _nearest(problem: str) -> str:
    """What may have been meant by the unknown setting that a sentence names."""
    found = re.search(r"unknown setting '([^']*)' of ([a-z0-9-]+)", problem)
    if not found:
        return ""
    known = words()
    other = [word.layer for word in known if word.name == found[1]]
    if other:
        return f"; it is one of {other[0]}"
    near = suggest(found[1], {word.name for word in known if (word.layer == "hdf5") == (found[2] == "hdf5")})
    if near.startswith("; did"):
        return near
    return "; 'leadline io check --words' lists what there is"


@cache
def _library() -> ctypes.CDLL:
    """The preloaded library, loaded for its readers alone: nothing of ours calls what it intercepts."""
    library = ctypes.CDLL(str(build_h5tuner()))
    library.leadline_h5_check.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    library.leadline_h5_words.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.leadline_h5_words.restype = None
    return library
