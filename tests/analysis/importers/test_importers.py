"""Every importer is a file, found by its name, and what it reads goes through the store unharmed."""

from pathlib import Path

import pytest

from leadline.analysis import importers
from leadline.analysis.summary import summarise
from leadline.core.errors import UsageError
from leadline.core.record import Record
from leadline.run.store import Store, load, provenance

DATA = Path(__file__).parent / "data"


def test_importers_are_found_by_their_files() -> None:
    """Both suites, and nothing that is no suite; an unknown one is refused with the nearest."""
    assert importers.names() == ["imb", "osu"]
    with pytest.raises(UsageError, match="no importer for 'ous'; did you mean 'osu'"):
        importers.importer("ous")


@pytest.mark.parametrize(
    ("suite", "name"), [("osu", "osu-5.txt"), ("osu", "osu-7.txt"), ("imb", "imb-2021-parts.txt")]
)
def test_imported_records_can_be_stored_and_summarised(suite: str, name: str, tmp_path: Path) -> None:
    """A run like any other: same records after a round through the disk, and one summary row a point."""
    records, about = importers.read(suite, {DATA / name: (DATA / name).read_bytes()})
    with Store.create(tmp_path / "old", "", about) as store:
        store.append(map(Record.of, records.to_dicts()))
        store.finish()
    back = load(tmp_path / "old")
    assert back.drop("run").equals(records.drop("run").select(back.drop("run").columns))
    assert provenance(tmp_path / "old")["suite"] == about["suite"]
    summary = summarise(back)
    assert summary.filter(status="ok").height > 0
    assert summary["low"].null_count() == summary.filter(summary["launches"] < 2).height
