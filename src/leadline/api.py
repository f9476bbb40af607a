"""Leadline for programs and notebooks: what `import leadline` gives (docs/python.md shows each in use)."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from html import escape
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from leadline import machine as machine_files
from leadline.analysis import compare as comparing
from leadline.analysis import fits
from leadline.analysis.compare import THRESHOLD
from leadline.analysis.counts import count_points
from leadline.analysis.fits import Fit
from leadline.analysis.summary import COLUMNS, summarise
from leadline.core.arguments import PATH, checked
from leadline.core.errors import UsageError, suggest
from leadline.core.json_types import JsonValue
from leadline.core.record import Row, concat
from leadline.core.units import format_bytes, format_quantity, parse_fraction
from leadline.machine import Machine
from leadline.native.registry import declared
from leadline.plan import files as plan_files
from leadline.plan.model import Plan
from leadline.plan.settings import NETWORKS
from leadline.report import write
from leadline.run import session, store
from leadline.run.campaign import Progress
from leadline.targets import Target
from leadline.targets.local.machine import LocalMachine
from leadline.targets.simulated.limits import POINT_LIMIT
from leadline.targets.simulated.machine import SimulatedMachine

__all__ = ["Fits", "Plan", "Run", "Table", "compare", "fit", "load", "machines", "report", "run", "summary"]

Show = Callable[[Progress], None]
# What would do as an argument, after "is".
_RUN = "a Run, its directory, its name in runs/, or a file of records"
_NAMES = "a name or a list of names"
# The columns of a frame of fits where nothing could be fitted.
_PARAMETERS = {
    **dict.fromkeys(("run", "source", "benchmark", "metric", "mpi", "fit", "parameter"), pl.String),
    **dict.fromkeys(("value", "low", "high"), pl.Float64),
    **dict.fromkeys(("unit", "flag"), pl.String),
}
SHOWN = 60  # rows of a table that a notebook shows


@dataclass(frozen=True)
class Table:
    """An answer: `frame` has it in SI units, `shown` as a person reads it, with units and intervals."""

    frame: pl.DataFrame = field(repr=False)
    shown: Sequence[Mapping[str, str]] = field(repr=False)

    def __str__(self) -> str:
        """The columns under their headings, for a terminal."""
        rows = [list(self.shown[0]), *(list(row.values()) for row in self.shown)] if self.shown else []
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    def _repr_html_(self) -> str:
        """The same for a notebook, the first SHOWN rows of it."""
        heads = "".join(f"<th>{escape(name)}</th>" for name in (self.shown[0] if self.shown else ()))
        rows = (
            "".join(f"<td>{escape(cell)}</td>" for cell in row.values()) for row in islice(self.shown, SHOWN)
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        left = f"<p>{len(self.shown) - SHOWN} more rows</p>" if len(self.shown) > SHOWN else ""
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{left}"


@dataclass(frozen=True)
class Fits(Table):
    """Fitted models; `frame` has a row for each of their parameters."""

    models: Sequence[Fit] = field(repr=False, default=())


@dataclass(frozen=True)
class Run:
    """What a plan found: `records` has a row for each metric, point and launch, with all samples.

    docs/flow.md describes the columns; all values are in SI units.
    """

    path: Path
    records: pl.DataFrame = field(repr=False)

    @property
    def name(self) -> str:
        """The run's name: that of its directory."""
        return self.path.name

    @cached_property
    def provenance(self) -> Mapping[str, Any]:
        """Where the records come from: host or machine, MPIs and settings, commit, date."""
        return store.provenance(self.path)

    @property
    def plan(self) -> Plan:
        """The plan that was run."""
        return session.plan_of(self.path)

    def _repr_html_(self) -> str:
        """Name, target, and how many points have which status."""
        simulated = self.provenance.get("simulated")
        where = simulated["title"] if simulated else self.provenance.get("machine", {}).get("host", "")
        counts = count_points(self.records)
        told = ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "no points"
        return f"<p><b>{escape(self.name)}</b> on {escape(str(where))}: {told} (points)</p>"


@checked(run=_RUN)
def load(run: Run | str | Path) -> Run:
    """A run, from its directory, its name in `runs/`, or a Parquet file of records.

    Raises UsageError where there is none, LeadlineError where it is damaged.
    """
    if isinstance(run, Run):
        return run
    path = store.find(str(run))
    return Run(path, store.load(path))


