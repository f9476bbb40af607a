"""Spaces as files: their parameters, and the numbers of a job that some of their values are."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeGuard

from leadline.core import paths
from leadline.core import toml as plan_text
from leadline.core.errors import UsageError, suggest
from leadline.core.toml import Key, Table, check_unique
from leadline.core.units import parse_bytes
from leadline.core.values import count, counts, flag, sizes, text, word
from leadline.tune.search._space import Limit, Parameter, Space, Value

SAFETY = ("hint", "layout", "semantics")  # each allows what stands before it as well
_TOP = ("title", "about", "parameter", "limit")
_KEYS = ("name", "layer", "kind", "values", "equals", "times", "when", "start", "safety")
_MOST = 64  # parameters; a file with more is no space that anybody wrote


def spaces() -> dict[str, Path]:
    """The spaces that come with Leadline, by name."""
    return paths.shipped("spaces")


def load(space: str | Path, numbers: Mapping[str, int] | None = None) -> Space:
    """Read a space, by its name or its path.

    `numbers` are what the words in values and limits stand for: "ranks", "nodes", "targets". Values that are
    larger than such a number are kept: limits say what is too much. Raises UsageError, naming file and line,
    for whatever a person can get wrong, and for a space without a valid point.
    """
    path = _find(space)
    document = plan_text.read(path, "space")
    top, given = document.top, document.rows("parameter")
    top.check_keys(_TOP, "a space")
    if not 1 <= len(given) <= _MOST:
        raise top.error(f"a space has 1 to {_MOST} tables [[parameter]], but got {len(given)}")
    check_unique(given, "name", "the parameter")
    parameters: list[Parameter] = []
    for table in given:
        parameters.append(_parameter(table, parameters, numbers or {}))
    limits = tuple(_limit(table, parameters, numbers or {}) for table in document.rows("limit"))
    found = Space(path.stem, top.get("title", text, path.stem), tuple(parameters), limits)
    if found.enumerable and not len(found.points):
        raise top.error("this space has no valid point: its limits leave nothing", "limit")
    return found


def needed(space: str | Path) -> tuple[str, ...]:
    """The numbers of a job that a space's values and limits are made of, such as "targets", each once.

    Raises UsageError where there is no such space, or its file is not TOML.
    """
    document = plan_text.read(_find(space), "space")
    found: list[object] = []
    for table in document.rows("parameter"):
        if table.data.get("kind") == "count":
            for given in (table.data.get("values"), table.data.get("start")):
                found += given if isinstance(given, list) else [given]
    found += [table.data.get("at_most") for table in document.rows("limit")]
    return tuple(dict.fromkeys(filter(_is_name, found)))


def _is_name(value: object) -> TypeGuard[str]:
    """Whether a value is the name of a number of the job."""
    return isinstance(value, str) and value.isidentifier()


def _number(name: str, numbers: Mapping[str, int]) -> int:
    """The number of the job of that name; UsageError where nobody said it."""
    if name not in numbers:
        known = f"; known are: {', '.join(numbers)}" if numbers else ""
        raise UsageError(f"the number of {name!r} is unknown: give --number {name}=N{known}")
    return numbers[name]


def _find(space: str | Path) -> Path:
    """The file of a space; UsageError where there is none."""
    path, name = Path(space), str(space)
    if path.is_file():
        return path
    there = spaces()
    if path.suffix == ".toml" or len(path.parts) > 1:
        raise UsageError(f"there is no space {path}; those that are shipped are {', '.join(there)}")
    if name not in there:
        raise UsageError(f"no space {name!r} here and none shipped{suggest(name, there)}")
    return there[name]


def _pair(value: object) -> str:
    """Two sizes in one text: "8 KiB, 1 MiB" is "8192,1048576"."""
    parts = value.split(",") if isinstance(value, str) else []
    if len(parts) != 2:
        raise UsageError(f'a pair is two sizes like "8 KiB, 1 MiB", but got {value!r}')
    return ",".join(str(parse_bytes(part.strip())) for part in parts)


def _many(one: Callable[[object], Value]) -> Callable[[object], tuple[Value, ...]]:
    """A reader of one value or a list of them, nothing twice."""

    def parse(value: object) -> tuple[Value, ...]:
        found = tuple(map(one, value if isinstance(value, list) else [value]))
        if not found or len(set(found)) < len(found):
            raise UsageError(f"values are a list of different ones, but got {value!r}")
        return found

    return parse


_READERS: dict[str, Callable[[object], tuple[Value, ...]]] = {
    "bytes": sizes,
    "count": counts,
    "word": _many(text),
    "flag": _many(flag),
    "pair": _many(_pair),
}


def _parameter(table: Table, before: list[Parameter], numbers: Mapping[str, int]) -> Parameter:
    """One `[[parameter]]`."""
    table.check_keys(_KEYS, "a [[parameter]]")
    name = table.need("name", text, "a [[parameter]]")
    known = {each.name: each for each in before}
    equals = table.get("equals", text, "")
    if equals and equals not in known:
        raise table.error(
            f"equals: no parameter {equals!r} before this one{suggest(equals, known)}", "equals"
        )
    if bool(equals) == ("values" in table.data):
        raise table.error(f"the parameter {name!r} has either the key 'values' or the key 'equals'", "name")
    values: tuple[Value, ...] = ()
    if equals:
        kind = known[equals].kind
        if "times" in table.data and kind not in ("bytes", "count"):
            raise table.error(f"times: {equals} is no number", "times")
    else:
        kind = table.need("kind", word(tuple(_READERS)), f"the parameter {name!r}")
        values = table.need("values", _values(kind, numbers), f"the parameter {name!r}")
    return Parameter(
        name=name,
        layer=table.get("layer", text, "other"),
        kind=kind,
        values=values,
        equals=equals,
        times=table.get("times", count, 1),
        when=_when(table, known),
        start=_start(table, kind, values, numbers),
        safety=table.get("safety", word(SAFETY), "hint"),
    )


def _start(table: Table, kind: str, values: tuple[Value, ...], numbers: Mapping[str, int]) -> int | None:
    """The place of the value to start with: of numbers the one nearest to it, of others itself."""
    if "start" not in table.data:
        return None
    (wanted,) = table.need("start", lambda value: _values(kind, numbers)([value]), "a [[parameter]]")
    if wanted in values:
        return values.index(wanted)
    plain = [value for value in values if isinstance(value, int)]
    if kind not in ("bytes", "count") or not isinstance(wanted, int) or not plain:
        raise table.error(f"start: {wanted!r} is none of the values", "start")
    return values.index(min(plain, key=lambda value: abs(value - wanted)))


def _values(kind: str, numbers: Mapping[str, int]) -> Callable[[object], tuple[Value, ...]]:
    """The reader of values of a kind, in which numbers of the job may stand by their names."""

    def number(value: object) -> object:
        """What a word stands for."""
        return _number(value, numbers) if kind == "count" and _is_name(value) else value

    def parse(value: object) -> tuple[Value, ...]:
        if isinstance(value, list):
            found = [number(each) for each in value]
            # A number of the job may be one of the plain values: the largest of 64 and the targets, of which
            # are 64.
            value = [each for place, each in enumerate(found) if value[place] == each or each not in value]
        else:
            value = number(value)
        return _READERS[kind](value)

    return parse


def _when(table: Table, known: Mapping[str, Parameter]) -> dict[str, tuple[Value, ...]]:
    """The condition of a parameter: `when = { layout = "chunked" }`."""
    given = table.data.get("when", {})
    if not isinstance(given, dict):
        raise table.error("when is a table of earlier parameters and their values", "when")
    found = {}
    for name, value in given.items():
        if name not in known or known[name].equals:
            raise table.error(
                f"when: no parameter {name!r} with values before this one{suggest(name, known)}", "when"
            )
        try:
            found[name] = _READERS[known[name].kind](value)
        except UsageError as problem:
            raise table.error(f"when: {name}: {problem}", "when") from None
        if strange := [each for each in found[name] if each not in known[name].values]:
            raise table.error(f"when: {name} is never {strange[0]!r}", "when")
    return found


def _limit(table: Table, parameters: list[Parameter], numbers: Mapping[str, int]) -> Limit:
    """One `[[limit]]`."""
    known = {each.name: each for each in parameters if each.kind in ("bytes", "count")}

    def number(value: object) -> int:
        """A count, a size, or a number of the job by its name."""
        return _number(value, numbers) if _is_name(value) else parse_bytes(value)

    keys = {"product": Key(_many(word(known))), "at_most": Key(number), "why": Key(text, "")}
    return Limit(**table.read(keys, "a [[limit]]"))
