"""Some of the records: those whose fields and coordinates have the values that a person names."""

from collections import defaultdict
from collections.abc import Iterable

import polars as pl

from leadline.core.errors import UsageError, suggest
from leadline.core.record import FIELDS, point_columns
from leadline.core.units import parse_bytes

# Fields that one may select by: words and whole numbers that tell points and launches apart.
_SELECTABLE = [
    name
    for name, field in FIELDS.items()
    if field.type in (pl.String, pl.Int64, pl.Boolean) and name not in {"reason", "binding", "transport"}
]


def matching(records: pl.DataFrame, wanted: Iterable[str]) -> pl.DataFrame:
    """The records that fit every KEY=VALUE in `wanted`; a key that is given twice may have either value.

    Sizes may have units, "bytes=64 KiB"; an MPI may be named by its family, "mpi=openmpi". Raises UsageError
    for an unknown key, and for a value that no record has.
    """
    return records.filter(fitting(records, wanted))


def fitting(records: pl.DataFrame, wanted: Iterable[str]) -> pl.Series:
    """Whether each record fits every KEY=VALUE in `wanted`, as `matching` selects; raises as that does."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for condition in wanted:
        key, equals, value = condition.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"a condition is KEY=VALUE, as in bytes=8, but got {condition!r}")
        by_key[key.strip()].append(value.strip())
    fits = pl.repeat(True, records.height, eager=True)
    for key, values in by_key.items():
        known = [*_SELECTABLE, *point_columns(records)]
        if key not in known:
            there = suggest(key, known) or f"; known are: {', '.join(known)}"
            raise UsageError(f"records have no key {key!r}{there}")
        left = records.filter(fits)
        tests = [_test(left.get_column(key), key, value) for value in dict.fromkeys(values)]
        fits &= records.select(pl.any_horizontal(tests).fill_null(value=False)).to_series()
    return fits


def _test(column: pl.Series, key: str, value: str) -> pl.Expr:
    """Whether `key`, whose values are `column`, is `value`; UsageError where it is so of no record."""
    if column.dtype == pl.Int64:
        try:
            test = pl.col(key) == (parse_bytes(value) if key == "bytes" else int(value))
        except ValueError:
            raise UsageError(f"{key} is a whole number, but got {value!r}") from None
    elif column.dtype == pl.Boolean:
        test = pl.col(key) == (value.lower() in {"true", "yes", "1"})
    else:
        test = pl.col(key) == value
        if key == "mpi":
            test = test | pl.col(key).str.starts_with(f"{value}-")
    if not column.to_frame().select(test.any()).item():
        there = [str(each) for each in column.drop_nulls().unique().sort().to_list() if each != ""]
        known = ", ".join(there) or "none"
        hint = suggest(value, there) if column.dtype == pl.String and there else f"; known are: {known}"
        raise UsageError(f"no record has {key}={value}{hint}")
    return test
