"""`leadline show`: prints a run's summary, tables or samples, exports them, or prints a machine."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._machine import WORD, Shown, show_machine
from leadline.cli._options import where_option
from leadline.cli._output import parquet_file
from leadline.cli._summary import print_lost, print_summary
from leadline.cli._table import json_option, print_table, wrapped
from leadline.cli._types import RUNS, Run, newest_run
from leadline.core.axes import AXES
from leadline.core.formatting import counted
from leadline.core.record import Row

if TYPE_CHECKING:
    import polars as pl

# What launches a point, in the order in which it is told; "default" goes without saying.
LAUNCH = ("run", "source", *AXES)
MOST_PLACES = 8  # ranks whose places are told in a sentence


@click.command()
@click.argument("what", type=Shown(), nargs=-1, metavar="[RUN | machine NAME]")
@click.option("--benchmark", "-b", multiple=True, help="Print the values of this benchmark; repeatable.")
@click.option("--metric", "-m", multiple=True, help="Print the values of this metric; repeatable.")
@where_option("Print the values of points with this value, such as bytes=8 or mpi=openmpi.")
@click.option("--samples", is_flag=True, help="Print every sample instead of medians over launches.")
@click.option(
    "--earlier",
    multiple=True,
    type=Run(),
    metavar="RUN",
    help="An earlier run that shows how much runs differ; repeatable; at least three are needed. Default: "
    "finished runs of the same plan and host in the same directory.",
)
@click.option("--alone", is_flag=True, help="Print the intervals of this run's launches alone.")
@click.option("--skipped", is_flag=True, help="List the points without a value, each with its reason.")
@click.option("--csv", "as_csv", is_flag=True, help="Print all values as CSV, in SI units.")
@json_option
@click.option(
    "--parquet",
    type=parquet_file(),
    metavar="FILE",
    help="Write the records with all samples to FILE; Leadline reads such files like runs.",
)
def command(
    *,
    what: tuple[str, ...],
    benchmark: tuple[str, ...],
    metric: tuple[str, ...],
    where: tuple[str, ...],
    samples: bool,
    earlier: tuple[Path, ...],
    alone: bool,
    skipped: bool,
    as_csv: bool,
    as_json: bool,
    parquet: Path | None,
) -> None:
    """Print a run's summary, or the values of its benchmarks.

    RUN is a directory, a name in runs/, or a .parquet file. Default: the newest run.

    Without options, the summary has the machine, how quiet it was, headlines for each MPI, and why points
    were skipped. With --benchmark, --metric or --where, tables have each point's median over launches with
    its 95 % interval, which includes what differs between runs where earlier runs show it; "next launch" is
    the interval in which the median of the next launch is expected.

    'machine NAME' prints a machine file with the source of each number.
    """
    if len(what) == 2 and what[0] == WORD:
        if benchmark or metric or where or samples or earlier or skipped or as_csv or parquet:
            raise click.UsageError("of a machine only --json can be given", click.get_current_context())
        show_machine(what[1], as_json)
        return
    _check(what)
    from leadline.analysis.select import matching  # noqa: PLC0415
    from leadline.core.record import OK  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415  (polars takes a while to load)

    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other", click.get_current_context())
    path = store.find(what[0]) if what else newest_run()
    history = [] if samples else _history(path, earlier, alone=alone)
    wanted = [
        *(f"benchmark={name}" for name in benchmark),
        *(f"metric={name}" for name in metric),
        *where,
    ]
    whole = store.load(path)
    records = matching(whole, wanted)
    if parquet:
        store.write_parquet(records, parquet, store.provenance(path), store.plan_text(path))
        click.echo(f"{parquet}: {counted(records.height, 'record')}", err=True)
    if not (wanted or samples or skipped or as_csv or as_json or parquet):
        print_summary(records, path, history)
        _remind(path)
        return
    table = _samples(records) if samples else _summary(records, whole, wanted, history)
    if skipped:
        table = table.filter(table["status"] != OK)
    if as_csv:
        click.echo(table.write_csv(), nl=False)
    elif as_json:
        print_table(table.to_dicts(), {}, as_json=True)
    elif skipped:
        _print_skipped(table.to_dicts())
    elif not parquet:
        rows = [row for row in table.to_dicts() if samples or row["status"] == OK]
        _print(rows, _sample_columns if samples else _summary_columns)
        if not samples:
            _print_about(records, history)
        _remind(path)


def _check(what: tuple[str, ...]) -> None:
    """Raises UsageError for several runs, and for the word "machine" alone where no run is called so."""
    problem = f"expected one run, but got {' '.join(what)}" if len(what) > 1 else None
    if what == (WORD,) and not Path(WORD).exists() and not (Path(RUNS) / WORD).exists():
        problem = "a machine is named, such as 'leadline show machine bgp'"
    if problem:
        raise click.UsageError(problem, click.get_current_context())


def _print_about(records: "pl.DataFrame", history: "list[pl.DataFrame]") -> None:
    """Where ranks were, what earlier runs show, and what was not measured."""
    from leadline.analysis.summary import said_of_runs  # noqa: PLC0415
    from leadline.report.digest import lost  # noqa: PLC0415

    bindings = records.get_column("binding").drop_nulls().unique()
    if len(bindings) == 1 and len(bindings[0].split()) <= MOST_PLACES:
        click.echo(wrapped(f"Ranks were on {bindings[0]} (host:core, in the order of ranks)."))
    if said := said_of_runs(records, history):
        click.echo(wrapped(said))
    print_lost(lost(records))


def _history(path: Path, earlier: Sequence[Path], *, alone: bool) -> "list[pl.DataFrame]":
    """The records of earlier runs: those given, else those beside the run; UsageError for both words."""
    from leadline.analysis.history import LEAST  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415

    if alone and earlier:
        raise click.UsageError("--alone and --earlier exclude each other", click.get_current_context())
    if alone:
        return []
    if 0 < len(earlier) < LEAST:
        said = f"--earlier: at least {LEAST} runs show how much runs differ, but got {len(earlier)}"
        raise click.UsageError(said, click.get_current_context())
    return [store.load(each) for each in earlier] or store.load_earlier(path)


def _remind(path: Path) -> None:
    """Say how to resume a run that is not finished."""
    from leadline.run import store  # noqa: PLC0415

    if (path / store.JOURNAL).exists():
        click.echo(f"{path} is not finished; resume it with 'leadline run --resume {path}'", err=True)


def _print_skipped(rows: list[Row]) -> None:
    """The points without a value, one a line below their reason."""
    from leadline.cli._series import differing, words  # noqa: PLC0415

    if not rows:
        click.echo("Every point has a value.")
        return
    names = [name for name in rows[0] if name not in _fixed() or name in LAUNCH]
    telling = ["benchmark", *differing(rows, names)]
    by_reason: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        reason = (row["status"], row["reason"] or "no reason was recorded")
        by_reason.setdefault(reason, []).append(words(row, telling))
    for (status, why), points in by_reason.items():
        click.secho(wrapped(f"{len(points)} {status}: {why}", "  "), bold=sys.stdout.isatty())
        for point in points:
            click.echo(wrapped(f"  {point}", "    "))


def _summary(
    records: "pl.DataFrame",
    whole: "pl.DataFrame",
    wanted: Sequence[str],
    earlier: "Sequence[pl.DataFrame]",
) -> "pl.DataFrame":
    """One row a point of `records`, which are those `wanted` of `whole`.

    Whichever points are asked for, their intervals are those that all launches of the run give.
    """
    from leadline.analysis.estimates import series_columns  # noqa: PLC0415
    from leadline.analysis.summary import summarise  # noqa: PLC0415

    by = series_columns(whole)
    if any(condition.partition("=")[0].strip() not in by for condition in wanted):
        return summarise(records, earlier)  # of some launches only
    return summarise(whole, earlier).join(records.select(by).unique(), on=by, how="semi", nulls_equal=True)


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


def _print(rows: list[Row], columns: Callable[[Row], dict[str, str]]) -> None:
    """A table for each benchmark and metric; what is the same in all its rows stands above it."""
    first = True
    for (benchmark, metric), group in groupby(rows, key=lambda row: (row["benchmark"], row["metric"])):
        points = list(group)
        coordinates = [name for name in points[0] if name not in _fixed() and _any(points, name)]
        told = [name for name in (*LAUNCH, *coordinates) if _any(points, name)]
        varying = [name for name in told if len({row[name] for row in points}) > 1]
        if not first:
            click.echo()
        first = False
        title = f"{benchmark} {metric}"
        same = [_said(name, points[0][name]) for name in told if name not in varying]
        cells = [{**{n: _value(n, row[n]) for n in varying}, **columns(row)} for row in points]
        named = dict.fromkeys([*varying, *(name for cell in cells for name in cell)])
        headings = [name for name in named if any(cell.get(name) for cell in cells)]
        for shared in ("network", "remark"):
            if shared in headings and len(cells) > 1 and len({cell.get(shared) for cell in cells}) == 1:
                headings.remove(shared)
                same.append(cells[0][shared])
        cells = [{name: cell.get(name, "") for name in headings} for cell in cells]
        click.secho(wrapped(", ".join([title, *filter(None, same)]), "  "), bold=sys.stdout.isatty())
        print_table(cells, {name: name for name in headings})


def _fixed() -> set[str]:
    """The columns of tables that are no coordinates."""
    from leadline.analysis.summary import COLUMNS  # noqa: PLC0415
    from leadline.core.record import FIELDS  # noqa: PLC0415

    return {*FIELDS, *COLUMNS, "sample", "value", "is_warmup"}


def _any(rows: Iterable[Row], name: str) -> bool:
    """Whether any row has a value there."""
    return any(row.get(name) is not None for row in rows)


def _said(name: str, value: object) -> str:
    """A value that a whole table shares, in words; nothing where it is what one expects."""
    if value == "default" or (name, value) == ("source", "measured"):
        return ""
    if name in {"run", "source", "mpi"}:
        return "MPI unknown" if value == "unknown" else str(value)
    if name == "ranks" and isinstance(value, int):
        return counted(value, "rank")
    return f"{name}={_value(name, value)}"


def _value(name: str, value: object) -> str:
    """A coordinate in a cell."""
    from leadline.core.units import format_bytes  # noqa: PLC0415

    if value is None:
        return ""
    return format_bytes(value) if name == "bytes" and isinstance(value, int) else str(value)


def _summary_columns(row: Row) -> dict[str, str]:
    """The cells of a point: what was found, what to expect, how often it was launched, and what to know."""
    from leadline.core.formatting import format_row, network_text, next_launch  # noqa: PLC0415

    found = format_row(row)
    if row["exact"]:
        about = "; ".join(_remarks(row))
        return {"simulated": found.value, "network": network_text(row["transport"] or ""), "remark": about}
    launches, remark = str(row["launches"]), "; ".join(_remarks(row))
    if row["unit"] == "1" and row["low"] == row["high"] is not None:  # a count that every launch agrees on
        return {"median [95 %]": found.value, "launches": launches, "remark": remark}
    expected = next_launch(row)
    return {
        "median [95 %]": " ".join(filter(None, (found.value, found.interval, found.note))),
        "next launch": " ".join(filter(None, (expected.value, expected.note))),
        "launches": launches,
        "remark": remark,
    }


def _remarks(row: Row) -> Iterator[str]:
    """What somebody should know before believing a number."""
    from leadline.analysis import start_skew as starts  # noqa: PLC0415

    if row["launches"] == 1 and not row["exact"]:
        yield "one launch, so no interval"
    if row["disturbed"]:
        yield str(row["disturbance"])
    if row["oversubscribed"]:
        yield "oversubscribed"
    yield from starts.remarks(row)
    if row["reason"]:
        yield row["reason"]


def _sample_columns(row: Row) -> dict[str, str]:
    """The cells of a sample."""
    from leadline.core.units import format_quantity  # noqa: PLC0415

    return {
        "launch": str(row["launch"]),
        "sample": str(row["sample"]),
        "value": format_quantity(row["value"], row["unit"]),
        "remark": "warm-up" if row["is_warmup"] else "",
    }
