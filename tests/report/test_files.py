"""Figures as files for papers, and the verb that writes pages and files."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.core.record import Record
from leadline.report import write, write_figures
from leadline.run import store

from . import synthetic


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with two runs in runs/, as the working directory."""
    monkeypatch.chdir(tmp_path)
    for name, factor in (("may", 1.0), ("june", 1.2)):
        records = synthetic.records(run=name, launches=3, samples=3, factor=factor, only=["pingpong", "fan"])
        facts = {key: value for key, value in synthetic.PROVENANCE.items() if key != "run"}
        with store.Store.create(Path("runs") / name, "[defaults]\n", facts) as run:
            run.append(map(Record.of, records.to_dicts()))
            run.finish()
    return tmp_path


def leadline(*arguments: str) -> list[str]:
    """The lines that the command prints; it must succeed."""
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def test_every_figure_is_written_three_ways(tmp_path: Path) -> None:
    """SVG, PNG and PDF of each figure, each beginning as its format does."""
    told: list[tuple[int, int]] = []
    records = synthetic.records(launches=3, samples=3, only=["fan", "overhead"])
    paths = write_figures(records, tmp_path / "figures", lambda *progress: told.append(progress))
    names = {path.stem for path in paths}
    assert names == {"fan-bandwidth", "overhead-send-overhead", "overhead-receive-overhead"}
    assert told == [(1, 3), (2, 3), (3, 3)]
    begins = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    assert sorted(paths) == sorted((tmp_path / "figures").iterdir())
    for path in paths:
        assert path.read_bytes().startswith(begins[path.suffix])
    assert len(paths) == len(names) * len(begins)


def test_a_file_for_a_paper_carries_its_title_and_legend(tmp_path: Path) -> None:
    """What stands around a figure on the page is inside it in a file."""
    write_figures(synthetic.records(launches=3, samples=3, only=["fan"]), tmp_path)
    text = (tmp_path / "fan-bandwidth.svg").read_text()
    for words in ("Bandwidth by number of neighbours", "mpich-4.0.2", "openmpi-4.1.4", "bandwidth (GB/s)"):
        assert f">{words}<" in text


def test_the_last_line_is_the_path_of_the_page(here: Path) -> None:
    """`leadline report RUN` writes report/report.html and says so last."""
    assert leadline("report", "may")[-1] == "report/report.html"
    assert (here / "report" / "report.html").stat().st_size > 0


def test_without_a_run_the_newest_is_reported(here: Path) -> None:
    """The run that was begun last."""
    assert leadline("report")[-1] == "report/report.html"
    assert ">june<" in (here / "report" / "report.html").read_text()


def test_the_output_may_be_a_directory(here: Path) -> None:
    """A word without an ending, or a directory that is there, gets the page inside it."""
    (here / "v1.0").mkdir()
    assert leadline("report", "may", "-o", "out")[-1] == "out/report.html"
    assert leadline("report", "may", "-o", "v1.0")[-1] == "v1.0/report.html"
    assert leadline("report", "may", "-o", "page.html")[-1] == "page.html"


def test_figures_are_drawn_beside_the_page(here: Path) -> None:
    """`--figures DIR` draws them, says how many files there are, and the page still comes last."""
    lines = leadline("report", "may", "--figures", "figures")
    assert lines[0] == f"{len(list((here / 'figures').iterdir()))} files in figures"
    assert lines[-1] == "report/report.html"


def test_two_runs_of_one_name_are_told_apart_by_their_paths(here: Path) -> None:
    """Runs copied from two machines may share their name: they must not melt into one series."""
    (here / "other").mkdir()
    (here / "runs" / "may").rename(here / "other" / "june")
    path = here / "other" / "june" / "provenance.json"
    path.write_text(json.dumps(synthetic.PROVENANCE))
    store.write_parquet(
        store.load(here / "runs" / "june"), here / "other" / "june" / "records.parquet", {}, "[defaults]\n"
    )
    leadline("report", "june", "other/june")
    text = (here / "report" / "report.html").read_text()
    assert "mpich-4.0.2 · runs/june" in text
    assert "mpich-4.0.2 · other/june" in text


def test_a_run_that_is_not_there_is_a_usage_error(here: Path) -> None:
    """One sentence with the nearest name, exit code 2, and no page."""
    result = CliRunner().invoke(main, ["report", "mai"])
    assert result.exit_code == 2
    assert result.output == "leadline: there is no run or record file 'mai'; did you mean 'may'?\n"
    assert not (here / "report").exists()


def test_a_figure_for_a_paper_has_the_size_asked_for(here: Path) -> None:
    """85 mm x 60 mm are 241 pt x 170 pt; without fits and with error bars there is neither line nor band of
    them.
    """
    words = ["--benchmark", "pingpong", "--size", "85x60", "--error-bars", "--no-fits", "--format", "svg"]
    lines = leadline("figure", "may", *words, "-o", "drawn")
    assert "drawn/latency-by-size.svg" in lines
    head = Path("drawn/latency-by-size.svg").read_text()[:400]
    assert 'width="241"' in head
    assert 'height="170"' in head
    assert "figures/may/latency-by-size.svg" in leadline("figure", "may", *words)  # each run has its own
    assert "latency-by-size.svg" in "".join(leadline("figure", *words))  # of the newest run
    result = CliRunner().invoke(main, ["figure", "may", "--benchmark", "pingpong", "--size", "huge"])
    assert result.exit_code == 2
    assert "--size" in result.output


def test_what_was_not_measured_at_all_shares_one_section(here: Path) -> None:
    """A benchmark without a point has no section of its own; its reason stands with the others."""
    records = synthetic.records(launches=3, samples=3, only=["pingpong", "fan"])
    lost = pl.col("benchmark") == "fan"
    skipped = [
        pl.when(lost).then(pl.lit(text)).otherwise(name).alias(name)
        for name, text in (("status", "skipped"), ("reason", "no room"))
    ]
    page = write(records.with_columns(skipped), [synthetic.PROVENANCE], here / "page.html").read_text()
    assert 'id="benchmark-fan"' not in page
    assert page.index('id="not-measured"') < page.index("no room")
