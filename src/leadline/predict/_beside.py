"""Times that were measured in a run beside what a model says of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.core.units import format_quantity

Row = Mapping[str, Any]

JUDGED = ("value", "low", "high")  # all that a predicted row has of its own
COLUMNS = {"told_measured": "measured", "told_predicted": "predicted", "told_error": "predicted is off by"}


def beside(predicted: Sequence[Row], rows: Sequence[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    """Each predicted time, s, and the row that it was made from: `names` of both, the two, and the error.

    `rows` are those of the summary, of which a predicted row differs in its time and its interval alone.
    """
    found = []
    for told in predicted:
        keys = [name for name in told if name not in JUDGED]
        measured = next(row for row in rows if all(row[name] == told[name] for name in keys))
        error = told["value"] / measured["value"] - 1
        found.append(
            {
                **{name: told[name] for name in names},
                "measured": measured["value"],
                "predicted": told["value"],
                "error": error,
                "told_measured": format_quantity(measured["value"], "s", measured["low"], measured["high"]),
                "told_predicted": format_quantity(told["value"], "s", told["low"], told["high"]),
                "told_error": f"{100 * error:+.0f} %",
            }
        )
    return found
