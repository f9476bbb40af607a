"""The verb that prints what a run found, filtered, and hands it to other programs; or a described machine."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._machine import WORD, Shown, show_machine
from leadline.cli._table import json_option, print_table
from leadline.cli._types import newest_run

if TYPE_CHECKING:
    import polars as pl

# What launches a point, in the order in which it is told; "default" goes without saying.
AXES = (
    *("run", "source", "mpi", "stack", "protocol", "placement", "mapping", "partition", "ranks"),
    *("collectives", "progress"),
)


@click.command()
@click.argument("what", type=Shown(), nargs=-1, metavar="[RUN | machine NAME]")
@click.option("--benchmark", "-b", multiple=True, help="Only this benchmark; may be given several times.")
@click.option("--metric", "-m", multiple=True, help="Only this metric; may be given several times.")
@click.option(
    "--where",
    "-w",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only points with this value, as in bytes=8 or mpi=openmpi; a key given twice means either.",
)
@click.option("--samples", is_flag=True, help="Every sample, one a row, instead of medians over launches.")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values in SI units.")
@json_option
@click.option(
    "--parquet",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the records, samples and all, to a file that Leadline reads again.",
)
def command(
    *,
    what: tuple[str, ...],
    benchmark: tuple[str, ...],
    metric: tuple[str, ...],
    where: tuple[str, ...],
    samples: bool,
    as_csv: bool,
    as_json: bool,
    parquet: Path | None,
) -> None:
    """Print what a run found: each point's median over launches with its 95 % interval.

    RUN is a run's directory or its name in runs/, or a .parquet file; without it, the newest run. The next
    launch's median is expected in the interval under "next launch".

    `machine NAME` prints a described machine instead, each of its numbers with where it is from.
    """
    if len(what) == 2 and what[0] == WORD:
        if benchmark or metric or where or samples or as_csv or parquet:
            raise click.UsageError("a machine is shown whole, or with --json", click.get_current_context())
        show_machine(what[1], as_json)
        return
    if len(what) > 1:
        raise click.UsageError(f"one run at a time, but got {' '.join(what)}", click.get_current_context())
    from leadline.analysis.select import matching  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415  (polars takes a while to load)

    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other", click.get_current_context())
    path = store.find(what[0]) if what else newest_run()
    wanted = [
        *(f"benchmark={name}" for name in benchmark),
        *(f"metric={name}" for name in metric),
        *where,
    ]
    records = matching(store.load(path), wanted)
    if parquet:
        store.write_parquet(records, parquet, store.provenance(path), store.plan_text(path))
        click.echo(f"{parquet}: {records.height} records", err=True)
    table = _samples(records) if samples else _summary(records)
    if as_csv:
        click.echo(table.write_csv(), nl=False)
    elif as_json:
        print_table(table.to_dicts(), {}, as_json=True)
    elif not parquet:
        _print(table.to_dicts(), _sample_columns if samples else _summary_columns)
        if (path / store.JOURNAL).exists():
            click.echo(f"{path} is not finished; go on with 'leadline run --resume {path}'", err=True)


def _summary(records: "pl.DataFrame") -> "pl.DataFrame":
    """One row a point."""
    from leadline.analysis.summary import summarise  # noqa: PLC0415

    return summarise(records)


def _samples(records: "pl.DataFrame") -> "pl.DataFrame":
    """One row a sample: its point, launch, ordinal, whether it is warm-up, and value in SI units."""
    import polars as pl  # noqa: PLC0415

    from leadline.core.record import KEYS, OK, point_columns  # noqa: PLC0415

    return (
        records.filter(pl.col("status") == OK)
        .select(
            *KEYS,
            *point_columns(records),
            "launch",
            "warmup",
            "unit",
            sample=pl.int_ranges(pl.col("samples").list.len()),
            value="samples",
        )
        .explode("sample", "value")
        .with_columns(is_warmup=pl.col("sample") < pl.col("warmup"))
        .drop("warmup")
    )


def _print(rows: list[dict[str, Any]], columns: Any) -> None:
    """A table for each benchmark and metric; what is the same in all its rows stands above it."""
    first = True
    for (benchmark, metric), group in groupby(rows, key=lambda row: (row["benchmark"], row["metric"])):
        points = list(group)
        coordinates = [name for name in points[0] if name not in _fixed() and _any(points, name)]
        told = [name for name in (*AXES, *coordinates) if _any(points, name)]
        varying = [name for name in told if len({row[name] for row in points}) > 1]
        if not first:
            click.echo()
        first = False
        title = f"{benchmark} {metric}" if metric else f"{benchmark}, not run"
        same = [_said(name, points[0][name]) for name in told if name not in varying]
        cells = [{**{n: _value(n, row[n]) for n in varying}, **columns(row)} for row in points]
        named = dict.fromkeys([*varying, *(name for cell in cells for name in cell)])
        headings = [name for name in named if any(cell.get(name) for cell in cells)]
        for shared in ("network", "remark"):
            if shared in headings and len(cells) > 1 and len({cell.get(shared) for cell in cells}) == 1:
                headings.remove(shared)
                same.append(cells[0][shared])
        cells = [{name: cell.get(name, "") for name in headings} for cell in cells]
        click.secho(", ".join([title, *filter(None, same)]), bold=sys.stdout.isatty())
        print_table(cells, {name: name for name in headings})


def _fixed() -> set[str]:
    """The columns of tables that are no coordinates."""
    from leadline.analysis.summary import COLUMNS  # noqa: PLC0415
    from leadline.core.record import FIELDS  # noqa: PLC0415

    return {*FIELDS, *COLUMNS, "sample", "value", "is_warmup"}


def _any(rows: Iterable[Mapping[str, Any]], name: str) -> bool:
    """Whether any row has a value there."""
    return any(row.get(name) is not None for row in rows)


def _said(name: str, value: Any) -> str:
    """A value that a whole table shares, in words; nothing where it is what one expects."""
    if value == "default" or (name, value) == ("source", "measured"):
        return ""
    if name in {"run", "source", "mpi"}:
        return "MPI unknown" if value == "unknown" else str(value)
    return f"{value} ranks" if name == "ranks" else f"{name}={_value(name, value)}"


def _value(name: str, value: Any) -> str:
    """A coordinate in a cell."""
    from leadline.core.units import format_bytes  # noqa: PLC0415

    if value is None:
        return ""
    return format_bytes(value) if name == "bytes" and isinstance(value, int) else str(value)


def _summary_columns(row: Mapping[str, Any]) -> dict[str, str]:
    """The cells of a point: what was found, what to expect, how often it was launched, and what to know."""
    from leadline.core.formatting import next_launch, tell_row  # noqa: PLC0415
    from leadline.core.record import OK  # noqa: PLC0415

    if row["status"] != OK:
        return {"status": row["status"], "remark": row["reason"] or ""}
    found = tell_row(row)
    if row["exact"]:
        about = "; ".join(_remarks(row))
        return {"exact value": found.value, "network": row["transport"] or "", "remark": about}
    expected = next_launch(row)
    return {
        "median [95 %]": " ".join(filter(None, (found.value, found.interval, found.note))),
        "next launch": " ".join(filter(None, (expected.value, expected.note))),
        "launches": str(row["launches"]),
        "remark": "; ".join(_remarks(row)),
    }


def _remarks(row: Mapping[str, Any]) -> Iterator[str]:
    """What somebody should know before believing a number."""
    from leadline.analysis import start_skew as starts  # noqa: PLC0415

    if row["launches"] == 1 and not row["exact"]:
        yield "one launch, so no interval"
    if row["disturbed"]:
        yield f"disturbed: {row['disturbance']}"
    if row["oversubscribed"]:
        yield "oversubscribed"
    yield from starts.remarks(row)
    if row["reason"]:
        yield row["reason"]


def _sample_columns(row: Mapping[str, Any]) -> dict[str, str]:
    """The cells of a sample."""
    from leadline.core.units import format_quantity  # noqa: PLC0415

    return {
        "launch": str(row["launch"]),
        "sample": str(row["sample"]),
        "value": format_quantity(row["value"], row["unit"]),
        "remark": "warm-up" if row["is_warmup"] else "",
    }
