"""What `leadline run --on MACHINE --uncertainty` prints: answers' intervals and their causes."""

from typing import TYPE_CHECKING

import click

from leadline.cli._series import differing, words
from leadline.cli._table import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leadline.run.uncertainty import Effect, Uncertainty

COLUMNS = {"point": "point", "answer": "simulated", "effects": "moved by (constant's interval)"}
MOST = 2  # constants that a row names


def print_uncertainty(found: "Sequence[Uncertainty]", as_json: bool) -> None:
    """A row for each answer; as JSON a row for each answer and constant, in SI units."""
    from leadline.core.units import format_quantity  # noqa: PLC0415

    if as_json:
        rows = [
            {
                **each.point,
                **{"unit": each.unit, "value": each.value, "low": each.low, "high": each.high},
                **{"constant": effect.constant.key, "constant_unit": effect.constant.unit},
                **{"derivative": effect.derivative, "at_low": effect.at_low, "at_high": effect.at_high},
            }
            for each in found
            for effect in each.effects
        ]
        print_table(rows, {}, as_json=True)
        return
    points = [each.point for each in found]
    telling = ["benchmark", "metric", *differing(points, [n for n in points[0] if n not in _NAMED])]
    print_table(
        [
            {
                "point": words(each.point, telling),
                "answer": format_quantity(each.value, each.unit, each.low, each.high),
                "effects": "; ".join(_effect(effect, each) for effect in each.effects[:MOST]) or "none",
            }
            for each in found
        ],
        COLUMNS,
    )
    click.echo(
        "\nIntervals: each constant at both ends of its interval, the effects of all added as squares. "
        "--json lists every derivative."
    )


_NAMED = ("benchmark", "metric")


def _effect(effect: "Effect", answer: "Uncertainty") -> str:
    """How far a constant moves an answer: "links.base -2.1 to +3.0 %"."""
    shares = [at / answer.value - 1 if answer.value else 0.0 for at in (effect.at_low, effect.at_high)]
    low, high = (100 * share for share in shares)
    return f"{effect.constant.key} {low:+.2g} to {high:+.2g} %"
