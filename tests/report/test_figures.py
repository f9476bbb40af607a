"""Every figure draws what it is given, in the right place, under the right name."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
import vl_convert

from leadline.core import record
from leadline.report import figures, render, theme
from leadline.report.figures import Figure, generic, noise, operations
from leadline.report.page import Findings
from leadline.report.plots import axes
from leadline.report.plots.points import mark_alone, rounded
from leadline.report.subject import Names, Subject
from planted import frame_of

from . import synthetic
from .conftest import found

# Where Vega puts what stands for data; axes, grids and legends are drawn under other roles.
MARK = re.compile(r'<g class="mark-(?:symbol|line|rect|rule|area|text) role-mark[^>]*>(.*?)</g>', re.DOTALL)


def drawn(findings: Findings) -> Iterator[tuple[str, Figure]]:
    """Every figure of every benchmark, with the benchmark's name."""
    for benchmark in findings.benchmarks():
        for figure in figures.draw(findings.subject(benchmark)):
            yield benchmark, figure


def one(findings: Findings, benchmark: str, name: str) -> Figure:
    """The figure of that name."""
    return next(f for f in figures.draw(findings.subject(benchmark)) if f.name == name)


def svg(figure: Figure, **parameters: Any) -> str:
    """A figure drawn without a browser, its parameters (such as `hidden`) set."""
    spec = theme.on_paper(figure.spec, figure.title)
    spec["params"] = [
        {**each, "value": parameters.get(each["name"], each["value"])} for each in spec["params"]
    ]
    text: str = vl_convert.vegalite_to_svg(spec, vl_version=render.VEGA_LITE)
    return text


def marks(text: str) -> str:
    """The marks of a drawing: what stands for data."""
    return "".join(MARK.findall(text))


def hue(figure: Figure, name: str) -> str:
    """The colour on paper of a series of a figure."""
    token = next(entry.colour for entry in figure.legend if entry.name == name)
    return theme.LIGHT[token.removeprefix("var(--").removesuffix(")")]


@pytest.fixture(scope="module")
def drawings(findings: Findings) -> list[tuple[str, Figure, str]]:
    """Every figure of the synthetic records as SVG."""
    return [(benchmark, figure, svg(figure)) for benchmark, figure in drawn(findings)]


def test_every_figure_has_marks(drawings: list[tuple[str, Figure, str]]) -> None:
    """No figure of any benchmark comes out empty."""
    assert drawings
    assert [figure.name for _, figure, text in drawings if "<path" not in marks(text)] == []


def test_every_series_is_in_every_figure(drawings: list[tuple[str, Figure, str]]) -> None:
    """Each series of a legend has marks in its colour: none is lost behind a filter or a scale."""
    lost = [
        (figure.name, entry.name)
        for _, figure, text in drawings
        for entry in figure.legend
        if entry.kind == "series" and hue(figure, entry.name) not in marks(text)
    ]
    assert lost == []


def test_no_drawing_keeps_a_colour_token(drawings: list[tuple[str, Figure, str]]) -> None:
    """A file for a paper knows nothing of the page's style sheet."""
    assert [figure.name for _, figure, text in drawings if "var(--" in text] == []


def test_every_figure_file_draws_something(findings: Findings) -> None:
    """A figure file that applies to no benchmark is dead; the fallback draws what has no file."""
    subjects = [findings.subject(name) for name in findings.benchmarks()]
    idle = {
        name
        for name, member in figures.members().items()
        if not any(figures.of_file(member, subject) for subject in subjects)
    }
    assert idle == set()


def test_every_metric_is_in_a_figure(findings: Findings) -> None:
    """Whatever was measured can be seen."""
    for benchmark in findings.benchmarks():
        subject = findings.subject(benchmark)
        shown = {metric for figure in figures.draw(subject) for metric in figure.metrics}
        assert shown == set(subject.metrics), benchmark


