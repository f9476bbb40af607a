"""Times that were measured in a run beside what a model says of them."""

from collections.abc import Sequence

from leadline.core.formatting import Column
from leadline.core.record import Row

JUDGED = ("value", "low", "high")  # all that a predicted row has of its own
COLUMNS = {
    "measured": Column("measured", "s", ("measured_low", "measured_high")),
    "predicted": Column("predicted", "s", ("predicted_low", "predicted_high")),
    "error": Column("predicted is off by", "%", digits=0, worth=0.01, sign="+"),
}


def beside(predicted: Sequence[Row], rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
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
                "measured_low": measured["low"],
                "measured_high": measured["high"],
                "predicted": told["value"],
                "predicted_low": told["low"],
                "predicted_high": told["high"],
                "error": error,
            }
        )
    return found
