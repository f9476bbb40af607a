"""The page says every number with its unit and interval, what is in doubt, and what is missing."""

import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from leadline import build, record, report, units
from leadline.errors import LeadlineError
from leadline.report import fits_table, render, tables, verdicts
from leadline.report import page as page_of
from leadline.report.costs import best, costs
from leadline.report.figures import draw
from leadline.report.page import Findings, compose
from leadline.report.words import next_launch, tell

from . import synthetic
from .conftest import PLAN, found


class Reader(HTMLParser):
    """What a page holds: text outside scripts, ids, links, and whatever it would load."""

    def __init__(self, text: str) -> None:
        """Read `text`."""
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.said: list[str] = []
        self._inside: list[str] = []
        self.feed(text)
        self.text = " ".join(" ".join(self.said).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag names."""
        told = {name: value or "" for name, value in attrs}
        self.ids += [told["id"]] if "id" in told else []
        if tag == "a":
            self.links.append(told["href"])
        elif "src" in told or tag == "link":
            self.loads.append(told.get("src") or told.get("href", ""))
        if tag in ("script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Leave a script or style."""
        if tag in ("script", "style"):
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        """Note what can be read."""
        if not self._inside:
            self.said.append(data)


@pytest.fixture(scope="module")
def reader(page: Path) -> Reader:
    """The page of the synthetic records, read."""
    return Reader(page.read_text(encoding="utf-8"))


def written(records: pl.DataFrame, tmp_path: Path, **provenance: object) -> Reader:
    """The page about `records`, read."""
    facts = synthetic.PROVENANCE | provenance
    return Reader(report.write(records, [facts], tmp_path / "page.html").read_text(encoding="utf-8"))


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
    """Sections stand in the order of reading, each with the question that the registry asks."""
    sections = [name for name in reader.ids if re.fullmatch(r"benchmark-[a-z]+", name)]
    assert sections == [f"benchmark-{name}" for name in page_of.READING_ORDER]
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
        report.write(
            synthetic.records(launches=7, samples=n, only=["pingpong", "noise"]), [], tmp_path / "p.html"
        )
        .stat()
        .st_size
        for n in (10, 40)
    )
    assert many < 1.05 * few
    assert many < 6e6


def test_the_first_screen_says_what_was_planted(findings: Findings) -> None:
    """Each library's latency, bandwidth and switch are those that its samples were made with."""
    cards = {card.name: card for card in costs(findings.rows, findings.fits, findings.names)}
    assert set(cards) == set(synthetic.MPIS)
    for name, planted in synthetic.MPIS.items():
        card = cards[name]
        assert card.latency is not None
        assert card.latency["bytes"] == 8
        assert card.latency["buffers"] == "reused"
        assert card.latency["value"] == pytest.approx(planted.time(8), rel=0.12)
        assert card.streamed is not None
        assert card.streamed["value"] == pytest.approx(planted.bandwidth, rel=0.12)
        assert card.fit is not None
        bandwidth = card.fit.parameter("bandwidth")
        assert bandwidth is not None
        assert bandwidth.value == pytest.approx(planted.bandwidth, rel=0.15)
        assert any(each.low == planted.switch / 2 for each in card.switches)


def test_a_card_tells_intervals_units_and_the_next_launch(findings: Findings) -> None:
    """Every fact of a card but the switches has a unit and an interval."""
    card = costs(findings.rows, findings.fits, findings.names)[0]
    names = [fact.name for fact in card.facts]
    assert names == [
        "latency at 8 B",
        "asymptotic bandwidth",
        "half-bandwidth size",
        "streamed bandwidth",
        "protocol switches",
        "next launch",
    ]
    told = {fact.name: fact.told[0] for fact in card.facts}
    for name in names[:4]:
        assert re.fullmatch(r"[\d.]+ (µs|GB/s|KiB)", told[name].value), name
        assert re.fullmatch(r"\[[\d.]+, [\d.]+\]", told[name].interval), name
    assert re.fullmatch(r"\[[\d.]+, [\d.]+\] µs", told["next launch"].value)
    assert re.match(r"±[\d.]+ %", told["next launch"].note)


