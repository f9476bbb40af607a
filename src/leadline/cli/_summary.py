"""What `leadline show RUN` prints first: the machine, how quiet it was, headlines, and what was not run."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._table import print_table, wrapped
from leadline.cli._working import working

if TYPE_CHECKING:
    import polars as pl

    from leadline.report.costs import Cost
    from leadline.report.digest import Lost

MOST_SERIES, MOST_REASONS = 8, 6  # what fits a screen
BRIEF = ("half-bandwidth size", "next launch")  # facts that the report has and this screen has no room for


def print_summary(records: "pl.DataFrame", path: Path, earlier: "Sequence[pl.DataFrame]") -> None:
    """Print the summary of a run in about 25 lines."""
    from leadline.report.digest import digest  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415

    with working("fitting"):
        found = digest(records, [{"run": path.name, **store.provenance(path)}], earlier)
    click.secho(found.title, bold=sys.stdout.isatty())
    for line in found.subtitles:
        click.echo(wrapped(line))
    for each in found.quietness:
        click.echo(wrapped(" ".join([each.says, *each.sentences[:2]])))
    if found.costs:
        click.echo()
        _headlines(found.costs)
    click.echo()
    done = "simulated" if found.exact else "measured"
    ran = found.counts["ok"]
    counts = [f"{ran} point{'' if ran == 1 else 's'} {done}"]
    counts += [f"{found.disturbed} of them noisy"] if found.disturbed else []
    counts += [f"{count} {state}" for state, count in found.counts.items() if state != "ok" and count]
    click.echo(f"{', '.join(counts)}.")
    print_lost(found.lost, MOST_REASONS)
    click.echo(wrapped(f"Benchmarks: {', '.join(found.benchmarks)}.", "  "))
    name = found.benchmarks[0]
    click.echo(wrapped(f"'leadline show {path} -b {name}' prints the values of a benchmark."))


def _headlines(costs: "list[Cost]") -> None:
    """A table with a row for each series: what its card of the report says first."""
    rows, names = [], {}
    for cost in costs[:MOST_SERIES]:
        row = {"series": cost.name}
        for fact in cost.facts:
            if fact.name not in BRIEF:
                told = [" ".join(filter(None, (each.value, each.interval, each.note))) for each in fact.told]
                row[fact.name] = ", ".join(told)
                names[fact.name] = fact.name
        rows.append(row | {"remark": cost.mark})
    marked = {"remark": "remark"} if any(cost.mark for cost in costs[:MOST_SERIES]) else {}
    print_table(rows, {"series": "", **names, **marked})
    if len(costs) > MOST_SERIES:
        click.echo(f"and {len(costs) - MOST_SERIES} more series; see 'leadline report'")


def print_lost(lost: "Iterable[Lost]", most: int | None = None) -> None:
    """A line for each reason for which points were not measured, at most so many."""
    found = list(lost)
    for each in found[:most]:
        about = ", ".join(each.benchmarks[:3]) + (", ..." if len(each.benchmarks) > 3 else "")
        click.echo(wrapped(f"  {each.points} {each.state}: {each.reason.rstrip('.')} ({about})", "    "))
    if most is not None and len(found) > most:
        points = sum(each.points for each in found[most:])
        rest = len(found) - most
        click.echo(f"  {points} for {rest} other reason{'s' if rest > 1 else ''}; --skipped lists them")
