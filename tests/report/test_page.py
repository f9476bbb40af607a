"""The page says every number with its unit and interval, what is in doubt, and what is missing."""

import re
from pathlib import Path

import polars as pl
import pytest

from leadline.core import record, units
from leadline.core.errors import LeadlineError
from leadline.core.formatting import next_launch
from leadline.native import build
from leadline.report import fits_table, render, tables, write, write_figures
from leadline.report import page as page_of
from leadline.report.figures import draw
from leadline.report.page import Findings, compose

from . import synthetic
from .conftest import PLAN, found
from .reading import Reader, written


def test_every_number_is_on_the_page_with_its_unit_and_interval(reader: Reader, findings: Findings) -> None:
    """Each measured point's value, its interval, and where the next launch lies."""
    told = set()
    for row in findings.rows:
        if row["status"] == record.OK:
            value = units.format_quantity(row["value"], row["unit"], row["low"], row["high"])
            told |= {*value.split(" [", 1), next_launch(row).value.split("]")[0]}
    assert len(told) > 1000
    assert [each for each in told if each not in reader.text] == []


def test_every_reason_for_a_missing_point_is_on_the_page(reader: Reader) -> None:
    """A point that was skipped or failed is told with its reason, and counted on the first screen."""
    assert reader.text.count(synthetic.SKIPPED_REASON) == 1
    assert f"mpich-4.0.2, openmpi-4.1.4, {synthetic.SKIPPED_SAID} : {synthetic.SKIPPED_REASON}" in reader.text
    assert reader.text.count(synthetic.FAILED_REASON) == 1
    assert "skipped 2" in reader.text
    assert "failed 2" in reader.text
    assert reader.links.count("#benchmark-pingpong") == 3  # the contents, and both counts


def test_every_benchmark_has_a_section_with_its_question(reader: Reader) -> None:
    """Sections stand in the order of reading, then by name, each with the question that the registry asks."""
    sections = [name for name in reader.ids if re.fullmatch(r"benchmark-[a-z]+", name)]
    assert sections == [f"benchmark-{name}" for name in (*page_of.READING_ORDER, "ring")]
    assert [each["question"] for each in synthetic.DECLARED if each["question"] not in reader.text] == []


def test_every_figure_has_a_place_and_a_title(reader: Reader, findings: Findings) -> None:
    """The page holds every figure that the figure files draw."""
    for benchmark in findings.benchmarks():
        for figure in draw(findings.subject(benchmark)):
            assert f"figure-{figure.name}" in reader.ids
            assert figure.title in reader.text


def test_nothing_is_loaded_from_anywhere(page: Path, reader: Reader) -> None:
    """No element names another file: the page opens from disk with no network."""
    assert [each for each in reader.loads if each != "data:,"] == []
    style = page.read_text(encoding="utf-8").split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def test_every_link_has_its_target_and_no_id_is_there_twice(reader: Reader) -> None:
    """The contents lead where they say."""
    assert [link for link in reader.links if link.removeprefix("#") not in reader.ids] == []
    assert sorted(set(reader.ids)) == sorted(reader.ids)


def test_plan_and_provenance_come_last(reader: Reader) -> None:
    """The plan's text and the facts of the host are there, after the fits."""
    assert PLAN.splitlines()[1] in reader.text
    assert "Example 8-core processor" in reader.text
    assert reader.text.index("Plan and provenance", len("Contents") + 400) > reader.text.rindex("Fits")


def test_a_page_of_many_samples_stays_small(tmp_path: Path) -> None:
    """The page carries summaries: four times the samples add less than a twentieth to it."""
    few, many = (
        write(synthetic.records(launches=7, samples=n, only=["pingpong", "noise"]), [], tmp_path / "p.html")
        .stat()
        .st_size
        for n in (10, 40)
    )
    assert many < 1.05 * few
    assert many < 6e6


def test_runs_stand_beside_one_another(tmp_path: Path) -> None:
    """Two runs are two series in every name, two verdicts on the noise, and two origins."""
    runs = [synthetic.records(run=name, launches=6, samples=3, only=["pingpong"]) for name in ("may", "june")]
    provenances = [synthetic.PROVENANCE | {"run": name} for name in ("may", "june")]
    path = write(record.concat(runs), provenances, tmp_path / "page.html")
    text = Reader(path.read_text(encoding="utf-8")).text
    for name in ("may", "june"):
        assert f"mpich-4.0.2 · {name}" in text
        assert f"{name}: The machine was quiet." in text