def test_no_two_figures_share_a_name(findings: Findings) -> None:
    """Names are anchors of the page and names of files."""
    names = [figure.name for _, figure in drawn(findings)]
    assert sorted(set(names)) == sorted(names)


def test_axes_say_their_units(findings: Findings) -> None:
    """Times are in µs, rates in GB/s and messages in millions a second, wherever they are an axis."""
    said = {"s": "(µs)", "B/s": "(GB/s)", "1/s": "(million/s)"}
    for benchmark, figure in drawn(findings):
        units = {row["unit"] for row in findings.subject(benchmark).of(*figure.metrics)}
        for unit in units & set(said):
            assert said[unit] in str(figure.spec), figure.name


def test_a_new_benchmark_has_a_figure_without_a_file_of_its_own() -> None:
    """An unknown benchmark is drawn along its first numeric sweep, the other sweep as dashes."""
    points = [
        {"benchmark": "tide", "metric": "height", "unit": "m", "depth": depth, "moon": moon}
        for depth in (1, 2, 3)
        for moon in ("new", "full")
    ]
    subject = found(_table(points)).subject("tide")
    [figure] = figures.draw(subject)
    assert figure.name == "tide-height"
    assert generic.along(subject, subject.rows) == "depth"
    assert [entry.name for entry in figure.legend if entry.kind == "variant"] == ["full", "new"]
    assert "height (m)" in str(figure.spec)
    assert "<path" in marks(svg(figure))


def test_a_benchmark_without_a_sweep_has_a_figure() -> None:
    """A single point, or points told apart by words only, become dots in rows."""
    points = [
        {"benchmark": "tide", "metric": "height", "unit": "m", "moon": moon} for moon in ("new", "full")
    ]
    [figure] = figures.draw(found(_table(points)).subject("tide"))
    assert marks(svg(figure)).count("<path") >= 2
    [alone] = figures.draw(found(_table(points[:1])).subject("tide"))
    assert "<path" in marks(svg(alone))


def _table(points: list[dict[str, Any]], launches: int = 6) -> pl.DataFrame:
    """Records of points whose value is 1, 2, ... in their order."""
    common = {"run": "r", "source": record.MEASURED, "mpi": "mpich-4.0.2", "better": "lower", "ranks": 2}
    return frame_of(
        {**common, **point, "launch": launch, "status": record.OK, "samples": [1.0 + place], "warmup": 0}
        for place, point in enumerate(points)
        for launch in range(launches)
    )


def test_zero_bytes_have_a_place_on_a_logarithmic_axis() -> None:
    """With 0 B the axis is a symmetric logarithm with a tick at 0; without, a plain one to the base 2."""
    assert axes.sizes([0, 1, 1024])["scale"]["type"] == "symlog"
    assert axes.sizes([0, 1, 1024])["axis"]["values"] == [0, 1, 8, 64, 512]
    assert axes.sizes([64, 1024])["scale"] == {"type": "log", "base": 2, "nice": False}
    assert axes.sizes([64, 1024])["axis"]["values"] == [8, 64, 512]


def test_sizes_are_written_as_people_name_them(findings: Findings) -> None:
    """Ticks of the size axis read B, KiB and MiB."""
    text = svg(one(findings, "pingpong", "latency-by-size"))
    assert {">0 B<", ">8 B<", ">4 KiB<", ">2 MiB<"} <= set(re.findall(r">[\d.]+ [KM]?i?B<", text))


def test_a_quantity_that_reaches_zero_is_not_put_on_a_logarithmic_axis() -> None:
    """Only values above 0 have a logarithm; otherwise the axis is linear and begins at 0."""
    assert axes.quantity("latency (µs)", [0.1, 10.0])["scale"]["type"] == "log"
    assert axes.quantity("lost", [0.0, 0.1])["scale"] == {"zero": True}


def test_counts_are_ticks() -> None:
    """A count axis has its ticks where it was measured; over a wide range it is logarithmic."""
    assert axes.counts([1, 2, 3], "pairs")["axis"]["values"] == [1, 2, 3]
    assert axes.counts([1, 64], "workers")["scale"]["type"] == "log"
    assert "type" not in axes.counts([0, 64], "traffic")["scale"]