@checked(
    plan="a Plan, or the name or file of one",
    on="the name or file of a described machine, or a Machine",
    path=PATH,
    ranks="a whole number, 1 or more",
    mapping="a text, such as 'XYZT'",
    network="the name of a network model",
    noise="True or False",
    seed="a whole number",
    point_limit="a number of seconds above 0",
    show="a function of the progress",
)
def run(
    plan: Plan | str | Path,
    on: Machine | Target | str | Path | None = None,
    path: str | Path | None = None,
    *,
    ranks: int | None = None,
    mapping: str | None = None,
    network: str = "auto",
    noise: bool = False,
    seed: int = 1,
    point_limit: float = POINT_LIMIT,
    show: Show | None = None,
) -> Run:
    """Run a plan on this machine's MPIs, or on a described machine, into the directory `path`.

    `plan` may be a shipped plan's name or a TOML file, `on` a described machine's name or file (None: this
    machine). `path` must not exist yet; default: `runs/PLAN-DATE`. `ranks`, `mapping`, `network` and `noise`
    are of described machines, as for `leadline run`, and so is `point_limit`: how long, in s, a point may
    take here before it is skipped. `show` is called with the progress; by default a
    notebook shows it. Raises UsageError for what the plan or the machine cannot mean, LeadlineError for what
    this machine lacks.
    """
    if not isinstance(plan, Plan):
        plan = Plan.load(plan_files.find(str(plan)))
    if isinstance(on, str | Path):
        on = machine_files.load(machine_files.find(on))
    seed, ranks = int(seed), None if ranks is None else int(ranks)
    if isinstance(on, Machine):
        _check_words(network, point_limit)
        on = SimulatedMachine.of(
            on, plan.path, ranks, mapping, network, noise=noise, seed=seed, point_limit=point_limit
        )
    elif described := _described_only(ranks, mapping, network, noise, point_limit):
        verb = "needs" if len(described) == 1 else "need"
        raise UsageError(
            f"{' and '.join(described)} {verb} a described machine: give its name or file as 'on'; "
            "the number of real ranks is the plan's key 'ranks'"
        )
    target = on or LocalMachine.here()
    path = Path(path) if path else store.RUNS / f"{plan.name}-{datetime.now():%Y%m%d-%H%M%S}"
    with _shown(show) as told:
        return Run(path, session.run(plan, target, path, seed=seed, show=told))


@checked(runs=_RUN, earlier=f"a list of runs, each {_RUN}")
def summary(*runs: Run | str | Path, earlier: Sequence[Run | str | Path] = ()) -> Table:
    """Each point's median over launches with its 95 % interval (columns: `leadline.analysis.summary`).

    With three `earlier` runs or more the intervals include what differs between runs.
    """
    history = [load(each).records for each in earlier]
    frame = summarise(concat(load(each).records for each in runs), history)
    rows = frame.rows(named=True)
    return Table(frame, _told(rows, [name for name in frame.columns if name not in COLUMNS], _quantity))


@checked(runs=_RUN, names=_NAMES)
def fit(*runs: Run | str | Path, names: Sequence[str] | str = ()) -> Fits:
    """Models fitted to runs: latency, bandwidth, protocol switches, LogGP; `names` chooses some of them.

    Raises UsageError for an unknown name.
    """
    models = fits.fit_all(concat(load(each).records for each in runs), _names(names) or None)
    pairs = [(model, each) for model in models for each in model.parameters]
    facts: list[dict[str, Any]] = [
        {**model.series, "fit": model.name, "parameter": each.name, "value": each.value}
        | {"low": each.low, "high": each.high, "unit": each.unit, "flag": each.flag}
        for model, each in pairs
    ]
    keys = list(dict.fromkeys(name for model in models for name in model.series))
    told = {id(row): each.told() for row, (_, each) in zip(facts, pairs, strict=True)}
    shown = _told(facts, [*keys, "fit", "parameter", "flag"], lambda row: {"value": told[id(row)]})
    frame = pl.DataFrame(facts, infer_schema_length=None) if facts else pl.DataFrame(schema=_PARAMETERS)
    return Fits(frame, shown, models)