def test_measured_and_simulated_stand_beside_one_another() -> None:
    """Where a record comes from is part of its series' name, unless it was measured."""
    both = [
        synthetic.records(launches=6, samples=3, only=["pingpong"], source=source)
        for source in (record.MEASURED, record.SIMULATED)
    ]
    names = found(record.concat(both)).names.order
    assert [name for name in names if name.startswith("mpich")] == ["mpich-4.0.2", "mpich-4.0.2 · simulated"]


@pytest.mark.parametrize("benchmark", synthetic.BENCHMARKS)
def test_any_benchmark_can_be_the_only_one(benchmark: str, tmp_path: Path) -> None:
    """A run of one benchmark has a page with its section and figures."""
    told = written(synthetic.records(launches=3, samples=3, only=[benchmark]), tmp_path)
    assert f"benchmark-{benchmark}" in told.ids
    assert any(each.startswith("figure-") for each in told.ids)


def test_a_run_in_which_nothing_worked_has_a_page(tmp_path: Path) -> None:
    """Only skipped and failed points: their reasons are the page."""
    told = written(synthetic.records(launches=2, samples=2, only=[]), tmp_path).text
    assert synthetic.SKIPPED_REASON in told
    assert synthetic.FAILED_REASON in told
    assert "points measured 0" in told


def test_records_of_unknown_origin_have_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without provenance, and where nothing is built, questions are left out; nothing is built for a page."""
    monkeypatch.setattr(build, "is_built", lambda mpi: False)
    monkeypatch.setattr(build, "build_describe", lambda: pytest.fail("a report must not need a compiler"))
    path = write(synthetic.records(launches=2, only=["fan"]), [{}], tmp_path / "page.html")
    assert "do not say where they come from" in Reader(path.read_text(encoding="utf-8")).text
    assert page_of.asked([{}]) == {}


def test_text_from_records_stays_text(tmp_path: Path) -> None:
    """A reason or a name with mark-up in it is shown, not obeyed, also inside the figures' data."""
    planted = "</script><script>document.title = 'owned'</script><b id=planted>"
    records = synthetic.records(launches=2, samples=2, only=["pingpong"]).with_columns(
        reason=pl.when(pl.col("status") == record.FAILED).then(pl.lit(planted)).otherwise("reason"),
        mpi=pl.lit(planted),
    )
    told = written(records, tmp_path, comment=planted, plan_text=planted)
    assert "planted" not in told.ids
    assert planted in told.text
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert planted not in text
    own = text.count("</script>")
    plain = synthetic.records(launches=2, samples=2, only=["pingpong"])
    assert own == write(plain, [], tmp_path / "plain.html").read_text(encoding="utf-8").count("</script>")


