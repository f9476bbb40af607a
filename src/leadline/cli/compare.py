"""`leadline compare`: is B slower than A, point by point; for a person, and for a nightly check."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._options import Parsed, where_option
from leadline.cli._table import json_option, print_table, wrapped
from leadline.cli._types import Run
from leadline.cli._working import working
from leadline.core.record import Row
from leadline.core.units import parse_fraction

if TYPE_CHECKING:
    import polars as pl

BETWEEN = "vs"  # stands between the runs of A and those of B


class RunOrWord(Run):
    """A run, or the word between both sides."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """The word stays; anything else is a run."""
        return value if value == BETWEEN else super().convert(value, parameter, context)


COLUMNS = {
    "verdict": "verdict",
    "point": "point",
    "a": "A",
    "b": "B",
    "change": "change, 95 %",
    "reason": "reason",
}
OTHERWISE = 1.05  # times the ratio of means, from which that of medians is told beside it
TIMES = 2.0  # from this ratio on, "3.4 times" says more than "+240 %"
# Of another machine it is no regression.
OF_MACHINES = {
    "regression": "slower",
    "improvement": "faster",
    "suspected regression": "suspected slower",
    "suspected improvement": "suspected faster",
    "unchanged": "alike",
}


# Keys of which A and B are two configurations, and neither the one before.
CONFIGURATION = {"machine", "partition", "mapping"}


@click.command
@click.argument("runs", metavar="A... [vs] [B...]", nargs=-1, required=True, type=RunOrWord())
@click.option(
    "--threshold",
    type=Parsed(parse_fraction),
    default="5 %",
    show_default=True,
    help="A certain slow-down counts as a regression only if its estimate is larger than this: per cent "
    "or a fraction, such as '10 %' or 0.1.",
)
@click.option("--benchmark", "-b", "benchmarks", multiple=True, help="Print only this benchmark; repeatable.")
@where_option("Print only points with this value, such as mpi=openmpi or bytes=8.")
@click.option(
    "--across",
    multiple=True,
    metavar="KEY",
    help="A key in which A and B differ, such as machine, mpi or placement; repeatable. machine stands for "
    "all that differs with it, such as partition and mapping, which is printed.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    *,
    runs: tuple[Path | str, ...],
    threshold: float,
    benchmarks: tuple[str, ...],
    where: tuple[str, ...],
    across: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare run B with run A, and fail if B is slower.

    A and B are runs (by name or directory), or .parquet files of records. Several runs on a side, with "vs"
    between the sides, show how much runs differ from day to day. With one run on each side that is
    estimated from earlier runs of the same plan and host in A's directory, if there are three or more. One
    run alone is compared
    with itself across the two values of --across, such as its two MPIs, launch by launch.

    For each common point the table lists the medians over launches, and the change: the ratio of their
    trimmed geometric means with its 95 % interval, which needs at least four launches on each side. Where
    the ratio of the medians contradicts it, the row says so. The detectable change is the smallest that
    would have been found with a probability of 80 %: in a row for an undecided point, below for all of
    them. Where A and B have one version of an MPI each, points are matched although the versions differ.
    All points of both runs show how much launches and days differ, so the interval of a point is the same
    whichever points are printed. Verdicts are corrected for the number of points that are printed.

    The verdict on a point is regression, improvement, unchanged, or undecided. A regression is certain where
    the interval of the change, corrected for the number of points, excludes no change, and the change is
    larger than the threshold; it is "suspected" where day-to-day variation, or other work on the machine, may
    have caused it, and the exit code is 0 then. Across machines, partitions or mappings, and for one run
    alone, two configurations are compared: the verdicts are slower, faster, alike, or undecided, and no point
    fails the comparison.

    A machine may be in another state as a whole, such as a virtual one whose host is busy by now: two runs
    hours apart cannot tell that from a regression; several runs on each side can.

    Exit codes: 0, no certain regression; 1, a point is slower beyond the threshold, or failed in B only; 2,
    nothing could be compared, or the request was not understood.
    """
    from leadline.analysis import compare  # noqa: PLC0415  (load numpy and polars)
    from leadline.analysis.alignment import MACHINE, OF_MACHINE, other_cadences  # noqa: PLC0415
    from leadline.core.errors import LeadlineError, UsageError  # noqa: PLC0415

    with working("reading records") as say:
        try:
            points = [each for each in where if not _of_side(each, across)]
            sides = _sides(runs, across, [each for each in where if each not in points])
        except LeadlineError as problem:  # its exit code says that a point is slower, which this is not
            raise UsageError(str(problem)) from None
        earlier = _before(runs)
        say("comparing")
        found = compare.study(
            *sides, threshold=threshold, benchmarks=benchmarks, across=across, earlier=earlier, where=points
        )
    table, (a, b) = found.table, found.sides
    _refuse_unmatched(table, a, b)
    machines = not CONFIGURATION.isdisjoint(across) or len(runs) == 1
    keys = dict.fromkeys([*across, *(OF_MACHINE if MACHINE in across else ())])
    sides_of = {
        key: ("; ".join(_values(a, key)), "; ".join(_values(b, key)))
        for key in keys
        if key in a.columns and key in b.columns and _values(a, key) != _values(b, key)
    }
    if as_json:
        differing = {
            f"{key}_{side}": value[i] for key, value in sides_of.items() for i, side in enumerate("ab")
        }
        rows = [
            {**row, **differing, "verdict": _verdict(row["verdict"], machines)} for row in table.to_dicts()
        ]
        print_table(rows, {}, as_json=True)
    else:
        print_table(_for_people(table, machines), COLUMNS)
        of_each = [f"{key} is {one} in A, {other} in B" for key, (one, other) in sides_of.items()]
        known = [*of_each, *found.notes, *other_cadences(table)]
        notes = [*_same(runs), *(f"{note}." for note in known), *found.sentences()]
        for sentence in [*notes, *_sentences(table, threshold, (a, b), machines)]:
            click.echo(wrapped(sentence))
    if compare.is_worse(table) and not machines:
        ctx.exit(1)
    _refuse_undecidable(table)


