"""Speed and trust against their targets: what `make bench` runs.

    python bench/bench.py [--json] [PART]... [RUN]...

A part is a file of `parts/`, whose `measure` gives rows; without a name all of them are measured. Run
directories are judged for their repeatability in place of new runs. A target that is missed is told as missed
and makes the exit code 1. Nothing here is a test: it says what this machine gave, now.
"""

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

from found import COLUMNS, MISSED, Found
from leadline.cli._table import json_option, print_table
from leadline.core.errors import LeadlineError, UsageError, suggest

PARTS = tuple(sorted(path.stem for path in (Path(__file__).parent / "parts").glob("[!_]*.py")))


def found(names: list[str], runs: list[Path]) -> Iterator[Found]:
    """The rows of the parts named, in order; what a part cannot measure is told, and the others go on."""
    for name in names:
        arguments = [runs] if runs and name == "repeatability" else []
        try:
            yield from import_module(f"parts.{name}").measure(*arguments)
        except LeadlineError as problem:
            never = f"{name}: {problem}"
            yield Found(never, float("nan"), "1", None, "", lambda _: False)


def asked(words: tuple[str, ...]) -> tuple[list[str], list[Path]]:
    """Names of parts and paths of runs; runs alone ask for their repeatability. UsageError for neither."""
    runs = [Path(word) for word in words if word not in PARTS]
    for run in runs:
        if not run.exists():
            raise UsageError(f"there is no part and no run {str(run)!r}{suggest(str(run), PARTS)}")
    names = [part for part in PARTS if part in words]
    return names or (["repeatability"] if runs else list(PARTS)), runs


@click.command()
@click.argument("words", metavar="[PART]... [RUN]...", nargs=-1)
@json_option
def main(words: tuple[str, ...], as_json: bool) -> None:
    """Measure speed and trust against their targets (see docs/benchmarks.md)."""
    try:
        names, runs = asked(words)
    except UsageError as problem:
        raise click.UsageError(str(problem)) from problem
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"load of this machine at the beginning (1, 5, 15 min): {load}", file=sys.stderr)
    rows = []
    for each in found(names, runs):
        rows.append(each.row())
        print(f"{rows[-1]['outcome']}: {each.what}: {rows[-1]['found']}", file=sys.stderr, flush=True)
    print_table(rows, COLUMNS, as_json)
    sys.exit(any(row["outcome"] == MISSED for row in rows))


if __name__ == "__main__":
    main()