def test_no_record_is_refused(records: pl.DataFrame, tmp_path: Path) -> None:
    """An empty run has no page, and the sentence says what would do."""
    with pytest.raises(LeadlineError, match="leadline run"):
        write(records.clear(), [], tmp_path / "page.html")
    with pytest.raises(LeadlineError, match="leadline run"):
        write_figures(records.clear(), tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The sentence names the file, not a trace of calls."""
    (tmp_path / "file").touch()
    records = synthetic.records(launches=2, samples=2, only=["fan"])
    with pytest.raises(LeadlineError, match=r"page\.html"):
        write(records, [], tmp_path / "file" / "page.html")
    with pytest.raises(LeadlineError, match=r"cannot write figures to .*deep: .* is in the way"):
        write_figures(records, tmp_path / "file" / "deep")


def test_points_missing_for_one_reason_are_told_together() -> None:
    """Sizes and libraries that lack a placement are one line; another reason is another."""
    row = {"benchmark": "pingpong", "mpi": "a", "status": "skipped", "reason": "no second socket", "bytes": 8}
    rows = [row, row | {"bytes": 16}, row | {"mpi": "b"}, row | {"reason": "out of memory"}]
    assert [(each.point, each.status) for each in tables.missing(rows)] == [
        ("a, b, 3 points", "skipped"),
        ("a, 8 B", "skipped"),
    ]


def test_fits_are_told_with_flags_and_what_they_miss_by(findings: Findings) -> None:
    """Every parameter of every fit is in a table; flags come first, and the hold-out error is said."""
    groups = fits_table.fit_groups(findings.fits, findings.names)
    cells = sum(cell is not None for group in groups for row in group.rows for cell in row.cells)
    assert cells == sum(len(fit.parameters) for fit in findings.fits)
    held = [row for group in groups if group.name == "asymptotic" for row in group.rows]
    assert all(any("misses a size that was left out" in r.text for r in row.remarks) for row in held)
    switches = [
        cell.value
        for group in groups
        if group.name == "piecewise"
        for row in group.rows
        for heading, cell in zip(group.headings, row.cells, strict=True)
        if heading.startswith("protocol switch") and cell is not None
    ]
    assert "32 KiB to 64 KiB" in switches


def test_a_negative_latency_is_shown_and_flagged(tmp_path: Path) -> None:
    """A straight line through a convex curve has a latency below 0: the page shows it with its flag."""
    bent = synthetic.records(launches=6, samples=3, only=["pingpong"]).with_columns(
        # Times grow faster than size, which only a line of negative intercept can follow.
        samples=pl.when(pl.col("bytes") > 2**20)
        .then(pl.col("samples").list.eval(pl.element() * 4))
        .otherwise("samples")
    )
    told = written(bent, tmp_path).text
    assert "negative: not a latency" in told
    assert re.search(r"-\d[\d.]* µs", told)


def test_a_wide_table_says_only_what_differs(findings: Findings) -> None:
    """What all points share stands above the table once; columns are what tells them apart."""
    rows = findings.subject("bandwidth").rows
    table = tables.points_table("bandwidth", rows)
    headings = [column.heading for column in table.columns]
    assert headings == [
        "metric",
        "mpi",
        "bytes",
        "value",
        "95 % interval",
        "next launch",
        "launches",
        "remarks",
    ]
    assert "window 64" in tables.common(rows)
    assert "2 ranks" in tables.common(rows)
    assert len(table.rows) == len(rows)


def test_the_drawing_library_cannot_end_its_own_script() -> None:
    """No end tag of a script is inside the bundle, and it offers what the page calls."""
    assert "</script" not in render.bundle().lower()
    assert "window.vegaEmbed" in render.bundle()


def test_the_drawing_library_is_made_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process takes the file that the first one wrote among the caches."""
    made = render.bundle()
    monkeypatch.setenv("LEADLINE_STATE", str(tmp_path))
    render.bundle.cache_clear()
    assert render.bundle() == made
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_text("another", encoding="utf-8")
    render.bundle.cache_clear()
    assert render.bundle() == "another"
    render.bundle.cache_clear()


def test_a_page_is_composed_without_the_drawing_library(
    findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the page says does not depend on how it is drawn."""
    monkeypatch.setattr(render, "bundle", lambda: pytest.fail("composing a page draws nothing"))
    composed = compose(findings, [synthetic.PROVENANCE])
    assert composed.title == "What messages cost on harbour"
    assert len(composed.sections) == len(synthetic.BENCHMARKS)


def test_a_simulated_run_is_told_as_exact(tmp_path: Path) -> None:
    """The machine stands in the title, the network with each card; no interval, launch or noise verdict."""
    records = synthetic.simulated()
    page = write(records, [synthetic.SIMULATED], tmp_path / "page.html")
    said = Reader(page.read_text(encoding="utf-8")).text
    assert "What messages cost on bgp IBM Blue Gene/P, virtual node mode" in said
    assert "simulated by loggp, partition of 512 ranks" in said
    assert re.search(r"latency at 8 B 2\.7\d µs simulated", said)
    assert "points simulated" in said
    assert "simulated, without intervals" in said
    assert "links.rate 425 MB/s (balaji, section 2)" in said
    for absent in ("95 % interval value", "next launch", "quiet", "points measured", "launches remarks"):
        assert absent not in said, absent


def test_a_real_and_a_simulated_run_stand_side_by_side(tmp_path: Path) -> None:
    """Each figure has both; the real one's noise is judged by name, and an exact value can be told apart."""
    records = record.concat([synthetic.records(samples=6), synthetic.simulated()])
    facts = [synthetic.PROVENANCE, synthetic.SIMULATED]
    said = Reader(write(records, facts, tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert "What messages cost on harbour, bgp" in said
    assert "quick: The machine was quiet." in said
    assert re.search(r"[\d.]+ times as long with bgp · on-bgp · simulated", said)
    assert "no mapping" not in said
    assert "no partition" not in said


def test_broken_guidelines_have_a_section(tmp_path: Path) -> None:
    """Where points relate: the table of each library, what the guidelines say, and a way there; else none."""
    from analysis.guidelines.library import records as library  # noqa: PLC0415
    from analysis.guidelines.test_guidelines import PLAIN, slow  # noqa: PLC0415

    table = library(plant=slow("allreduce", 2.5, **PLAIN, bytes=8192))
    text = write(table, [], tmp_path / "p.html").read_text(encoding="utf-8")
    assert '<a href="#guidelines">Guidelines</a>' in text
    assert "allreduce is not slower than reduce, then bcast" in text
    assert "7 broken" in text
    other = synthetic.records(launches=7, samples=10, only=["pingpong"])
    assert 'id="guidelines"' not in write(other, [], tmp_path / "q.html").read_text(encoding="utf-8")