def test_what_the_legend_hides_is_gone_and_comes_back(findings: Findings) -> None:
    """Without its series, variant or fit a drawing has none of its marks; all else stays."""
    figure = one(findings, "pingpong", "latency-by-size")
    first, second = synthetic.MPIS
    text = marks(svg(figure, hidden=[first]))
    assert hue(figure, first) not in text
    assert hue(figure, second) in text
    fitted = marks(svg(figure, hidden=["asymptotic", "least_squares", "loggp"]))
    assert len(marks(svg(figure, hidden=["asymptotic", "least_squares", "loggp", "piecewise"]))) < len(fitted)
    assert len(marks(svg(figure, hidden=["rotated"]))) < len(marks(svg(figure)))


def test_a_protocol_switch_stands_between_the_sizes_that_show_it(findings: Findings) -> None:
    """The library made to switch at 4096 B has a rule between 2048 and 4096 B; the other at 65536 B."""
    figure = one(findings, "pingpong", "latency-by-size")
    places = {
        name: [each["x"] for each in figure.spec["datasets"]["switches"] if each["s"] == name]
        for name in synthetic.MPIS
    }
    for name, costs in synthetic.MPIS.items():
        assert any(costs.switch / 2 <= place <= costs.switch for place in places[name]), name


def test_fits_lie_on_the_points(findings: Findings) -> None:
    """The piecewise line is within 10 % of each point: what is drawn is the fit, in the axis' unit."""
    data = one(findings, "pingpong", "latency-by-size").spec["datasets"]
    fitted = {
        (each["s"], each["v"], each["x"]): each["y"] for each in data["fits"] if each["f"] == "piecewise"
    }
    close = [fitted[p["s"], p["v"], rounded(p["x"])] / p["y"] for p in data["points"]]
    assert len(close) == 2 * 2 * len(synthetic.SIZES)
    assert np.allclose(close, 1.0, atol=0.1)


def test_points_are_drawn_in_the_axis_unit(findings: Findings) -> None:
    """The 8 B latency of 0.30 µs is drawn at 0.30, within the 4 % by which launches differ here."""
    points = one(findings, "pingpong", "latency-by-size").spec["datasets"]["points"]
    [point] = [p for p in points if (p["s"], p["v"], p["x"]) == ("mpich-4.0.2", "reused", 8)]
    assert point["y"] == pytest.approx(0.30, rel=0.12)
    assert point["lo"] <= point["y"] <= point["hi"]
    assert point["q"].startswith(f"{point['y']:.1f}")


def test_a_meaningless_point_is_hollow(records: pl.DataFrame) -> None:
    """Launches that wait for a processor and scatter make hollow points, and a caption that says so."""
    pingpong = records.filter(pl.col("benchmark") == "pingpong", pl.col("status") == record.OK)
    wild = (pl.col("bytes") == 64) & (pl.col("launch") % 2 == 0)
    disturbed = pingpong.with_columns(
        run_delay=pl.when(wild).then(pl.lit(0.04)).otherwise("run_delay"),
        samples=pl.when(wild).then(pl.col("samples").list.eval(pl.element() * 5)).otherwise("samples"),
    )
    quiet, loud = (one(found(table), "pingpong", "latency-by-size") for table in (pingpong, disturbed))
    assert [p for p in quiet.spec["datasets"]["points"] if "m" in p] == []
    meaningless = [p for p in loud.spec["datasets"]["points"] if "m" in p]
    assert {p["x"] for p in meaningless} == {64}
    assert all("lo" not in p and "[" in p["q"] for p in meaningless)
    assert "Hollow" in loud.caption
    assert "Hollow" not in quiet.caption
    paper = f'fill="{theme.LIGHT["paper"]}"'
    assert paper in marks(svg(loud))
    assert paper not in marks(svg(quiet))