def _same(runs: Sequence[Path | str]) -> Iterator[str]:
    """A sentence where runs are on both sides."""
    cut = runs.index(BETWEEN) if BETWEEN in runs else 1
    a, b = ({Path(run).resolve() for run in side if run != BETWEEN} for side in (runs[:cut], runs[cut:]))
    if a == b:
        yield "A and B are the same: nothing can have changed."
    elif both := sorted(path.name for path in a & b):
        verb = "is" if len(both) == 1 else "are"
        yield f"{' and '.join(both)} {verb} on both sides, so A and B differ less than two runs do."


def _of_side(condition: str, across: Sequence[str]) -> bool:
    """Whether a condition says what is on a side, such as some of its launches, rather than which points."""
    from leadline.analysis.alignment import MACHINE, OF_MACHINE  # noqa: PLC0415
    from leadline.core.record import FIELDS, KEYS  # noqa: PLC0415

    key = condition.partition("=")[0].strip()
    differing = (*across, *(OF_MACHINE if MACHINE in across else ()))
    return key in differing or key == "run" or (key in FIELDS and key not in KEYS)


def _sides(
    runs: Sequence[Path | str], across: Sequence[str], where: Sequence[str]
) -> "tuple[list[pl.DataFrame], list[pl.DataFrame]]":
    """The record tables of A and of B; UsageError where it is not clear which run is on which side."""
    from leadline.analysis.compare import values_of  # noqa: PLC0415
    from leadline.analysis.select import matching  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415

    def load(run: Path | str) -> "pl.DataFrame":
        return matching(store.load(Path(run)), where)

    named = [run for run in runs if run != BETWEEN]
    if len(runs) == 1 and len(across) == 1:
        first, second = values_of(load(named[0]), across[0])
        return [first], [second]
    if BETWEEN not in runs and len(runs) != 2:
        raise click.UsageError(
            f"give two runs A and B, or several on each side as 'A1 A2 {BETWEEN} B1 B2', or one run with "
            f"--across KEY, but got {' '.join(map(str, runs)) or 'none'}"
        )
    cut = runs.index(BETWEEN) if BETWEEN in runs else 1
    a, b = named[:cut], named[cut:]
    if not a or not b or len(named) < len(runs) - 1:
        raise click.UsageError(f"give '{BETWEEN}' once, with one run or more on each side of it")
    return [load(run) for run in a], [load(run) for run in b]


