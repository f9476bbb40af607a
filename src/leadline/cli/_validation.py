"""How `leadline validate` and `leadline run --against` print: by points, by benchmarks, and as a whole."""

from typing import TYPE_CHECKING

import click

from leadline.cli._table import print_table, tell
from leadline.core.record import Row

if TYPE_CHECKING:
    import polars as pl

POINTS = {
    "point": "point",
    "measured": "measured, 95 %",
    "simulated": "simulated",
    "ratio": "ratio, 95 %",
    "verdict": "verdict",
}
PATTERNS = {
    "pattern": "benchmark",
    "points": "points",
    "median_off": "median error",
    "most_off": "largest error",
    "bias": "bias",
    "near": "within 25 %",
    "within": "within interval",
}


def print_validation(measured: "pl.DataFrame", simulated: "pl.DataFrame", as_json: bool = False) -> None:
    """Print how far `simulated` is from `measured`; as JSON a list of points, patterns and the whole.

    Raises LeadlineError where no point is in both: a comparison of nothing must not pass.
    """
    from leadline.analysis import validate  # noqa: PLC0415  (loads numpy and polars)
    from leadline.core.errors import LeadlineError  # noqa: PLC0415

    table = validate.against(measured, simulated)
    whole = validate.overall(table)
    if not whole["points"]:
        raise LeadlineError(
            "the measured and the simulated run have no point in common; run the same plan for both, "
            "with the same ranks and placements"
        )
    patterns = validate.patterns(table)
    if as_json:
        rows = [{"of": "point", **row} for row in table.iter_rows(named=True)]
        rows += [{"of": "pattern", **row} for row in patterns]
        print_table([*rows, {"of": "all", **whole}], {}, as_json=True)
        return
    print_table(_points(table), POINTS)
    click.echo()
    print_table([_pattern(row) for row in patterns], PATTERNS)
    click.echo()
    tell(_sentence(whole, table), indent="")


def _points(table: "pl.DataFrame") -> list[Row]:
    """The points that both have, in words."""
    from leadline.analysis.validate import COLUMNS  # noqa: PLC0415
    from leadline.cli._series import differing, words  # noqa: PLC0415
    from leadline.core.units import format_quantity  # noqa: PLC0415

    rows = [row for row in table.iter_rows(named=True) if row["ratio"] is not None]
    named = [name for name in table.columns if name not in COLUMNS and name not in ("benchmark", "metric")]
    telling = ["benchmark", "metric", *differing(rows, named)]
    return [
        {
            "point": words(row, telling),
            "measured": format_quantity(
                row["measured"], row["unit"], row["measured_low"], row["measured_high"]
            ),
            "simulated": format_quantity(row["simulated"], row["unit"]),
            "ratio": _ratio(row),
            "verdict": _verdict(row),
        }
        for row in rows
    ]


def _ratio(row: Row) -> str:
    """A ratio with its interval."""
    from leadline.core.formatting import ratio_text  # noqa: PLC0415

    return ratio_text(row["ratio"], row["low"], row["high"])


def _verdict(row: Row) -> str:
    """The verdict with how far it is off."""
    from leadline.analysis.validate import OFF  # noqa: PLC0415

    if row["verdict"] != OFF:
        return str(row["verdict"])
    return f"off by {100 * (row['ratio'] - 1):+.0f} %"


def _pattern(row: Row) -> Row:
    """A pattern's figures in words."""
    names = ("median_off", "most_off", "near", "within")
    shares = {name: "" if row[name] is None else f"{100 * row[name]:.0f} %" for name in names}
    side = f"{100 * row['bias']:+.0f} %"
    return {"pattern": f"{row['benchmark']}, {row['metric']}", "points": row["points"], "bias": side} | shares


def _sentence(whole: Row, table: "pl.DataFrame") -> str:
    """The whole in a line, and what was on one side only."""
    from leadline.analysis.validate import NOT_MEASURED, NOT_SIMULATED  # noqa: PLC0415

    said = (
        f"{whole['points']} point{'' if whole['points'] == 1 else 's'}: median error "
        f"{100 * whole['median_off']:.0f} %, {100 * whole['near']:.0f} % of points within 25 %, "
    )
    within = whole["within"]
    said += "none has an interval" if within is None else f"{100 * within:.0f} % within the interval"
    for verdict in (NOT_SIMULATED, NOT_MEASURED):
        if count := table.get_column("verdict").to_list().count(verdict):
            said += f"; {count} {verdict}"
    return f"{said}."