def test_a_band_breaks_where_a_point_has_no_interval() -> None:
    """Intervals with none beside them become bars; the others a band that does not reach across the gap."""
    points: list[dict[str, Any]] = [{"s": "a", "v": "", "lo": 1.0, "hi": 2.0} for _ in range(5)]
    del points[1]["lo"]
    mark_alone(points)
    assert [point.get("a") for point in points] == [1, None, None, None, None]


def test_one_launch_draws_points_without_intervals() -> None:
    """Imported records have one launch: no band, no bar, and no invented interval in the tooltip."""
    findings = found(synthetic.records(launches=1, source=record.IMPORTED, only=["pingpong", "fan"]))
    figure = one(findings, "pingpong", "latency-by-size")
    assert all("lo" not in point and "[" not in point["q"] for point in figure.spec["datasets"]["points"])
    assert "Shaded" not in figure.caption
    assert "<path" in marks(svg(figure))
    assert "launches" not in [figure.name for figure in figures.draw(findings.subject("pingpong"))]


def test_a_series_has_one_colour_in_all_figures(findings: Findings) -> None:
    """Whoever learnt the colours in the first figure can read the last one."""
    colours: dict[str, set[str]] = {}
    for _, figure in drawn(findings):
        for entry in figure.legend:
            if entry.kind == "series" and entry.name in synthetic.MPIS:
                colours.setdefault(entry.name, set()).add(entry.colour)
    # Where operations are the colours, the libraries are dashes.
    assert {name: len(each) for name, each in colours.items()} == dict.fromkeys(synthetic.MPIS, 1)


def test_legends_list_series_in_the_order_of_the_report() -> None:
    """Two runs stand in the order in which they were given, in every legend; libraries by name."""
    runs = [synthetic.records(run=run, launches=2, samples=2, only=["pingpong", "fan"]) for run in ("z", "a")]
    several = found(record.concat(runs))
    order = [f"{mpi} · {run}" for run in ("z", "a") for mpi in sorted(synthetic.MPIS)]
    assert list(several.names.order) == order
    for _, figure in drawn(several):
        assert [entry.name for entry in figure.legend if entry.kind == "series"] == order, figure.name


def test_the_page_draws_no_second_legend(findings: Findings) -> None:
    """Names have their buttons on the page; only the colours of a heat map keep their scale."""
    for _, figure in drawn(findings):
        spec = theme.in_page(figure.spec)
        legends = vl_convert.vegalite_to_vega(spec, vl_version=render.VEGA_LITE).get("legends", [])
        assert len(legends) == (
            "-own-" not in figure.name and figure.name.startswith(("corepairs", "rankpairs"))
        ), figure.name


def test_series_are_named_by_what_differs() -> None:
    """The library is always said; run, stack and placement only where they differ; defaults never."""
    rows = [
        {"mpi": "a", "stack": "default", "placement": "sockets", "run": "x", "source": "measured"},
        {"mpi": "b", "stack": "tcp", "placement": "sockets", "run": "x", "source": "measured"},
    ]
    assert Names.of(rows).order == ("a", "b · tcp")
    assert Names.of(rows[:1]).order == ("a",)
    # What differs only from one benchmark to another makes no two series of one library.
    elsewhere = [rows[0] | {"benchmark": "noise"}, rows[1] | {"benchmark": "fan", "mpi": "a"}]
    assert Names.of(elsewhere).order == ("a",)
    simulated = {**rows[0], "source": "simulated"}
    assert Names.of([rows[0], simulated]).order == ("a", "a · simulated")
    assert Names.of([{"mpi": "unknown", "source": "imported", "run": "x"}]).order == ("imported",)


