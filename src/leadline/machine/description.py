"""A machine as read from its file, and from the file that it extends."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from leadline.core import toml as plan_text
from leadline.core.errors import UsageError, suggest
from leadline.core.toml import Table
from leadline.core.units import format_bytes
from leadline.core.values import text, word
from leadline.machine.files import find, is_shipped
from leadline.machine.schema import ABOUT, BESIDE, LINES, PARTS, TOP, WITHOUT, TableSchema
from leadline.machine.topologies import KINDS, Topology
from leadline.machine.values import Number, Read, number, part

Values = Mapping[str, Read]

TABLES = {**PARTS, **BESIDE}


@dataclass(frozen=True)
class Machine:
    """A described machine."""

    name: str
    path: Path
    title: str
    about: str  # sentences for people: what it is, and what is not known of it
    sources: Mapping[str, str]  # the sources in full, by the short names that numbers use
    kind: str  # of topology
    topology: Values
    top: Values
    tables: Mapping[str, Values]  # those of one row
    rows: Mapping[str, tuple[Values, ...]]  # those of several
    # Each [[collective]] with its place; of shipped files none, which are tested and need no check.
    collectives: tuple[Table, ...] = field(default=(), compare=False, repr=False)

    @property
    def ranks_per_node(self) -> int:
        """Processes on a node, as the machine is run."""
        return int(_plain(self.tables["node"]["ranks"]))

    @property
    def cores(self) -> int:
        return int(_plain(self.tables["node"]["cores"]))

    @property
    def max_nodes(self) -> int:
        """Nodes of the largest partition that may be asked for."""
        return KINDS[self.kind].most(self._shape())

    @property
    def max_ranks(self) -> int:
        """Ranks of the largest partition that may be asked for."""
        return self.max_nodes * self.ranks_per_node

    def native(self) -> dict[str, Any]:
        """The description in SI units, as `parse_machine` of the native program reads it."""
        described: dict[str, object] = {"name": self.name, **_plains(self.top)}
        described |= {name: _plains(values) for name, values in self.tables.items() if name in PARTS}
        described |= {name: [_plains(row) for row in rows] for name, rows in self.rows.items()}
        return described

    @property
    def storage(self) -> dict[str, object]:
        """What is known of its parallel file system, in SI units; empty where nothing is."""
        return _plains(self.tables.get("storage", {}))

    def partition(self, ranks: int) -> Topology:
        """The topology of the smallest partition with room for `ranks` ranks.

        Raises UsageError for more ranks than the largest partition has cores for, and for none.
        """
        if not 1 <= ranks <= self.max_ranks:
            raise UsageError(
                f"{self.path}: {self.name} has 1 to {self.max_ranks:,} ranks ({self.max_nodes:,} nodes of "
                f"{self.ranks_per_node}), but got {ranks:,}"
            )
        return KINDS[self.kind].smallest(self._shape(), -(-ranks // self.ranks_per_node))

    def check_algorithms(self, known: Callable[[str], Sequence[str]]) -> None:
        """UsageError, with file and line, for an algorithm that is none of those `known` of its operation."""
        for table in self.collectives:
            operation, given = str(table.data["operation"]), str(table.data["algorithm"])
            if given not in (names := known(operation)):
                near = suggest(given, names)
                raise table.error(f"algorithm: {operation} has no algorithm {given!r}{near}", "algorithm")

    @property
    def caveat(self) -> str:
        """A sentence where large messages within a node all take the same time; else empty."""
        node = self.tables["node"]
        rows = self.rows.get("local_protocol") or self.rows["protocol"]
        copied = rows[-1].keys() & {"send_copy", "receive_copy"}
        if self.ranks_per_node == 1 or "local" in node or _plain(node.get("loggops", False)) or copied:
            return ""
        above = f" above {format_bytes(int(_plain(rows[-2]['up_to'])))}" if len(rows) > 1 else ""
        return (
            f"{self.path} gives no rate for messages within a node{above}: their time does not depend on "
            "their size; a [[local_protocol]] with receive_copy gives one"
        )

    def numbers(self) -> list[Number]:
        """Every number of the machine with its source, in the order of the tables."""
        return [value for _, value in self.values() if isinstance(value, Number)]

    def with_number(self, key: str, value: float) -> "Machine":
        """This machine with another value of one number, in SI units; `key` is that of the `Number`."""

        def moved(values: Values) -> Values:
            return {
                name: replace(each, value=value) if isinstance(each, Number) and each.key == key else each
                for name, each in values.items()
            }

        return replace(
            self,
            topology=moved(self.topology),
            top=moved(self.top),
            tables={name: moved(values) for name, values in self.tables.items()},
            rows={name: tuple(map(moved, rows)) for name, rows in self.rows.items()},
        )

    def values(self) -> Iterator[tuple[str, Read]]:
        """Every value of the machine with its key: numbers, words and switches."""
        yield "topology.kind", self.kind
        yield from _keyed("topology", self.topology)
        yield from self.top.items()
        for name in TABLES:
            yield from _keyed(name, self.tables.get(name, {}))
            for index, row in enumerate(self.rows.get(name, ())):
                yield from _keyed(f"{name}.{row_name(row, index)}", row)

    def _shape(self) -> dict[str, object]:
        """The topology's values."""
        return _plains(self.topology)


