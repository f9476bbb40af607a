"""The record table: its columns, what is absent, and coordinates that differ from benchmark to benchmark."""

from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from leadline.core.record import FIELDS, KEYS, concat, point_columns, schema
from planted import frame_of


def row(**values: Any) -> dict[str, Any]:
    """A record with a launch and a sample."""
    return {"benchmark": "pingpong", "metric": "latency", "launch": 0, "samples": [1e-6], **values}


def test_absent_fields_are_null_and_types_are_fixed() -> None:
    """A row names what it has; the table has every field, of its own type."""
    table = frame_of([row(bytes=8, started=datetime(2026, 1, 2, tzinfo=UTC))])
    assert {name: table.schema[name] for name in FIELDS} == schema()
    assert table["mpi"].to_list() == [None]
    assert table["samples"].to_list() == [[1e-6]]
    assert table["started"].to_list() == [datetime(2026, 1, 2, tzinfo=UTC)]


def test_coordinates_are_the_columns_that_are_no_fields() -> None:
    """In the order of their first appearance; null where a benchmark does not have them."""
    table = frame_of([row(bytes=8, buffers="reused"), row(benchmark="bandwidth", bytes=16, window=64)])
    assert point_columns(table) == ["bytes", "buffers", "window"]
    assert table["window"].to_list() == [None, 64]
    assert [table.schema[name] for name in ("bytes", "buffers")] == [pl.Int64(), pl.String()]


def test_a_coordinate_that_is_a_word_anywhere_is_a_word_everywhere() -> None:
    """Whether within one table or between tables, as where one benchmark counts what another names."""
    assert frame_of([row(traffic=1), row(traffic="off")])["traffic"].to_list() == ["1", "off"]
    joined = concat([frame_of([row(traffic=1)]), frame_of([row(traffic="off"), row()])])
    assert joined["traffic"].to_list() == ["1", "off", None]


def test_tables_are_joined_with_all_their_columns() -> None:
    """Coordinates that one table lacks are null in its rows; no rows at all still have every field."""
    joined = concat([frame_of([row(bytes=8)]), frame_of([row(pairs=2)])])
    assert joined.select("bytes", "pairs").rows() == [(8, None), (None, 2)]
    assert concat([]).schema == schema()
    assert frame_of([]).schema == schema()


def test_keys_are_fields() -> None:
    """What tells one series of launches from another is in every record."""
    assert set(KEYS) <= set(FIELDS)
    assert point_columns(frame_of([])) == []


def test_every_field_says_what_it_is() -> None:
    """The schema is the documentation: no field without a sentence."""
    assert [name for name, field in FIELDS.items() if not field.says] == []


@pytest.mark.parametrize("samples", [[], [1.0], [3, 4]])
def test_samples_are_a_list_of_any_length(samples: list[float]) -> None:
    """Nothing is thrown away, and whole numbers are numbers."""
    assert frame_of([row(samples=samples)])["samples"].to_list() == [[float(each) for each in samples]]
