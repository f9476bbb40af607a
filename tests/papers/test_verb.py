"""`reproduce` judges a run claim by claim, in words, as JSON and as a page; a missed claim is no error."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from leadline.cli import main
from leadline.core.record import Record
from leadline.papers import paper
from leadline.plan import files as plan_files
from leadline.run.store import Store

from . import toy


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished run of the plan bgp on the toy machine."""
    monkeypatch.chdir(tmp_path)
    return made(toy.bgp())


def made(rows: list[dict[str, Any]], name: str = "toy") -> Path:
    """A finished run of these records."""
    path = Path("runs") / name
    with Store.create(path, plan_files.find("bgp").read_text(), {"host": "here"}) as store:
        store.append(map(Record.of, rows))
        store.finish()
    return path


def reproduce(*words: str) -> Result:
    """What `leadline reproduce` says."""
    return CliRunner().invoke(main, ["reproduce", *words], catch_exceptions=False)


def test_json_has_an_object_a_claim(run: Path) -> None:
    """With the keys that programs read, in the paper's order, and nothing else on the standard output."""
    told = json.loads(reproduce("bgp", "--from", str(run), "--json").output)
    assert [each["id"] for each in told] == [each.id for each in paper.find("bgp").claims]
    assert all({"id", "kind", "expect", "band", "value", "reached"} <= set(each) for each in told)
    rows = {each["id"]: each for each in told}
    assert rows["bgp.fan.out"]["value"] == pytest.approx(18.0)
    assert rows["bgp.fan.out"]["band"] == [17.0, 18.6]
    assert rows["bgp.congestion.partial"]["reached"] is True
    assert rows["bgp.bcast.sub"]["value"] == pytest.approx(10.0)


def test_the_table_ends_with_counts_and_the_page(run: Path) -> None:
    """The last line is the page's path, which is there."""
    said = reproduce("bgp", "--from", str(run)).output.splitlines()
    assert said[-1] == str(Path("report") / "bgp.html")
    assert Path(said[-1]).is_file()
    assert said[-2].startswith("28 reached")
    assert any("bgp.link" in line and "425 MB/s" in line for line in said)


def test_a_missed_claim_is_told_and_is_no_error(run: Path) -> None:
    """Half the fan-out: the claim is missed, the line says so, the exit code is 0."""
    half = [{**row, "samples": [row["samples"][0] / 2]} for row in toy.bgp() if row["benchmark"] == "fan"]
    others = [row for row in toy.bgp() if row["benchmark"] != "fan"]
    told = reproduce("bgp", "--from", str(made([*others, *half], "half")), "-o", "page.html")
    assert "missed bgp.fan.out" in told.output
    assert told.exit_code == 0
    assert Path("page.html").is_file()


def test_a_failed_point_is_an_error(run: Path) -> None:
    """What could not be simulated leaves the answer incomplete: exit code 1, as with `run`."""
    lost = {**toy.bgp()[0], "status": "failed", "metric": "", "samples": [], "reason": "deadlock", "bytes": 7}
    told = reproduce("bgp", "--from", str(made([*toy.bgp(), lost], "lost")))
    assert told.exit_code == 1


def test_an_unknown_paper_is_refused() -> None:
    """Exit code 2 and the nearest name."""
    told = reproduce("bgq")
    assert told.exit_code == 2
    assert "no paper 'bgq'" in told.output