@dataclass
class _Draft:
    """What the file, and those that it extends, have said so far."""

    path: Path
    top: Table
    title: str = ""
    about: str = ""
    sources: dict[str, str] = field(default_factory=dict)
    kind: str = ""
    topology: dict[str, Read] = field(default_factory=dict)
    values: dict[str, Read] = field(default_factory=dict)
    tables: dict[str, dict[str, Read]] = field(default_factory=dict)
    rows: dict[str, tuple[dict[str, Read], ...]] = field(default_factory=dict)
    collectives: tuple[Table, ...] = ()


def load(machine: str | Path) -> Machine:
    """Read and check a machine, by its name or its path.

    Raises UsageError, naming file, line or key, for whatever a person can get wrong in it.
    """
    draft = _read(find(machine), ())
    _check(draft)
    return Machine(
        name=draft.path.stem,
        path=draft.path,
        title=draft.title,
        about=draft.about,
        sources=draft.sources,
        kind=draft.kind,
        topology=draft.topology,
        top=draft.values,
        tables=draft.tables,
        rows=draft.rows,
        collectives=draft.collectives,
    )


def _read(path: Path, extended: tuple[Path, ...]) -> _Draft:
    """What a file says, on top of what the file says that it extends."""
    document = plan_text.read(path, "machine")
    top = document.top
    top.check_keys([*ABOUT, *TOP, *TABLES, "topology"], "a machine")
    draft = _Draft(path, top)
    if "extends" in top.data:
        draft = _base(path, top, extended)
    draft.title = top.get("title", text, draft.title)
    draft.about = top.get("about", text, draft.about)
    if table := document.table("sources"):
        draft.sources |= {key: table.need(key, text, "sources") for key in table.data}
    if table := document.table("topology"):
        _read_topology(draft, table)
    for key, kind in TOP.items():
        if key in top.data:
            draft.values[key] = number(top, key, kind, key) if kind.number else top.need(key, kind.read, key)
    for name, schema in TABLES.items():
        if schema.rows:
            _read_rows(draft, name, schema, document.rows(name))
        elif table := document.table(name):
            draft.tables[name] = {**draft.tables.get(name, {}), **part(table, schema, name, name)}
    return draft


def _base(path: Path, top: Table, extended: tuple[Path, ...]) -> _Draft:
    """What the file that is extended says; it stands beside this one, or is one that is shipped."""
    name = top.need("extends", text, "a machine")
    beside = path.with_name(f"{name.removesuffix('.toml')}.toml")
    try:
        base = beside if beside.is_file() else find(name)
    except UsageError as problem:
        raise top.error(f"extends: {problem}", "extends") from None
    if base.resolve() in extended or base.resolve() == path.resolve():
        raise top.error(f"extends: {name} extends itself in the end", "extends")
    draft = _read(base, (*extended, path.resolve()))
    draft.path, draft.top = path, top
    return draft


def _read_topology(draft: _Draft, table: Table) -> None:
    """The table `topology`, whose keys depend on its kind."""
    kind = table.get("kind", word(tuple(KINDS)), draft.kind)
    if not kind:
        raise table.error(f"[topology] needs the key 'kind'; known are: {', '.join(sorted(KINDS))}")
    if kind != draft.kind:
        draft.topology = {}
    draft.kind = kind
    draft.topology |= part(table, KINDS[kind].keys, f"topology of kind {kind}", "topology", ("kind",))
    for key in KINDS[kind].keys.needed:
        if key not in draft.topology:
            raise table.error(f"a topology of kind {kind} needs the key {key!r}")
    try:
        KINDS[kind].check(_plains(draft.topology))
    except UsageError as problem:
        raise table.error(str(problem), str(problem).partition(":")[0]) from None


def _read_rows(draft: _Draft, name: str, schema: TableSchema, tables: list[Table]) -> None:
    if not tables:
        return
    rows: list[dict[str, Read]] = []
    for table in tables:
        row = part(table, schema, name, f"{name}.{row_name(table.data, len(rows))}")
        for key in schema.needed:
            if key not in row:
                raise table.error(f"a [[{name}]] needs the key {key!r}")
        rows.append(row)
    draft.rows[name] = tuple(rows)
    if name == "collective":
        _check_reached(tables, rows)
        draft.collectives = () if is_shipped(tables[0].path) else tuple(tables)
    if name.endswith("protocol"):
        _check_protocols(name, tables, rows)
        _check_order(name, tables, rows)