@checked(a=_RUN, b=_RUN, threshold="a fraction, such as 0.05 or '5 %'", benchmarks=_NAMES, across=_NAMES)
def compare(
    a: Run | str | Path,
    b: Run | str | Path,
    *,
    threshold: float | str = THRESHOLD,
    benchmarks: Sequence[str] | str = (),
    across: Sequence[str] | str = (),
) -> Table:
    """Which points of `b` are slower or faster than those of `a`, the worst first.

    `threshold` is the relative change that matters, 0.05 or "5 %", `across` the keys that may differ, such as
    "mpi". The columns are those of `leadline.analysis.compare`. Raises UsageError for what cannot be
    compared.
    """
    tables = (load(a).records, load(b).records)
    frame = comparing.compare(
        *tables,
        threshold=parse_fraction(threshold) if isinstance(threshold, str) else threshold,
        benchmarks=_names(benchmarks),
        across=_names(across),
    )
    names = [name for name in frame.columns if name not in comparing.COLUMNS]
    return Table(frame, _told(frame.rows(named=True), [*names, "verdict"], _change))


@checked(runs=_RUN, path=PATH)
def report(*runs: Run | str | Path, path: str | Path = "report/report.html") -> Path:
    """Write the page about runs to a file and return its path; raises LeadlineError where it cannot be."""
    loaded = [load(each) for each in runs]
    return write(concat(each.records for each in loaded), [about(each.path) for each in loaded], Path(path))


def about(path: Path) -> dict[str, JsonValue]:
    """What a page says of the origin of a run: its provenance, its plan, and the benchmarks' questions."""
    facts = {"run": path.name, "benchmarks": declared(), **store.provenance(path)}
    return {**facts, "plan_text": store.plan_text(path)}


def machines() -> dict[str, Machine]:
    """The described machines that come with Leadline, by name."""
    return {name: machine_files.load(machine_files.find(name)) for name in machine_files.names()}


def _check_words(network: str, point_limit: float) -> None:
    """UsageError for what the value alone shows to be wrong."""
    if not point_limit > 0:
        raise UsageError(f"point_limit is a number of seconds above 0, but got {point_limit!r}")
    if network not in NETWORKS:
        raise UsageError(f"unknown network model {network!r}{suggest(network, NETWORKS)}")


def _described_only(
    ranks: int | None, mapping: str | None, network: str, noise: bool, point_limit: float
) -> list[str]:
    """The names of the options that were given and mean nothing where ranks are real."""
    given = {
        "ranks": ranks is not None,
        "mapping": mapping is not None,
        "network": network != NETWORKS[0],
        "noise": noise,
        "point_limit": point_limit != POINT_LIMIT,
    }
    return [name for name, there in given.items() if there]


def _names(words: Sequence[str] | str) -> Sequence[str]:
    """Names, of which a single one needs no list around it."""
    return [words] if isinstance(words, str) else words


def _quantity(row: Row) -> dict[str, str]:
    """A point's value with its interval, or why there is none."""
    if row["value"] is None:
        return {"value": f"{row['status']}: {row['reason']}"}
    return {"value": format_quantity(row["value"], row["unit"], row["low"], row["high"])}


def _change(row: Row) -> dict[str, str]:
    """Both sides of a comparison, and their ratio with its interval."""
    unit = row["unit"] or "1"
    sides = {
        side: format_quantity(row[side], unit, row[f"{side}_low"], row[f"{side}_high"]) for side in ("a", "b")
    }
    return {**sides, "b / a": format_quantity(row["ratio"], "1", row["low"], row["high"])}


def _told(
    rows: Sequence[Row],
    names: Iterable[str],
    quantities: Callable[[Row], dict[str, str]],
) -> list[dict[str, str]]:
    """Rows for people: benchmark and metric, what differs between the rows, and quantities."""
    always = ("benchmark", "metric", "fit", "parameter", "verdict")
    telling = [name for name in names if name in always or len({str(row.get(name)) for row in rows}) > 1]
    return [{name: _word(name, row.get(name)) for name in telling} | quantities(row) for row in rows]


def _word(name: str, value: object) -> str:
    """A cell: sizes with their unit, nothing as nothing."""
    if name == "bytes" and isinstance(value, int):
        return format_bytes(value)
    return "" if value is None else str(value)


@contextmanager
def _shown(show: Show | None) -> Iterator[Show]:
    """What shows progress: the caller's own, a line that changes in a notebook, or nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython and show is None else None
    if show or shell is None or not hasattr(shell, "kernel"):
        yield show or (lambda _: None)
        return
    handle = import_module("IPython.display").display({"text/plain": "preparing"}, raw=True, display_id=True)

    def line(progress: Progress) -> None:
        done = progress.points - progress.open
        told = f"{done} of {progress.points} points, {progress.elapsed:.0f} s: {progress.doing}"
        handle.update({"text/plain": told}, raw=True)

    yield line
    handle.update({"text/plain": "done"}, raw=True)
