"""Is damage found? Journals and record files with flipped bits, and values that no measurement gives."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from leadline.core import journal
from leadline.core.errors import LeadlineError
from leadline.core.record_checks import WORDS
from leadline.core.record_files import (
    JOURNAL_HEADER,
    journal_frame,
    journal_lines,
    read_journal,
    read_parquet,
    write_parquet,
)
from leadline.run import store
from leadline.run.store import Store
from planted import frame_of, records, rows, table

FLIPS = 400


def written(path: Path) -> Path:
    """A journal of six launches at two sizes."""
    found = records([[1.0, 2.0]] * 6, [1, 2])
    path.write_bytes(journal.encode([JOURNAL_HEADER, *journal_lines(found)]))
    return path


def old(path: Path, *records: dict[str, Any]) -> Path:
    """A journal without checksums, as earlier versions wrote it."""
    lines = [JOURNAL_HEADER, *([each] for each in records)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_no_flipped_bit_of_a_journal_is_accepted(tmp_path: Path) -> None:
    """Any bit at all: the journal is refused, or what is left out is its last line, cut off."""
    data = written(tmp_path / "journal.jsonl").read_bytes()
    whole = journal_frame(tmp_path / "journal.jsonl")
    chosen = random.Random(1)
    for _ in range(FLIPS):
        place, bit = chosen.randrange(len(data)), chosen.randrange(8)
        (tmp_path / "flipped.jsonl").write_bytes(
            data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]
        )
        with pytest.raises(LeadlineError):
            assert journal_frame(tmp_path / "flipped.jsonl").equals(whole)


def test_no_flipped_bit_of_a_record_file_changes_what_is_read(tmp_path: Path) -> None:
    """Whether in data, plan, provenance or the file's own description of itself."""
    records = table([[1.0, 2.0]] * 6, [1, 2])
    write_parquet(records, tmp_path / "r.parquet", {"host": "here"}, "time = '1 s'")
    assert read_parquet(tmp_path / "r.parquet").equals(records)
    data = (tmp_path / "r.parquet").read_bytes()
    chosen = random.Random(2)
    for _ in range(FLIPS):
        place, bit = chosen.randrange(len(data)), chosen.randrange(8)
        (tmp_path / "f.parquet").write_bytes(
            data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]
        )
        with pytest.raises(LeadlineError):
            read_parquet(tmp_path / "f.parquet")


def test_journals_without_checksums_are_read_and_added_to(tmp_path: Path) -> None:
    """Those of earlier versions, whose lines may be followed by lines with them."""
    [one] = rows([[1.0]], [1])
    path = old(tmp_path / "journal.jsonl", one)
    with journal.open_locked(path) as file:
        file.append([[one | {"launch": 1}]], "all")
    assert [each.launch for each in read_journal(path)[0]] == [0, 1]


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path, cut: int) -> None:
    """A kill in the middle of a write costs that line only."""
    path = written(tmp_path / "journal.jsonl")
    path.write_bytes(path.read_bytes()[:-cut])
    assert len(read_journal(path)[0]) == 11


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "okay"},
        {"source": "dreamt"},
        {"unit": "m"},
        {"better": "faster"},
        {"warmup": -1},
        {"warmup": 4},
        {"samples": [True, 1.0]},
        {"samples": [float("inf")]},
        {"samples": {"a": 1}},
        {"duration": float("nan")},
        {"ranks": True},
        {"launch": -1},
    ],
)
def test_values_that_no_measurement_gives_are_refused_with_their_line(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    """The sentence names the file and the line."""
    good, bad = rows([[1.0], [1.0]], [1])
    path = old(tmp_path / "journal.jsonl", good, bad | wrong)
    with pytest.raises(LeadlineError, match=r"journal\.jsonl:3"):
        journal_frame(path)


def test_a_negative_latency_is_no_measurement(tmp_path: Path) -> None:
    """Its point is invalid, in a journal and in a record file; the others stay."""
    below = rows([[1.0, 2.0]] * 3, [1, 2])
    below[0]["samples"] = [-1.0, 1.0]
    path = old(tmp_path / "journal.jsonl", *below)
    write_parquet(frame_of(below), tmp_path / "r.parquet", {})
    for found in (journal_frame(path), read_parquet(tmp_path / "r.parquet")):
        assert found.filter(status="invalid").get_column("bytes").to_list()[0] == 1
        assert found.filter(status="ok").get_column("bytes").unique().to_list() != [1]


def test_a_difference_of_times_may_be_negative(tmp_path: Path) -> None:
    """Noise takes it there; a file from before that was said is read as of a time."""
    below = rows([[1.0, 2.0]] * 3, [1, 2])
    below[0] |= {"samples": [-1.0, 1.0], "difference": True}
    path = old(tmp_path / "journal.jsonl", *below)
    write_parquet(frame_of(below), tmp_path / "r.parquet", {})
    write_parquet(frame_of(below).drop("difference"), tmp_path / "before.parquet", {})
    for found in (journal_frame(path), read_parquet(tmp_path / "r.parquet")):
        assert found.filter(status="invalid").is_empty()
    assert read_parquet(tmp_path / "before.parquet").filter(status="invalid").height == 1


@pytest.mark.parametrize("left", [0, 1])
def test_a_journal_without_records_never_hides_finished_ones(tmp_path: Path, left: int) -> None:
    """A crash may leave an empty journal, or its header alone, beside the records of the finished run."""
    path = tmp_path / "run"
    with Store.create(path, "", {}) as run:
        run.append(records([[1.0]] * 3, [1]))
        run.finish()
    (path / store.JOURNAL).write_bytes(journal.encode([JOURNAL_HEADER] * left))
    assert store.load(path).height == 3
    with Store.reopen(path) as run:
        assert run.records().height == 3


def test_every_word_that_native_code_writes_is_known() -> None:
    """A new reason for the end of sampling must not make journals that are refused."""
    source = (Path(__file__).parents[2] / "native" / "harness" / "sampler.cpp").read_text()
    words = set(re.findall(r'stopped_by_ = "(\w+)"', source))
    assert len(words) >= 4
    assert words <= set(WORDS["stopped_by"])
