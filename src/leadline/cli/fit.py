"""`leadline fit`: latency, bandwidth, protocol switches and LogGP's parameters of a run, with intervals."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._table import json_option, print_table, wrapped
from leadline.cli._types import Run, newest_run
from leadline.cli._working import working
from leadline.core.record import Row

if TYPE_CHECKING:
    from leadline.analysis.fits import Fit

COLUMNS = {"series": "series", "fit": "fit", "parameter": "parameter", "told": "value, 95 %", "flag": "flag"}


@click.command
@click.argument("runs", type=Run(), nargs=-1)
@click.option("--fit", "names", multiple=True, metavar="NAME", help="Use only this fit; repeatable.")
@json_option
def command(runs: tuple[Path, ...], names: tuple[str, ...], as_json: bool) -> None:
    """Fit models to runs: parameters with units and intervals.

    RUNS are runs (by name or directory), or .parquet files of records. Default: the newest run. The fits
    are: latency and bandwidth by least squares over all sizes (least_squares), and by the smallest and
    largest sizes (asymptotic); piecewise lines that break where the protocol switches (piecewise); LogGP's
    L, o, g and G (loggp). A parameter with an impossible value, such as a negative latency, is flagged, not
    clipped.
    """
    from leadline.analysis import fits  # noqa: PLC0415  (load numpy and polars)
    from leadline.core import record  # noqa: PLC0415  (load numpy and polars)
    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415  (load numpy and polars)

    with working("reading records") as say:
        records = record.concat(store.load(run) for run in runs or (newest_run(),))
        say("fitting")
        found = fits.fit_all(records, names or None)
    if not found:
        raise LeadlineError(
            "there is nothing to fit: fits need the benchmark pingpong at 3 sizes or more, "
            "or for LogGP one of pingpong, overhead and bandwidth"
        )
    rows = [row for fit in found for row in _rows(fit)]
    if as_json:
        print_table(rows, {}, as_json=True)
        return
    if told := _for_people(found):
        print_table(told, COLUMNS)
    for line in _notes(found):
        click.echo(wrapped(line))
    if all(fit.name == "loggp" for fit in found) and set(names) != {"loggp"}:
        click.echo(wrapped("The fits of pingpong need it at 3 sizes or more, which this run does not have."))


def _rows(fit: "Fit") -> list[Row]:
    """One row a parameter, in SI units; a fit without any is one row that has its notes."""
    common = {"fit": fit.name, **fit.series}
    about = {"criterion": fit.criterion, "holdout": fit.holdout, "notes": fit.notes}
    empty: dict[str, object] = {
        "parameter": None,
        "value": None,
        "low": None,
        "high": None,
        "unit": None,
        "flag": None,
    }
    found: list[Row] = [
        {"parameter": p.name, "value": p.value, "low": p.low, "high": p.high, "unit": p.unit, "flag": p.flag}
        for p in fit.parameters
    ]
    return [{**common, **each, **about} for each in found or [empty]]


def _series(found: Sequence["Fit"]) -> list[str]:
    """What each fit is about: the keys in which they differ."""
    from leadline.cli._series import differing, words  # noqa: PLC0415

    series = [fit.series for fit in found]
    names = list(dict.fromkeys(name for each in series for name in each))
    telling = ["mpi", *(name for name in differing(series, names) if name != "mpi")]
    return [words(each, telling) for each in series]


def _for_people(found: Sequence["Fit"]) -> list[Row]:
    """The rows with quantities in words."""
    return [
        {"series": series, "fit": fit.name, "parameter": each.name, "told": each.told(), "flag": each.flag}
        for series, fit in zip(_series(found), found, strict=True)
        for each in fit.parameters
    ]


def _notes(found: Sequence["Fit"]) -> list[str]:
    """A line for each fit: how far it misses, and what must be said of it."""
    from leadline.analysis.noise import percent  # noqa: PLC0415

    lines = []
    for series, fit in zip(_series(found), found, strict=True):
        said = list(fit.notes)
        if fit.holdout is not None:
            said.insert(0, f"median error at sizes left out of the fit: {percent(fit.holdout)}")
        if said:
            lines.append(f"{fit.name}, {series}: {'; '.join(said)}.")
    return lines
