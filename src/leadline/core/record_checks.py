"""Can a record be what it claims? Values that no measurement gives are refused, or their record is marked.

Damage that still parses (a flipped bit in a file without checksums, a file edited by hand) is refused. A
negative time or rate may be measured, where a clock stepped back: such a record is invalid, the others stay.
A difference of two times falls below zero by noise alone; to leave those out would raise the rest.
"""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

import polars as pl

from leadline.core.record import FAILED, IMPORTED, INVALID, MEASURED, OK, SIMULATED, SKIPPED

WORDS: dict[str, tuple[str | None, ...]] = {
    "source": (MEASURED, SIMULATED, IMPORTED),
    "status": (OK, SKIPPED, FAILED, INVALID),
    "unit": ("s", "B", "B/s", "1/s", "1", None),
    "better": ("lower", "higher", None),
    "stopped_by": ("tolerance", "time", "samples", "exact", None),
}
WHOLE = ("launch", "ranks", "warmup", "batch", "partition", "switches")
AMOUNTS = ("duration", "run_delay", "steal", "others", "frequency", "clock_error", "late", "late_at")
POSITIVE = ("s", "B/s", "1/s")  # units of which a sample below zero is impossible
NEGATIVE = "a sample is below zero, which no time or rate can be"


def fault(row: Mapping[str, object]) -> str | None:
    """What in a record cannot be, as read from JSON; None where everything can."""
    return next(_faults(row), None)


def _faults(row: Mapping[str, Any]) -> Iterator[str]:
    """Everything in a record that cannot be."""
    for name, words in WORDS.items():
        if name in row and row[name] not in words:
            yield f"its {name} is {row[name]!r}"
    for name in WHOLE:
        value = row.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            yield f"its {name} is {value!r}"
    for name in AMOUNTS:
        value = row.get(name)
        if value is not None and not _is_number(value):
            yield f"its {name} is {value!r}"
    samples = row.get("samples") or []
    if not isinstance(samples, list):
        yield "its samples are no list"
        return
    for each in samples:
        if each is not None and not (_is_number(each) or each != each):  # noqa: PLR0124  (NaN: no value)
            yield f"one of its samples is {each!r}"
    if samples and (row.get("warmup") or 0) > len(samples):
        yield f"it has {len(samples)} samples, of which {row['warmup']} are warm-up"


def _is_number(value: object) -> bool:
    """Whether a value is a finite number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def table_fault(records: pl.DataFrame) -> str | None:
    """The same of a table, of which the types are known."""
    for name, words in WORDS.items():
        known = [word for word in words if word is not None]
        wrong = records.get_column(name).drop_nulls().unique()
        wrong = wrong.filter(~wrong.is_in(known))
        if len(wrong):
            return f"a {name} is {wrong[0]!r}"
    below = [name for name in WHOLE if (records.get_column(name) < 0).any()]
    if below:
        return f"a {below[0]} is below zero"
    wild = [name for name in AMOUNTS if not records.get_column(name).drop_nulls().is_finite().all()]
    if wild:
        return f"a {wild[0]} is no finite number"
    samples = records.get_column("samples").list.len().fill_null(0)
    more = (records.get_column("warmup").fill_null(0) > samples) & (samples > 0)
    return "a record has more warm-up than samples" if more.any() else None


def with_impossible_marked(records: pl.DataFrame) -> pl.DataFrame:
    """`records` with those invalid that have a negative time or rate."""
    below = (
        (pl.col("status") == OK)
        & pl.col("unit").is_in(POSITIVE)
        & ~pl.col("difference").fill_null(False)
        & (pl.col("samples").list.eval(pl.element() < 0).list.any().fill_null(False))
    )
    if not records.select(below.any()).item():
        return records
    return records.with_columns(
        status=pl.when(below).then(pl.lit(INVALID)).otherwise("status"),
        reason=pl.when(below).then(pl.lit(NEGATIVE)).otherwise("reason"),
    )