def _before(runs: Sequence[Path | str]) -> "list[pl.DataFrame]":
    """The records of the runs before A that show how much runs differ; none where sides do so themselves."""
    from leadline.run import store  # noqa: PLC0415

    single = [Path(run) for run in runs if run != BETWEEN]
    return store.load_earlier(single[0]) if len(single) == 2 else []


def _refuse_unmatched(table: "pl.DataFrame", a: "pl.DataFrame", b: "pl.DataFrame") -> None:
    """Raises UsageError when no point is in both: a check that compares nothing must not pass."""
    from leadline.analysis import changes, compare  # noqa: PLC0415
    from leadline.analysis.alignment import MACHINE, OF_MACHINE, other_cadences  # noqa: PLC0415
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.core.record import SIMULATED  # noqa: PLC0415

    if empty := [name for name, side in (("A", a), ("B", b)) if side.is_empty()]:
        raise UsageError(f"{' and '.join(empty)}: no record fits all of --benchmark and --where")
    alone = (changes.ONLY_IN_A, changes.ONLY_IN_B)
    if not table.get_column("verdict").is_in(alone).all():
        return
    keys = compare.unmatched_keys(a, b)
    if not keys and (cadences := other_cadences(table)):
        raise UsageError(f"A and B have no point in common: {'; '.join(cadences)}")
    if not keys:
        near = compare.nearest(a, b) or compare.nearest(b, a)
        raise UsageError(
            f"A and B have no point in common{f'; the nearest differ in {near}' if near else ''}"
        )
    values = "; ".join(
        f"{key} is {' and '.join(_values(a, key))} in A, {' and '.join(_values(b, key))} in B" for key in keys
    )
    across = [key for key in keys if key not in ("benchmark", "metric")]
    if "source" in keys or {SIMULATED} == {*a["source"], *b["source"]}:  # then machines are what differs
        several = len(across) > 1
        across = list(dict.fromkeys(MACHINE if key in OF_MACHINE and several else key for key in across))
    options = " ".join(f"--across {key}" for key in across)
    hint = f"; {options} compares them nevertheless" if options else ""
    if "source" in keys and (SIMULATED in {*a["source"]}) != (SIMULATED in {*b["source"]}):
        hint = "; 'leadline validate MEASURED SIMULATED' compares a simulated run with a measured one"
    raise UsageError(f"A and B have no point in common: {values}{hint}")


def _refuse_undecidable(table: "pl.DataFrame") -> None:
    """Raises UsageError when nothing can be told of any point: such a check must not pass either."""
    from leadline.analysis import changes  # noqa: PLC0415
    from leadline.core.errors import UsageError  # noqa: PLC0415

    both = table.filter(~table.get_column("verdict").is_in((changes.ONLY_IN_A, changes.ONLY_IN_B)))
    reasons = both.get_column("reason").drop_nulls().unique().sort().to_list()
    if (both.get_column("verdict") == changes.UNDECIDED).all() and both.get_column("low").is_null().all():
        raise UsageError(f"no point could be compared: {'; '.join(reasons[:3])}")
    if (
        all(reason.startswith(changes.BUSY) for reason in reasons)
        and not both.get_column("reason").has_nulls()
    ):
        raise UsageError(
            "no verdict is possible: other work ran during many launches of every point; measure again on a "
            "quiet machine"
        )


def _values(records: "pl.DataFrame", key: str) -> list[str]:
    """What a key is in some records, in words."""
    return [str(value) for value in records.get_column(key).drop_nulls().unique().sort()] or ["not set"]


def _for_people(table: "pl.DataFrame", machines: bool) -> list[Row]:
    """The rows with quantities in words."""
    from leadline.analysis.changes import EXACT, UNDECIDED  # noqa: PLC0415
    from leadline.analysis.compare import COLUMNS as FIGURES  # noqa: PLC0415
    from leadline.analysis.noise import WILD, of_value  # noqa: PLC0415
    from leadline.cli._series import differing, words  # noqa: PLC0415
    from leadline.core.units import format_quantity  # noqa: PLC0415

    rows = table.to_dicts()
    named = [name for name in table.columns if name not in FIGURES]
    telling = [
        "benchmark",
        "metric",
        *(n for n in differing(rows, named) if n not in ("benchmark", "metric")),
    ]
    shown = []
    for row in rows:
        quantities = {
            side: format_quantity(row[side], row["unit"] or "1", row[f"{side}_low"], row[f"{side}_high"])
            for side in ("a", "b")
        }
        exact = row["reason"] == EXACT
        told = {
            "point": words(row, telling),
            "change": change(row["ratio"], row["low"], row["high"], exact),
        }
        verdict = _verdict(row["verdict"], machines)
        reason, apart = row["reason"], _apart(row)
        if row["verdict"] == UNDECIDED and row["detectable"] is not None:
            reason = (
                f"a change of {of_value(row['detectable'])} would have been found"
                if row["detectable"] <= WILD
                else "too noisy for any change to be found"
            )
        reason = "; ".join(filter(None, (apart, reason)))
        shown.append({"verdict": verdict, "reason": reason} | quantities | told)
    return shown


