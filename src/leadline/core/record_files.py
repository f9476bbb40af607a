"""Record tables as files: the journal of a run that goes on, and the Parquet file of one that is done.

A journal is a first line that says so, then a line of JSON for each point of each launch: a list with one
record a metric, so that a point is there whole or not at all. A Parquet file carries its provenance and its
plan in its own metadata, so that it can be believed without the directory it came from.
"""

import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from leadline.core import journal
from leadline.core.axes import AXES
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.journal import to_json
from leadline.core.record import FIELDS, FORMAT, LATER, Cell, Record, frame, point_columns
from leadline.core.record_checks import fault, table_fault, with_impossible_marked
from leadline.core.values import Value

FORMAT_KEY, PROVENANCE_KEY, PLAN_KEY = "leadline.format", "leadline.provenance", "leadline.plan"
# The checksum of the whole file with zeros in its own place; a second key says that there is one.
CHECKSUM_KEY, CHECKED_KEY = "leadline.checksum", "leadline.checked"
_CHECKSUM = re.compile(rb"crc32:([0-9a-f]{8}):leadline")

PointKey = tuple[object, ...]


def point_key(
    benchmark: str, axes: Mapping[str, Value | None], coordinates: Mapping[str, Value | None]
) -> PointKey:
    """What tells a point's records from those of the other points of its run."""
    values = sorted((name, str(value)) for name, value in coordinates.items() if value is not None)
    return (benchmark, *(axes.get(name) for name in AXES), *values)


def key_of(record: Record) -> PointKey:
    """The key of a record's point."""
    return point_key(record.benchmark, record.axes, record.coordinates)


