"""The front door: what `make report` does after a run that did not go well."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def make_report(directory: Path, code: int, records: bool) -> tuple[int, bool]:
    """`make report` around a run that ends with `code`: its exit code, and whether it asked for a page."""
    shutil.copy(ROOT / "Makefile", directory)
    for name, script in (
        ("setup.sh", "exit 0"),
        ("leadline", f'[ "$1" = run ] && exit {code}; touch page'),
    ):
        (directory / name).write_text(f"#!/bin/sh\n{script}\n")
        (directory / name).chmod(0o755)
    if records:
        (directory / "run").mkdir()
        (directory / "run" / "records.parquet").touch()
    command = ["make", "report", "RUN=run", "LEADLINE=./leadline"]
    made = subprocess.run(command, cwd=directory, capture_output=True, check=False)
    return made.returncode, (directory / "page").exists()


@pytest.mark.parametrize(
    ("code", "records", "page"),
    [
        (0, True, True),
        (1, True, True),  # points failed: the page says which
        (1, False, False),  # nothing was measured
        (2, True, False),  # the run exists already: its old records are not what was asked for
        (130, True, False),  # interrupted
    ],
)
def test_a_page_is_written_of_what_was_measured(tmp_path: Path, code: int, records: bool, page: bool) -> None:
    """And of nothing else; what makes no page fails."""
    made, written = make_report(tmp_path, code, records)
    assert written == page
    assert (made == 0) == page