def _check_protocols(name: str, tables: list[Table], rows: list[dict[str, Read]]) -> None:
    """UsageError for two rows of one name, and for what no message of a row would use."""
    for index, (table, row) in enumerate(zip(tables, rows, strict=True)):
        if row["name"] in (above := [other["name"] for other in rows[:index]]):
            line = tables[above.index(row["name"])].line
            raise table.error(f"name: the [[{name}]] on line {line} is {row['name']!r} already", "name")
        if "handshake_overhead" in row and not row.get("handshake"):
            raise table.error(
                "handshake_overhead: no message uses this without handshake = true; add that or leave it out",
                "handshake_overhead",
            )


def _check_reached(tables: list[Table], rows: list[dict[str, Read]]) -> None:
    """UsageError for a [[collective]] that is never taken, as one before it has all that it is for."""
    limits = ("up_to", "ranks_up_to")
    for index, (table, row) in enumerate(zip(tables, rows, strict=True)):
        for above, other in zip(tables[:index], rows, strict=False):
            reaches = all(key not in other or _within(row, other, key) for key in limits)
            if other["operation"] == row["operation"] and reaches:
                raise table.error(
                    f"this [[collective]] is never taken: the one of {row['operation']} on line {above.line} "
                    "has all its sizes and numbers of ranks; the first that matches holds"
                )


def _within(row: Values, other: Values, key: str) -> bool:
    """Whether a row ends where another one does, or before."""
    return key in row and bool(_plain(row[key]) <= _plain(other[key]))


def _check_order(name: str, tables: list[Table], rows: list[dict[str, Read]]) -> None:
    """Rows of protocols stand in the order of the sizes that they reach to; only the last names none."""
    before = -1
    for index, (table, row) in enumerate(zip(tables, rows, strict=True)):
        if "up_to" not in row:
            if index + 1 < len(rows):
                raise table.error(f"a [[{name}]] with another after it needs the key 'up_to'")
            return
        size = int(_plain(row["up_to"]))
        if size <= before:
            raise table.error(f"up_to: [[{name}]] stand in the order of up_to, but got {size} B", "up_to")
        if index + 1 == len(rows):
            raise table.error(
                f"up_to: the last [[{name}]] has all larger messages, so it has no 'up_to'; leave it out, or "
                f"add a [[{name}]] for messages above {format_bytes(size)}",
                "up_to",
            )
        before = size


def _check(draft: _Draft) -> None:
    """UsageError for what is missing once everything is read, and for what cannot be together."""
    if not draft.title:
        raise draft.top.error("a machine needs the key 'title', as in title = \"A cluster of two nodes\"")
    if not draft.kind:
        known = ", ".join(sorted(KINDS))
        raise draft.top.error(f"a machine needs a table [topology] with its kind; known are: {known}")
    for name, schema in TABLES.items():
        wanted = name == "node" or (name == "links" and draft.kind != "single") or name in draft.tables
        for key in schema.needed if wanted and not schema.rows else ():
            if key not in draft.tables.get(name, {}):
                raise draft.top.error(f"[{name}] of a machine needs the key {key!r}", name)
    if not draft.rows.get("protocol"):
        raise draft.top.error("a machine needs at least one [[protocol]]")
    _check_used(draft)
    node = _plains(draft.tables["node"])
    hosts = node["cores"] * node.get("threads", 1)
    if node["ranks"] > hosts:
        raise draft.top.error(
            f"node.ranks: {node['cores']} cores have room for {hosts} ranks a node, but got {node['ranks']}",
            "node",
        )
    if "local" in node and not node.get("local_by_network"):
        raise draft.top.error(
            "node.local: this is the rate of messages within a node that pass the network engine, so it "
            "needs local_by_network = true; where cores copy them, give receive_copy in [[local_protocol]]",
            "node",
        )


def _check_used(draft: _Draft) -> None:
    """UsageError for keys of this file, beside the tables, that nothing on this machine would use."""
    for key, others in WITHOUT.items():
        if key in draft.top.data and not any(_plain(draft.values.get(other, False)) for other in others):
            raise draft.top.error(f"{key}: nothing uses this without {' or '.join(others)}", key)
    grids = [name for name, kind in KINDS.items() if "shape" in kind.keys.needed]
    for key in LINES:
        if key in draft.top.data and _plain(draft.values[key]) and draft.kind not in grids:
            raise draft.top.error(
                f"{key}: lines are those of a {' or a '.join(grids)}, and this machine is a {draft.kind}",
                key,
            )


def row_name(row: Mapping[str, object], index: int) -> str:
    """What a row is called in the keys of its values: its name or operation, else its place."""
    return str(row.get("name", row.get("operation", index)))


def _keyed(name: str, values: Values) -> Iterator[tuple[str, Read]]:
    """The values of a table with their keys in full."""
    yield from ((f"{name}.{key}", value) for key, value in values.items())


def _plain(value: Read) -> Any:
    """A value without its source."""
    return value.value if isinstance(value, Number) else value


def _plains(values: Values) -> dict[str, Any]:
    """Values without their sources; what JSON can hold."""
    plain = {key: _plain(value) for key, value in values.items()}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}