def replace(path: Path, data: bytes) -> None:
    """Put `data` in the place of `path` at once and on the disk, or leave what is there and raise OSError.

    A device or a pipe is written to instead: a file must not take its place.
    The error names `path`, and not the draft beside it that takes its place.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # which a directory refuses
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as problem:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise OSError(problem.errno, problem.strerror, str(path)) from problem


# The first line of a journal of records.
JOURNAL_HEADER = {"leadline": "records", "format": FORMAT}
REMEDY = "; take the line out to read the others"


def journal_lines(records: Iterable[Record]) -> Iterator[list[dict[str, Cell]]]:
    """What the lines of a journal hold: neighbours of the same point and launch share one."""
    for _, group in groupby(records, key=lambda record: (record.launch, key_of(record))):
        yield [record.row() for record in group]


def read_journal(path: Path) -> tuple[list[Record], int]:
    """The records of a journal, and the length of its whole lines in B.

    The last line, if it was cut off while being written, is left out. Raises UsageError, naming the line,
    for damage anywhere else and for what is no journal.
    """
    try:
        lines, length = journal.read(path, REMEDY)
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror}") from problem
    if not lines or not isinstance(lines[0], dict) or lines[0].get("leadline") != "records":
        raise UsageError(f"{path}:1: this is no journal of records; name a run's directory")
    _check_format(path, lines[0].get("format"))
    records: list[Record] = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            records += [_record(each) for each in line]
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            raise UsageError(
                f"{path}:{number}: this line is damaged ({_first_line(problem)}){REMEDY}"
            ) from problem
    return records, length


def journal_frame(path: Path) -> pl.DataFrame:
    """The record table of a journal; raises as `read_journal` does."""
    return table(read_journal(path)[0], path)


def table(records: Iterable[Record], path: Path) -> pl.DataFrame:
    """The records of the journal `path` as a record table; UsageError for values of wrong types."""
    try:
        return with_impossible_marked(frame(records))
    except (pl.exceptions.PolarsError, TypeError, ValueError) as problem:
        raise UsageError(f"{path} holds values of wrong types: {_first_line(problem)}") from problem


def write_parquet(
    records: pl.DataFrame, path: Path, provenance: Mapping[str, object], plan_text: str = ""
) -> None:
    """Write a record table as one Parquet file that carries its provenance and plan within it.

    Raises LeadlineError when it cannot be written; what stood there before then stays.
    """
    about = {FORMAT_KEY: str(FORMAT), PROVENANCE_KEY: to_json(provenance).decode(), PLAN_KEY: plan_text}
    about |= {CHECKSUM_KEY: "crc32:00000000:leadline", CHECKED_KEY: "yes"}
    # Made in memory: polars tells a full disk as a fault of the format.
    made = io.BytesIO()
    records.write_parquet(made, compression="zstd", metadata=about)
    data = made.getvalue()
    checksum = b"crc32:%08x:leadline" % zlib.crc32(data)
    try:
        replace(path, data.replace(b"crc32:00000000:leadline", checksum))
    except OSError as problem:
        raise LeadlineError(f"cannot write {path}: {problem.strerror}") from problem


def read_parquet(path: Path) -> pl.DataFrame:
    """The records of a Parquet file; LeadlineError where it is truncated, foreign or newer than this."""
    about = parquet_metadata(path)
    if FORMAT_KEY in about:
        _check_format(path, about[FORMAT_KEY])
    try:
        data = path.read_bytes()
        if (CHECKSUM_KEY in about or CHECKED_KEY in about) and not _is_checked(data):
            raise UsageError(f"{path} is damaged: its checksum does not fit")
        table = pl.read_parquet(io.BytesIO(data))
    except (OSError, pl.exceptions.PolarsError) as problem:
        raise UsageError(f"{path} is a damaged Parquet file: {_first_line(problem)}") from problem
    added = [pl.lit(None, FIELDS[name].type).alias(name) for name in LATER if name not in table.columns]
    table = table.with_columns(added)
    for name, field in FIELDS.items():
        if name not in table.columns:
            raise UsageError(f"{path} is a Parquet file but no record file: it has no column {name!r}")
        if table.schema[name] != field.type:
            raise UsageError(
                f"{path} is no record file: its column {name!r} is {table.schema[name]}, not {field.type}"
            )
    if impossible := table_fault(table):
        raise UsageError(f"{path} holds what no measurement gives: {impossible}")
    table = with_impossible_marked(table)
    return table.select(*FIELDS, *point_columns(table)) if added else table


def _is_checked(data: bytes) -> bool:
    """Whether the bytes of a file are those that its checksum is of."""
    found = {match[1] for match in _CHECKSUM.finditer(data)}
    if len(found) != 1:
        return False
    return zlib.crc32(_CHECKSUM.sub(b"crc32:00000000:leadline", data)) == int(found.pop(), 16)


def parquet_metadata(path: Path) -> dict[str, str]:
    """What a Parquet file carries about itself; UsageError where it is truncated or none."""
    try:
        return pl.read_parquet_metadata(path)
    except (OSError, pl.exceptions.PolarsError) as problem:
        if path.suffix == ".program":
            raise UsageError(
                f"{path} is a program file, which 'leadline profile' and 'leadline report' read"
            ) from problem
        damaged = f"a damaged Parquet file ({_first_line(problem)})"
        what = f"is {damaged if _begins_as_parquet(path) else 'no file of records'}"
        raise UsageError(f"{path} {what}; name a run's directory, a .parquet or a .jsonl file") from problem


def _begins_as_parquet(path: Path) -> bool:
    """Whether a file begins as Parquet files do."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False


def _record(parsed: Mapping[str, Any]) -> Record:
    """A record as it was before it was written; ValueError or a kin of it where it is none."""
    row = dict(parsed)
    if not isinstance(row["benchmark"], str) or not isinstance(row["launch"], int):
        raise ValueError("it has no benchmark or no launch")
    if problem := fault(row):
        raise ValueError(problem)
    if row.get("started") is not None:
        row["started"] = datetime.fromisoformat(row["started"])
    return Record.of(row)


def _check_format(path: Path, found: object) -> None:
    """Raise LeadlineError for a format that this program does not know."""
    if not str(found).isdecimal() or int(str(found)) > FORMAT:
        raise UsageError(
            f"{path} has record format {found}, but this version of Leadline reads up to {FORMAT}"
        )


def _first_line(problem: Exception) -> str:
    """The first line of what the system or a library says."""
    said = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem).strip()
    return (said or type(problem).__name__).splitlines()[0]
