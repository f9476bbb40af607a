"""How well ranks started together, where each call started at one moment of a common clock.

A time that is taken from that moment is as wrong as the clock may be, and what a late rank made of a sample
is no property of the operation.
"""

from collections.abc import Iterator

from leadline.analysis.noise import percent
from leadline.core.record import Row
from leadline.core.units import format_quantity

# An error of this share of a time is as wide as the interval that plans ask for by default, from end to end.
COARSE = 0.05


def remarks(row: Row) -> Iterator[str]:
    """What a summary's row says of its clock and of late starts; nothing where all was well."""
    error, value = row.get("clock_error"), row.get("value")
    if error and value and row.get("unit") == "s" and error > COARSE * abs(value):
        yield (
            f"the clock is too coarse for this effect: it may be {format_quantity(error, 's')} off, "
            f"{percent(error / abs(value))} of the value"
        )
    if row.get("late"):
        most = format_quantity(row.get("late_at"), "s")
        yield f"a rank started late for {percent(row['late'])} of the samples, up to {most}"