def test_libraries_are_compared_only_where_their_intervals_are_apart() -> None:
    """A factor needs intervals that do not overlap; one launch each tells nothing."""
    first = {"value": 1.0, "low": 0.9, "high": 1.1}
    assert verdicts.factor(first, {"value": 2.0, "low": 1.9, "high": 2.1}) == 2.0
    assert verdicts.factor(first, {"value": 0.5, "low": 0.4, "high": 0.6}) == 2.0
    assert verdicts.factor(first, {"value": 1.1, "low": 1.0, "high": 1.2}) is None
    assert verdicts.factor(first, {"value": 9.0, "low": None, "high": None}) is None


def test_the_verdict_names_the_faster_library_and_by_how_much(findings: Findings) -> None:
    """0.30 µs against 0.52 µs and 11 GB/s against 8 GB/s, as planted; both switches with their sizes."""
    cards = costs(findings.rows, findings.fits, findings.names)
    latency, bandwidth, switches = verdicts.verdicts(cards)
    factor = re.fullmatch(
        r"A message of 8 B takes 0\.\d+ µs \[.*\] with mpich-4\.0\.2; "
        r"(1\.\d) times as long with openmpi-4\.1\.4\.",
        latency,
    )
    assert factor is not None
    assert float(factor[1]) == pytest.approx(0.52 / 0.30, rel=0.12)
    share = re.search(r"with mpich-4\.0\.2; (\d+) % of that with openmpi-4\.1\.4\.", bandwidth)
    assert share is not None
    assert float(share[1]) == pytest.approx(100 * 8 / 11, rel=0.12)
    assert "32 KiB to 64 KiB with mpich-4.0.2" in switches


def test_equal_libraries_are_not_ranked() -> None:
    """Two libraries with the same samples cannot be told apart, and the verdict says so."""
    twin = synthetic.records(launches=7, samples=4, only=["pingpong"]).filter(pl.col("mpi") == "mpich-4.0.2")
    both = pl.concat([twin, twin.with_columns(mpi=pl.lit("mpich-4.2.0"))])
    findings = found(both)
    [latency, *_] = verdicts.verdicts(costs(findings.rows, findings.fits, findings.names))
    assert "mpich-4.2.0 cannot be told from it" in latency
    assert "times as long" not in latency


def test_many_series_are_told_by_their_range() -> None:
    """Five libraries are not listed one by one: how many there are, and how far apart."""
    base = synthetic.records(launches=7, samples=4, only=["pingpong"]).filter(pl.col("mpi") == "mpich-4.0.2")
    slower = [
        base.with_columns(
            mpi=pl.lit(f"mpi-{factor}"), samples=pl.col("samples").list.eval(pl.element() * factor)
        )
        for factor in (1, 2, 3, 4, 5)
    ]
    findings = found(pl.concat(slower))
    [latency, *_] = verdicts.verdicts(costs(findings.rows, findings.fits, findings.names))
    assert latency.endswith("with mpi-1; 4 others 2 to 5 times as long.")


def test_a_library_that_measured_nothing_is_named_first(tmp_path: Path) -> None:
    """Where every launch of one library failed, the first screen says so with the commonest reason."""
    records = synthetic.records(launches=2, samples=2, only=["pingpong"])
    gone = (pl.col("mpi") == "mpich-4.0.2") & (pl.col("status") == record.OK)
    said = written(records.filter(~gone), tmp_path).text
    assert "Nothing could be measured with mpich-4.0.2: " in said
    assert "Nothing could be measured with openmpi-4.1.4" not in said


def test_noise_does_not_choose_the_best_bandwidth() -> None:
    """The highest of many is the one that noise raised: a meaningless point is quoted only alone."""
    row = {"benchmark": "bandwidth", "metric": "bandwidth", "value": 1.0, "meaningless": False}
    wild = row | {"value": 3.0, "meaningless": True}
    assert best([row, wild]) == row
    assert best([wild]) == wild


