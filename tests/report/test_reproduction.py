"""The page of a reproduced paper, from the records of toy machines: every claim and every figure is on it."""

from pathlib import Path

import pytest

from leadline.papers import page, paper
from leadline.papers.figures import draw, members
from leadline.papers.outcome import judge
from leadline.papers.page import claim_rows
from papers import toy

from .reading import Reader

PAPERS = sorted(paper.shipped())


def written(name: str, tmp_path: Path) -> Reader:
    """The page of a paper on its toy machine, read."""
    read, results = paper.find(name), toy.results(toy.POINTS[name]())
    made = page.write(read, results, judge(read, results), [{"run": "toy"}], tmp_path / f"{name}.html")
    return Reader(made.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PAPERS)
def test_every_figure_file_draws_something(name: str) -> None:
    """No figure of a paper is left without points by a plan that gives its claims their values."""
    drawn = draw(name, toy.results(toy.POINTS[name]()).rows)
    assert [each.number for each in drawn] == list(members(name))
    parts = [part for each in drawn for part in each.parts]
    assert len({part.name for part in parts}) == len(parts)
    for part in parts:
        assert part.spec["datasets"]["points"], part.name


def test_figures_without_points_are_left_out() -> None:
    """A run of half a paper's plan has half its figures."""
    rows = [row for row in toy.bgp() if row["benchmark"] in ("fan", "pingpong")]
    assert [each.number for each in draw("bgp", toy.results(rows).rows)] == ["2", "7"]


def test_degradation_is_that_over_one_hop() -> None:
    """47 further hops of 58 ns on 2.8 us are 97 %, and figure 4 says so."""
    (figure,) = draw("bgp", toy.results([r for r in toy.bgp() if r["benchmark"] == "distance"]).rows)
    points = figure.parts[0].spec["datasets"]["points"]
    (farthest,) = (p["y"] for p in points if p["x"] == 48 and p["s"] == "0 B")
    assert farthest == pytest.approx(100 * 47 * toy.HOP / toy.LATENCY, rel=1e-4)


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_has_every_claim_and_needs_nothing_else(name: str, tmp_path: Path) -> None:
    """Each claim is named with its state; nothing is loaded from elsewhere, and every link has its place."""
    reader = written(name, tmp_path)
    for each in paper.find(name).claims:
        assert each.id in reader.text
    assert "reached" in reader.text
    assert [load for load in reader.loads if load != "data:,"] == []
    assert {link.removeprefix("#") for link in reader.links} <= set(reader.ids)


def test_a_missed_claim_stands_with_its_reason() -> None:
    """Its row says that it was missed, and what was needed and not there."""
    rows = {row.id: row for row in claim_rows(judge(paper.find("bgp"), toy.results([])))}
    assert rows["bgp.fan.in"].state == "missed"
    assert "the run has no point of fan" in rows["bgp.fan.in"].why
    assert "the run has no point of bcast" in rows["bgp.bcast.sub"].why
