"""What changes with the size of a described machine, from runs of the same experiments at several sizes.

The size of a run is the largest partition that it has, and only points of that count. Points that are alike
but for the size stand in one row. Orders of axes and other mappings are told by the best and the worst of
them, and distances by the nearest nodes and the farthest, which are not the same at every size.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from leadline.core import units
from leadline.core.axes import AXES
from leadline.core.formatting import formatted
from leadline.core.record import OK, SIMULATED, Row
from leadline.report.subject import sweeps, varying
from leadline.report.tables import Cell, Column, Table, TableRow
from leadline.report.words import coordinates

SAME = 1.02  # a factor that is no change
MANY = 3  # mappings: from so many on, which is the fastest is more than chance
NEAREST = 3  # the distance of a neighbouring node

_SIZES = ("ranks", "mapping", "partition")  # axes that a size is about, or that stand in one row

Key = tuple[object, ...]


@dataclass(frozen=True)
class Scale:
    """A quantity at several sizes."""

    what: str
    unit: str
    values: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """At the largest size over at the smallest."""
        return self.values[-1] / self.values[0]


@dataclass(frozen=True)
class Scales:
    """The section: its title, what it comes to in sentences, and the table."""

    title: str
    sentences: list[str]
    table: Table


def compose(rows: Sequence[Row]) -> list[Scales]:
    """A section for each described machine of which `rows`, of a summary, have points at several sizes."""
    simulated = [row for row in rows if row["source"] == SIMULATED and row["status"] == OK]
    made = []
    for machine in dict.fromkeys(row["mpi"] for row in simulated):
        alike = [row for row in simulated if row["mpi"] == machine]
        by_size = _by_size(alike)
        if len(by_size) > 1 and (found := list(_scales(by_size))):
            made.append(_section(str(machine), tuple(by_size), found))
    return made


def _by_size(rows: Sequence[Row]) -> dict[int, list[Row]]:
    """The points of each size, the smallest first: those of each run that use its largest partition."""
    largest: dict[str, int] = {}
    for row in rows:
        if row.get("partition") is not None:
            largest[row["run"]] = max(largest.get(row["run"], 0), row["partition"])
    found: dict[int, list[Row]] = {size: [] for size in sorted(set(largest.values()))}
    for row in rows:
        if row["run"] in largest and row["partition"] == largest[row["run"]]:
            found[row["partition"]].append(row)
    return found


def _scales(by_size: Mapping[int, Sequence[Row]]) -> Iterator[Scale]:
    """Every quantity that all sizes have."""
    first = next(iter(by_size.values()))
    names = sweeps([row for rows in by_size.values() for row in rows])
    for benchmark in dict.fromkeys(row["benchmark"] for row in first):
        yield from _of(
            benchmark, [[r for r in rows if r["benchmark"] == benchmark] for rows in by_size.values()], names
        )


def _of(benchmark: str, sizes: Sequence[Sequence[Row]], names: Sequence[str]) -> Iterator[Scale]:
    own = [name for name in names if name != "distance"]
    keys = ["metric", *(name for name in AXES if name not in _SIZES), *own, "ranks_are"]
    together = [_grouped(_counted(rows), keys) for rows in sizes]
    named = ["benchmark", *varying(sizes[0], own)]
    for key, rows in together[0].items():
        alike = [groups.get(key, []) for groups in together]
        if not all(alike):
            continue
        what = f"{coordinates({**rows[0], 'benchmark': benchmark}, named)}: {rows[0]['metric']}"
        for told, unit, pick in _picks(alike):
            values = [value for each in alike if (value := pick(each)) is not None]
            if len(values) == len(alike):
                yield Scale(f"{what}{told}", unit or rows[0]["unit"], tuple(values))


def _counted(rows: Sequence[Row]) -> list[Row]:
    """The points, told apart by whether their ranks are all of the partition or a number of their own."""
    return [{**row, "ranks_are": "all" if row["ranks"] == row["partition"] else row["ranks"]} for row in rows]


def _grouped(rows: Iterable[Row], names: Sequence[str]) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row.get(name) for name in names), []).append(row)
    return found


Pick = Callable[[Sequence[Row]], float | None]


def _picks(alike: Sequence[Sequence[Row]]) -> Iterator[tuple[str, str, Pick]]:
    """What is told of points that differ by mapping or distance alone: in words, its unit, how it is taken.

    No unit is that of the points.
    """
    if any(row.get("distance") is not None for rows in alike for row in rows):
        yield ", nearest nodes", "", lambda rows: _at(rows, "distance", NEAREST)
        yield ", farthest nodes", "", lambda rows: _at(rows, "distance", max(row["distance"] for row in rows))
        return
    fewest = min(len({row["mapping"] for row in rows}) for rows in alike)
    if fewest >= MANY:
        best, worst = (min, max) if alike[0][0]["better"] == "lower" else (max, min)
        yield f", best of {fewest} mappings", "", lambda rows: best(map(_value, rows))
        yield f", worst of {fewest} mappings", "", lambda rows: worst(map(_value, rows))
        yield f", worst over best of {fewest} mappings", "1", lambda rows: _spread(list(map(_value, rows)))
        return
    mappings = [{row["mapping"] for row in rows} for rows in alike]
    shared = [
        each for each in dict.fromkeys(row["mapping"] for row in alike[0]) if all(each in m for m in mappings)
    ]
    for mapping in shared:
        told = f", mapping {mapping}" if len(shared) > 1 else ""
        yield told, "", partial(_at, name="mapping", wanted=mapping)


def _value(row: Row) -> float:
    return float(row["value"])


def _spread(values: Sequence[float]) -> float:
    """The largest over the smallest."""
    return max(values) / min(values)


def _at(rows: Sequence[Row], name: str, wanted: object) -> float | None:
    """The value where a coordinate is what is wanted."""
    return next((_value(row) for row in rows if row.get(name) == wanted), None)


def _section(machine: str, sizes: Sequence[int], found: Sequence[Scale]) -> Scales:
    told = [f"{size:,}" for size in sizes]
    columns = [Column("quantity"), *(Column(f"{each} ranks", True) for each in told), Column("factor", True)]
    rows = [
        TableRow(
            [
                Cell(each.what),
                *(Cell(formatted(value, each.unit).value, value, True) for value in each.values),
                Cell(f"{each.ratio:.3g}", each.ratio, True),
            ]
        )
        for each in found
    ]
    title = f"{machine}: from {told[0]} to {told[-1]} ranks"
    return Scales(title, _sentences(found, sizes), Table(title, columns, rows))


def _sentences(found: Sequence[Scale], sizes: Sequence[int]) -> list[str]:
    """What it comes to: how many change, and what changes most."""
    times = sizes[-1] / sizes[0]
    changed = [each for each in found if not 1 / SAME < each.ratio < SAME]
    said = [
        f"Of {len(found)} quantities {len(found) - len(changed)} stay within 2 % when the ranks become "
        f"{times:.3g} times as many."
    ]
    grown = max(changed, key=lambda each: each.ratio, default=None)
    if grown is not None and grown.ratio > 1:
        said.append(f"What grows most is {grown.what}: by a factor of {grown.ratio:.3g}, {_told(grown)}.")
    fallen = min(changed, key=lambda each: each.ratio, default=None)
    if fallen is not None and fallen.ratio < 1:
        said.append(
            f"What falls most is {fallen.what}: to {fallen.ratio:.3g} of what it was, {_told(fallen)}."
        )
    faster = [each for each in changed if each.ratio > times * SAME]
    if faster:
        said.append(f"{len(faster)} grow faster than the ranks.")
    return said


def _told(scale: Scale) -> str:
    first, last = (units.format_quantity(value, scale.unit) for value in (scale.values[0], scale.values[-1]))
    return f"from {first} to {last}"