def _apart(row: Row) -> str | None:
    """What is to be said where medians differ otherwise than means, as where launches lie in two groups."""
    if row["low"] is None or not row["a"] or not row["b"]:
        return None
    medians = row["b"] / row["a"]
    far = max(medians / row["ratio"], row["ratio"] / medians) > OTHERWISE
    return f"the medians differ by {change(medians, None, None, exact=True)}" if far else None


def change(ratio: float | None, low: float | None, high: float | None, exact: bool = False) -> str:
    """A ratio as a change, with the digits that its interval supports: "+12 % [+8, +15]", "3.4 times [3.1,
    3.7]".

    Without an interval it is in brackets, unless it is exact.
    """
    if ratio is None:
        return ""
    times = ratio > TIMES

    def scaled(each: float) -> float:
        return each if times else 100 * (each - 1)

    def text(each: float, digits: int) -> str:
        return f"{round(scaled(each), digits) + 0.0:{'' if times else '+'}.{digits}f}"

    unit = "times" if times else "%"
    if low is not None and high is not None:
        half = (scaled(high) - scaled(low)) / 2
        digits = 0 if half >= 1 else 1 if half >= 0.1 else 2
        return f"{text(ratio, digits)} {unit} [{text(low, digits)}, {text(high, digits)}]"
    size = abs(scaled(ratio))
    found = text(ratio, 0 if size >= 10 else 1 if size >= 1 else 2)
    found = found.rstrip("0").rstrip(".") if "." in found else found
    return f"{found} {unit}" if exact else f"({found} {unit})"


def _verdict(verdict: str, machines: bool) -> str:
    """The verdict's name; two configurations are slower or faster, which is no regression."""
    return OF_MACHINES.get(verdict, verdict) if machines else verdict


def _counted(count: int, verdict: str) -> str:
    """How many points have a verdict."""
    plural = "s" if count != 1 and verdict.endswith(("regression", "improvement")) else ""
    return f"{count} {verdict}{plural}"


def _sentences(
    table: "pl.DataFrame", limit: float, records: "tuple[pl.DataFrame, pl.DataFrame]", machines: bool
) -> list[str]:
    """The outcome in a line, and how noisy either run was."""
    from leadline.analysis import compare, noise  # noqa: PLC0415
    from leadline.analysis.counts import point_names  # noqa: PLC0415
    from leadline.core.record import SIMULATED  # noqa: PLC0415

    counts = dict(table.get_column("verdict").value_counts().iter_rows())
    listed = ", ".join(
        _counted(counts[verdict], _verdict(verdict, machines))
        for verdict in compare.VERDICTS
        if verdict in counts
    )
    points = table.select(point_names(table, compare.COLUMNS)).n_unique()
    values = "" if table.height == points else f" with {table.height} values"
    said = [
        f"{points} point{'' if points == 1 else 's'}{values}, threshold {noise.percent(limit)}: {listed}."
    ]
    detectable = table.get_column("detectable").drop_nulls()
    if len(detectable):
        middle = median(detectable)  # a few have no bound to speak of
        of = f" (median of {len(detectable)} values)" if len(detectable) > 1 else ""
        said.append(
            f"Detectable change: {noise.of_value(middle)}{of}."
            if middle <= noise.WILD
            else f"These launches scatter too much for any change to be detected{of}."
        )
    for name, each in zip("AB", records, strict=True):
        if (each.get_column("source") == SIMULATED).all():
            continue  # there is no machine that could be noisy
        verdict = noise.judge(each)
        if verdict.level != "quiet":
            said.append(f"{name}: {noise.IN_WORDS[verdict.level]}. {' '.join(verdict.sentences)}")
    return said
