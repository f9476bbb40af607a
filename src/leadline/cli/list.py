"""`leadline list`: benchmarks, plans, MPIs, machines, metrics."""

from collections.abc import Callable, Mapping
from dataclasses import asdict

import click

from leadline.cli._table import json_option, print_table
from leadline.cli._types import Word
from leadline.cli._working import working
from leadline.core.record import Row

Rows = list[Row]

FEW = 3  # benchmarks that are named in a row


def benchmarks() -> Rows:
    """Every benchmark with its question, its sweeps and its metrics."""
    from leadline.native import registry  # noqa: PLC0415

    return [asdict(each) for each in registry.benchmarks().values()]


def metrics() -> Rows:
    """Every metric of every benchmark."""
    return [
        {"benchmark": each["name"], **{"metric" if k == "name" else k: v for k, v in metric.items()}}
        for each in benchmarks()
        for metric in each["metrics"]
    ]


def keys() -> Rows:
    """The keys of plans and tables, and what they mean: of launches, and of the points of benchmarks."""
    from leadline.core.axes import AXES, PLACEMENTS  # noqa: PLC0415

    placements = "; ".join(f"{word}: {meaning}" for word, meaning in PLACEMENTS.items())
    rows: Rows = [
        {"key": name, "of": "launches", "meaning": placements if name == "placement" else axis.says}
        for name, axis in AXES.items()
    ]
    of: dict[tuple[str, str], list[str]] = {}
    for each in benchmarks():
        for sweep in each["sweeps"]:
            of.setdefault((sweep["name"], _meaning(sweep)), []).append(each["name"])
    rows += [
        {
            "key": name,
            "of": ", ".join(names if len(names) <= FEW else [*names[:2], "..."]),
            "meaning": meaning,
        }
        for (name, meaning), names in sorted(of.items())
    ]
    return rows


def _meaning(sweep: Row) -> str:
    """What a key means, with its words: each beside its own part of the meaning where there are as many."""
    words, parts = sweep["choices"], sweep["help"].split("; ")
    if words and len(words) == len(parts):
        return "; ".join(f"{word}: {part}" for word, part in zip(words, parts, strict=True))
    return f"{sweep['help']} ({', '.join(words)})" if words else str(sweep["help"])


def plans() -> Rows:
    """The shipped plans with the questions they ask, and the time that measuring takes at most."""
    from leadline.plan import files as plan_files  # noqa: PLC0415

    return [
        {"name": name, **plan_files.about(path), "path": str(path)}
        for name, path in plan_files.shipped().items()
    ]


def mpis() -> Rows:
    """The MPI libraries found on this machine."""
    from leadline.mpi import discover  # noqa: PLC0415

    return discover.rows()


def machines() -> Rows:
    """The described machines that come with Leadline."""
    from leadline import machine  # noqa: PLC0415

    return [
        {
            "name": each.name,
            "title": each.title,
            "topology": each.kind,
            "nodes": each.max_nodes,
            "ranks": each.max_ranks,
            "ranks_per_node": each.ranks_per_node,
            "path": str(each.path),
        }
        for each in map(machine.load, machine.names())
    ]


# What can be listed: how its rows are made, and the columns that are shown of them.
LISTS: dict[str, tuple[Callable[[], Rows], Mapping[str, str]]] = {
    "benchmarks": (
        benchmarks,
        {"name": "benchmark", "question": "question"},
    ),
    "plans": (plans, {"name": "plan", "time": "time at most", "question": "question"}),
    "mpis": (
        mpis,
        {
            "id": "mpi",
            "library": "library",
            "version": "version",
            "origin": "origin",
            "compiler": "compiler",
            "launcher": "launcher",
        },
    ),
    "machines": (
        machines,
        {"name": "machine", "title": "title", "topology": "topology", "nodes": "nodes", "ranks": "ranks"},
    ),
    "keys": (keys, {"key": "key", "meaning": "meaning", "of": "of"}),
    "metrics": (
        metrics,
        {
            "benchmark": "benchmark",
            "metric": "metric",
            "unit": "unit",
            "better": "better",
            "description": "description",
        },
    ),
}


@click.command()
@click.argument("what", metavar="WHAT", type=Word(list(LISTS)))
@json_option
def command(what: str, as_json: bool) -> None:
    """List WHAT: benchmarks, shipped plans, mpis (of this machine), machines (files), metrics, or keys.

    Keys are those of plans and tables, with their meaning.

    With --json, benchmarks have their sweeps and metrics.
    """
    make, columns = LISTS[what]
    with working(f"listing {what}"):  # the benchmarks' program may have to be built
        rows = make()
    print_table(rows, columns, as_json)
