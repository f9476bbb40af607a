"""Lines of a journal are there whole or not at all, and damage is named by its line."""

from pathlib import Path

import pytest

from leadline.core import journal
from leadline.core.errors import LeadlineError


@pytest.mark.parametrize("end", [b'{"c"', b'{"c"\n', b"\0\0\0\0\n", b"\xff\n"])
def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path, end: bytes) -> None:
    """With or without its end of line, as power cuts leave it; the length is that of the whole lines."""
    path, whole = tmp_path / "j", journal.encode([{"a": 1}, {"b": 2}])
    path.write_bytes(whole + end)
    assert journal.read(path) == ([{"a": 1}, {"b": 2}], len(whole))


def test_damage_between_whole_lines_is_named(tmp_path: Path) -> None:
    """It is not for a reader to pass over what was measured."""
    path = tmp_path / "j"
    path.write_bytes(journal.encode([1]) + b"{\n" + journal.encode([3]))
    with pytest.raises(LeadlineError, match=f"{path}:2: "):
        journal.read(path)


def test_only_one_process_appends(tmp_path: Path) -> None:
    """Until it has closed the file; what is cut is gone, what is appended stands behind the rest."""
    path = tmp_path / "j"
    path.write_bytes(b"1\n2")
    with journal.open_locked(path) as file:
        with pytest.raises(LeadlineError, match="another process"):
            journal.open_locked(path)
        file.cut(2)
        file.append([{"x": "µ"}], "all")
    assert journal.read(path).lines == [1, {"x": "µ"}]
    journal.open_locked(path).close()
