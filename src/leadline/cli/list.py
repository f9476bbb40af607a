"""`leadline list`: benchmarks, or one with its keys; plans, MPIs, machines, metrics, keys."""

from collections.abc import Callable, Mapping
from dataclasses import asdict

import click

from leadline.cli._table import json_option, print_table, right, tell
from leadline.cli._types import Word
from leadline.cli._working import working
from leadline.core.record import Row

Rows = list[Row]

FEW = 3  # benchmarks that are named in a row
EVERY = "every benchmark"  # of which a key of launches is
ALL = "all"  # the word for all keys


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
        {"key": name, "of": EVERY, "meaning": placements if name == "placement" else axis.says}
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
        what, between, first = parts[0].partition(": ")
        told = [first or what, *parts[1:]]
        each = "; ".join(f"{word}: {part}" for word, part in zip(words, told, strict=True))
        return f"{what}. {each}" if between else each
    return f"{sweep['help']} ({', '.join(words)})" if words else str(sweep["help"])


def _default(sweep: Row) -> str:
    """The values that a key has where a plan does not give it: sizes that double as their first and last."""
    from leadline.core.units import format_bytes  # noqa: PLC0415

    values = list(sweep["default"])
    if sweep["unit"] != "B":
        return ", ".join(map(str, values))
    doubling = 0
    while doubling + 1 < len(values) and values[-doubling - 1] == 2 * values[-doubling - 2]:
        doubling += 1
    said = [format_bytes(value) for value in values]
    return ", ".join(
        said if doubling < FEW else [*said[: -doubling - 1], f"{said[-doubling - 1]} .. {said[-1]}"]
    )


def _print_benchmark(name: str, as_json: bool) -> None:
    """A benchmark's question, its keys with their defaults, its metrics. UsageError where there is none."""
    from leadline.core.errors import UsageError, suggest  # noqa: PLC0415

    known = {str(each["name"]): each for each in benchmarks()}
    if name not in known:
        raise UsageError(f"there is no benchmark {name!r}{suggest(name, known)}")
    found = known[name]
    if as_json:
        print_table([found], {}, as_json=True)
        return
    most = f" to {found['max_ranks']}" if found["max_ranks"] else " or more"
    ranks = found["min_ranks"] if found["min_ranks"] == found["max_ranks"] else f"{found['min_ranks']}{most}"
    click.echo(f"{name}: {found['question']}\nRanks: {ranks}\n")
    rows = [
        {"key": each["name"], "default": _default(each), "meaning": _meaning(each)}
        for each in found["sweeps"]
    ]
    if rows:
        print_table(rows, {"key": "key", "default": "default", "meaning": "meaning"})
        click.echo()
    columns = {"name": "metric", "unit": "unit", "better": "better", "description": "description"}
    print_table(found["metrics"], columns)


def _print_keys(rows: Rows, name: str | None, as_json: bool) -> None:
    """The keys of launches and the names of the others; with a name, that key or the keys of that benchmark.

    As JSON without a name: all of them.
    """
    columns = LISTS["keys"][1]
    if name is not None:
        print_table(rows if name == ALL else _keys_named(rows, name), columns, as_json)
    elif as_json:
        print_table(rows, columns, as_json)
    else:
        print_table([row for row in rows if row["of"] == EVERY], columns)
        others = list(dict.fromkeys(row["key"] for row in rows if row["of"] != EVERY))
        click.echo()
        tell(f"Keys of single benchmarks: {', '.join(others)}.")
        tell(
            "'leadline list keys KEY' explains one, 'leadline list keys BENCHMARK' lists those of a "
            f"benchmark, 'leadline list keys {ALL}' lists every key."
        )


def _keys_named(rows: Rows, name: str) -> Rows:
    """The rows of a key and of a benchmark's keys: some names are both. UsageError where there is neither."""
    from leadline.core.errors import UsageError, suggest  # noqa: PLC0415

    found = [row for row in rows if row["key"] == name]
    known = {str(each["name"]): each for each in benchmarks()}
    if not found and name not in known:
        near = suggest(name, {*(row["key"] for row in rows), *known})
        raise UsageError(f"there is no key and no benchmark {name!r}{near}")
    sweeps = known[name]["sweeps"] if name in known else []
    return found + [{"key": each["name"], "of": name, "meaning": _meaning(each)} for each in sweeps]


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
    "plans": (plans, {"name": "plan", "time": "measuring time", "question": "question"}),
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
    "keys": (keys, {"key": "key", "meaning": "meaning", "of": "used by"}),
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
@click.argument("name", metavar="[NAME]", required=False)
@json_option
def command(what: str, name: str | None, as_json: bool) -> None:
    """List WHAT: benchmarks, shipped plans, mpis (of this machine), machines (files), metrics, or keys.

    'leadline list benchmarks pingpong' shows one benchmark: its question, the keys that a plan can give it
    with their defaults, and its metrics.

    'leadline list keys' explains the keys of plans and tables that every benchmark has, and names the others;
    'leadline list keys bytes' explains one key, 'leadline list keys pingpong' the keys of one benchmark, and
    'leadline list keys all' all of them.

    With --json, benchmarks have their keys ("sweeps") and metrics, and keys are all listed.
    """
    if name is not None and what not in ("benchmarks", "keys"):
        raise click.UsageError(
            "only 'leadline list benchmarks' and 'leadline list keys' take a name, but got 'leadline list "
            f"{what} {name}'"
        )
    make, columns = LISTS[what]
    with working(f"listing {what}"):  # the benchmarks' program may have to be built
        rows = make()
    if what == "keys":
        _print_keys(rows, name, as_json)
    elif name is not None:
        _print_benchmark(name, as_json)
    elif what == "machines" and not as_json:
        print_table(*right(rows, columns, ("nodes", "ranks")))
    else:
        print_table(rows, columns, as_json)