def test_a_disturbed_run_is_called_so(tmp_path: Path) -> None:
    """Half the launches wait for a processor and take three times as long: the first screen says it first."""
    half = pl.col("launch") % 2 == 0
    loaded = synthetic.records(launches=7, samples=4, only=["pingpong"]).with_columns(
        run_delay=pl.when(half).then(pl.lit(0.04)).otherwise("run_delay"),
        samples=pl.when(half).then(pl.col("samples").list.eval(pl.element() * 3)).otherwise("samples"),
    )
    said = written(loaded, tmp_path).text
    assert "The machine was busy with other work" in said
    assert "The machine was quiet" not in said
    assert "meaningless: the interval reaches" in said
    assert re.search(r"meaningless \d+ ", said)


def test_a_quiet_run_is_called_so(reader: Reader) -> None:
    """Nothing was planted that disturbs: no point is marked."""
    assert "The machine was quiet." in reader.text
    assert "meaningless" not in reader.text.replace("interval means nothing", "")


def test_runs_stand_beside_one_another(tmp_path: Path) -> None:
    """Two runs are two series in every name, two verdicts on the noise, and two origins."""
    runs = [synthetic.records(run=name, launches=6, samples=3, only=["pingpong"]) for name in ("may", "june")]
    provenances = [synthetic.PROVENANCE | {"run": name} for name in ("may", "june")]
    path = report.write(record.concat(runs), provenances, tmp_path / "page.html")
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
    monkeypatch.setattr(build, "build_mock", lambda: pytest.fail("a report must not need a compiler"))
    path = report.write(synthetic.records(launches=2, only=["fan"]), [{}], tmp_path / "page.html")
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
    assert own == report.write(plain, [], tmp_path / "plain.html").read_text(encoding="utf-8").count(
        "</script>"
    )


def test_no_record_is_refused(records: pl.DataFrame, tmp_path: Path) -> None:
    """An empty run has no page, and the sentence says what would do."""
    with pytest.raises(LeadlineError, match="leadline run"):
        report.write(records.clear(), [], tmp_path / "page.html")
    with pytest.raises(LeadlineError, match="leadline run"):
        report.write_figures(records.clear(), tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The sentence names the file, not a trace of calls."""
    (tmp_path / "file").touch()
    records = synthetic.records(launches=2, samples=2, only=["fan"])
    with pytest.raises(LeadlineError, match=r"cannot write the report to .*page\.html: .*file is in the way"):
        report.write(records, [], tmp_path / "file" / "page.html")
    with pytest.raises(LeadlineError, match=r"cannot write figures to .*deep: .* is in the way"):
        report.write_figures(records, tmp_path / "file" / "deep")


def test_a_confidence_that_falls_short_is_said() -> None:
    """Three launches reach 75 %; a reader who expects 95 % is told."""
    assert tell(1e-6, "s", 0.9e-6, 1.1e-6, confidence=0.75).note == "at 75 %"
    assert tell(1e-6, "s", 0.9e-6, 1.1e-6, confidence=0.969).note == ""
    row = {"value": 1e-6, "unit": "s", "next_low": 0.9e-6, "next_high": 1.1e-6, "next_confidence": 0.5}
    assert (next_launch(row).value, next_launch(row).note) == ("[0.9, 1.1] µs", "at 50 %")
    assert next_launch(row | {"next_low": None}).value == units.MISSING


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
    held = [row for group in groups if group.name == "ends" for row in group.rows]
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


def test_a_page_is_composed_without_the_drawing_library(
    findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the page says does not depend on how it is drawn."""
    monkeypatch.setattr(render, "bundle", lambda: pytest.fail("composing a page draws nothing"))
    composed = compose(findings, [synthetic.PROVENANCE])
    assert composed.title == "What messages cost on harbour"
    assert len(composed.sections) == len(synthetic.BENCHMARKS)