def test_one_matrix_is_shown_at_a_time(findings: Findings) -> None:
    """Of the choices exactly one is on, and each becomes a file of its own for papers."""
    figure = one(findings, "corepairs", "corepairs-latency")
    choices = [entry for entry in figure.legend if entry.kind == "choice"]
    assert [entry.hidden for entry in choices] == [False, True, True, True]
    names = [name for name, _ in render.on_paper(figure)]
    assert names[0] == "corepairs-latency-mpich-4.0.2-8-b"
    assert len(set(names)) == len(choices)
    drawings = [svg(figure, chosen=entry.name) for entry in choices]
    assert len({marks(text) for text in drawings}) == len(choices)


def test_operations_stand_at_a_size_that_all_have() -> None:
    """The size nearest to 8 B among those that most rows have."""
    rows = [{"bytes": size} for size in (1, 8, 64, 64)]
    assert operations.common_size(rows) == 64
    assert operations.common_size([{"bytes": size} for size in (1, 16)]) == 1
    assert operations.common_size([{"bytes": None}]) is None


def test_the_tail_of_a_distribution_is_counted() -> None:
    """Of 1, 2, 3, 4: all are at or above 1, three quarters at or above 2, a quarter at or above 4."""
    assert noise.beyond([4.0, 2.0, 1.0, 3.0]) == [(1.0, 1.0), (2.0, 0.75), (3.0, 0.5), (4.0, 0.25)]
    assert noise.beyond([0.0, 0.0, 2.0]) == [(2.0, 1 / 3)]
    assert noise.beyond([]) == []


def test_a_machine_without_any_noise_is_drawn_at_zero() -> None:
    """Where no sample is above zero there is no distribution on a logarithmic axis, but there is a value."""
    records = synthetic.records(launches=3, samples=3, only=["noise"])
    quiet = records.with_columns(samples=pl.col("samples").list.eval(pl.element() * 0))
    for figure in figures.draw(found(quiet).subject("noise")):
        assert "<path" in marks(svg(figure)), figure.name


def test_a_long_distribution_is_thinned_and_keeps_its_ends() -> None:
    """A hundred thousand samples become a few hundred steps that still begin and end where the samples do."""
    samples = [float(value) for value in range(1, 100_001)]
    steps = noise.beyond(samples)
    assert len(steps) < 200
    assert steps[0] == (1.0, 1.0)
    assert steps[-1] == (100_000.0, 1e-5)


def test_launches_are_drawn_in_their_order(records: pl.DataFrame, findings: Findings) -> None:
    """A launch's median stands at its ordinal; only the usual variant is drawn."""
    points = one(findings, "pingpong", "launches").spec["datasets"]["points"]
    assert sorted({point["x"] for point in points}) == list(range(9))
    assert len(points) == 9 * len(synthetic.MPIS)
    row = records.filter(
        pl.col("benchmark") == "pingpong",
        pl.col("mpi") == "mpich-4.0.2",
        pl.col("bytes") == 8,
        pl.col("buffers") == "reused",
        pl.col("launch") == 3,
    ).row(0, named=True)
    [drawn_there] = [p["y"] for p in points if (p["s"], p["x"]) == ("mpich-4.0.2", 3)]
    assert drawn_there == pytest.approx(float(np.median(row["samples"][1:])) * 1e6, rel=1e-4)


def test_residuals_are_shares_of_what_was_measured(findings: Findings) -> None:
    """A residual is (measured - fit) / measured of that fit at that size."""
    values = one(findings, "pingpong", "residuals").spec["datasets"]["points"]
    fit = next(f for f in findings.fits if f.name == "asymptotic" and f.series["buffers"] == "reused")
    series = findings.names.series(fit.series)
    at = {v["x"]: v["y"] for v in values if (v["s"], v["v"], v["f"]) == (series, "reused", "asymptotic")}
    expected = (fit.y - fit.predict(fit.x)) / fit.y
    assert [at[x] for x in fit.x] == pytest.approx(expected.tolist(), rel=1e-3, abs=1e-6)


def test_nothing_measured_draws_nothing() -> None:
    """A benchmark whose points were all skipped has no figure, and no failure."""
    subject = Subject("pingpong", [], Names(()))
    assert list(figures.draw(subject)) == []
