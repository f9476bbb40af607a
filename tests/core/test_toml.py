"""TOML files are written as they are read, and a schema names what is wrong with its line."""

import tomllib
from pathlib import Path

import pytest

from leadline.core import toml
from leadline.core.errors import UsageError
from leadline.core.values import count, text

DOCUMENT = {
    "title": 'a "text"\\ with\ttab, µ, \x7f and \x01',
    "empty": [],
    "links": {"rate": {"value": "1 GB/s", "interval": ["1 GB/s", "2 GB/s"], "source": "x"}, "on": True},
    "row": [{"name": "a", "sizes": [1, -2.5, 1e-12]}, {"name": "b", "hdf5.chunk": (4, 8)}],
}


def test_what_is_written_is_read_again() -> None:
    """Texts with quotes, controls and other alphabets, numbers, tables on a line, rows, dotted keys."""
    expected = {**DOCUMENT, "row": [DOCUMENT["row"][0], {"name": "b", "hdf5": {"chunk": [4, 8]}}]}  # type: ignore[index]
    assert tomllib.loads(toml.dump(DOCUMENT)) == expected
    assert toml.dump({}) == ""


KEYS = {"name": toml.Key(text), "many": toml.Key(count, 7)}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("[[row]]\nmany = 1\n", "1: .*'name'"),
        ("[[row]]\nname = 'a'\nmayn = 1\n", "3: .*'mayn'.*'many'"),
        ("[[row]]\nname = 'a'\nmany = -1\n", "3: many: .*-1"),
        ("[row]\nname = 'a'\n", "1: row"),
        ("\nrow = [1]\n", "2: row"),
        ("[[row]]\nname = 'a'\n[[row]]\n\nname = 'a'\n", "5: .*'a' stands on line 2"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, written: str, said: str) -> None:
    """A missing key, an unknown one, a bad value, other brackets, a name that another row has."""
    path = tmp_path / "file.toml"
    path.write_text(written)
    with pytest.raises(UsageError, match=f"file.toml:{said}"):
        rows = toml.read(path, "file").rows("row")
        toml.check_unique(rows, "name", "the row")
        for row in rows:
            row.read(KEYS, "a [[row]]")


def test_a_schema_gives_every_key(tmp_path: Path) -> None:
    """Also those that are absent, as their defaults."""
    path = tmp_path / "file.toml"
    path.write_text("[[row]]\nname = 'a'\n[one]\nname = 'b'\nmany = 1\n")
    document = toml.read(path, "file")
    assert [row.read(KEYS, "a [[row]]") for row in document.rows("row")] == [{"name": "a", "many": 7}]
    one = document.table("one")
    assert one and one.read(KEYS, "[one]") == {"name": "b", "many": 1}
    assert document.table("none") is None and document.rows("none") == []
