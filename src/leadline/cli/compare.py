"""`leadline compare`: is B slower than A, point by point; for a person, and for a nightly check."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._table import json_option, print_table
from leadline.cli._types import Run
from leadline.cli._working import working

if TYPE_CHECKING:
    import polars as pl

COLUMNS = {
    "verdict": "verdict",
    "point": "point",
    "a": "A",
    "b": "B",
    "change": "change, 95 %",
    "detectable": "detectable",
    "reason": "reason",
}


@click.command
@click.argument("a", type=Run())
@click.argument("b", type=Run())
@click.option(
    "--threshold",
    default="5 %",
    show_default=True,
    help="The change that matters: a regression lies wholly beyond it.",
)
@click.option("--benchmark", "benchmarks", multiple=True, help="Only this benchmark; may be given again.")
@click.option(
    "--across",
    multiple=True,
    metavar="KEY",
    help="A key in which A and B may differ, such as mpi or source; may be given again.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    *,
    a: Path,
    b: Path,
    threshold: str,
    benchmarks: tuple[str, ...],
    across: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare run B with run A, and fail when B is worse.

    A and B are runs (by name or directory) or record files. Every point that both have gets the change of its
    typical value with its interval, which launches decide: four on either side are the fewest. "detectable"
    is the smallest change that would have been found four times in five.

    The exit code is 1 when a point is slower beyond the threshold, or ran in A and failed in B; 0 when none
    is; 2 for a request that cannot be understood.
    """
    from leadline.analysis import compare  # noqa: PLC0415  (load numpy and polars)
    from leadline.core import units  # noqa: PLC0415  (load numpy and polars)
    from leadline.run import store  # noqa: PLC0415  (load numpy and polars)

    limit = units.parse_fraction(threshold)
    with working("reading records") as say:
        records = (store.load(a), store.load(b))
        say("comparing")
        table = compare.compare(*records, threshold=limit, benchmarks=benchmarks, across=across)
    _refuse_nothing(table, *records)
    if as_json:
        print_table(table.to_dicts(), {}, as_json=True)
    else:
        print_table(_for_people(table), COLUMNS)
        for sentence in _sentences(table, limit, *records):
            click.echo(sentence)
    if compare.is_worse(table):
        ctx.exit(1)


def _refuse_nothing(table: "pl.DataFrame", a: "pl.DataFrame", b: "pl.DataFrame") -> None:
    """Raises LeadlineError when no point is in both: a check that compares nothing must not pass."""
    from leadline.analysis import compare  # noqa: PLC0415
    from leadline.core.errors import LeadlineError  # noqa: PLC0415

    alone = (compare.ONLY_IN_A, compare.ONLY_IN_B)
    if not table.get_column("verdict").is_in(alone).all():
        return
    keys = compare.unmatched_keys(a, b)
    if not keys:
        raise LeadlineError("A and B have no point in common, so there is nothing to compare")
    values = "; ".join(
        f"{key} is {' and '.join(_values(a, key))} in A, {' and '.join(_values(b, key))} in B" for key in keys
    )
    options = " ".join(f"--across {key}" for key in keys if key not in ("benchmark", "metric"))
    hint = f"; {options} compares them all the same" if options else ""
    raise LeadlineError(f"A and B have no point in common: {values}{hint}")


def _values(records: "pl.DataFrame", key: str) -> list[str]:
    """What a key is in some records, in words."""
    return [str(value) for value in records.get_column(key).drop_nulls().unique().sort()] or ["nothing"]


def _for_people(table: "pl.DataFrame") -> list[dict[str, Any]]:
    """The rows with quantities in words."""
    from leadline.analysis.compare import COLUMNS as FIGURES  # noqa: PLC0415
    from leadline.analysis.compare import EXACT  # noqa: PLC0415
    from leadline.analysis.noise import percent  # noqa: PLC0415
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
        told["detectable"] = percent(row["detectable"]) if row["detectable"] is not None else ""
        shown.append({"verdict": row["verdict"], "reason": row["reason"]} | quantities | told)
    return shown


def change(ratio: float | None, low: float | None, high: float | None, exact: bool = False) -> str:
    """A ratio as a change in per cent, digits as its interval allows: "+12 % [+8, +15]"; without one in
    brackets, unless it is exact.
    """
    if ratio is None:
        return ""
    if exact:
        return f"{100 * (ratio - 1) + 0.0:+.2g} %"
    if low is None or high is None:
        return f"({100 * (ratio - 1):+.0f} %)"
    half = 50 * (high - low)
    digits = 0 if half >= 1 else 1 if half >= 0.1 else 2
    middle, least, most = (
        f"{round(100 * (each - 1), digits) + 0.0:+.{digits}f}" for each in (ratio, low, high)
    )
    return f"{middle} % [{least}, {most}]"


def _sentences(table: "pl.DataFrame", limit: float, a: "pl.DataFrame", b: "pl.DataFrame") -> list[str]:
    """The outcome in a line, and what disturbed either run."""
    from leadline.analysis import compare, noise  # noqa: PLC0415
    from leadline.core.record import SIMULATED  # noqa: PLC0415

    counts = dict(table.get_column("verdict").value_counts().iter_rows())
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in compare.VERDICTS if verdict in counts)
    said = [f"{table.height} points at a threshold of {noise.percent(limit)}: {listed}."]
    detectable = table.get_column("detectable").drop_nulls()
    if len(detectable):
        middle = noise.percent(float(detectable.to_numpy().mean()))
        said.append(
            f"The smallest change that would be found is {middle} (mean over {len(detectable)} points)."
        )
    for name, records in (("A", a), ("B", b)):
        if (records.get_column("source") == SIMULATED).all():
            continue  # there is no machine that could be disturbed
        verdict = noise.judge(records)
        if verdict.level != "quiet":
            said.append(f"{name}: {verdict.level}. {' '.join(verdict.sentences)}")
    return said
