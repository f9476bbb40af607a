"""The first screen says what was planted, compares only what is apart, and says what is in doubt."""

import re
from pathlib import Path

import polars as pl
import pytest

from leadline.core import record, units
from leadline.core.formatting import formatted, next_launch
from leadline.report import verdicts
from leadline.report.costs import best, costs
from leadline.report.digest import digest
from leadline.report.page import Findings

from . import synthetic
from .conftest import found
from .reading import Reader, written


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
    assert re.match(r"(±|-[\d.]+ % to \+)[\d.]+ %", told["next launch"].note)


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
    assert "mpich-4.2.0 cannot be distinguished from it" in latency
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
    assert "too wide to use" in said
    assert re.search(r"too noisy to use \d+ ", said)


def test_a_quiet_run_is_called_so(reader: Reader) -> None:
    """Nothing was planted that disturbs: no point is marked."""
    assert "The machine was quiet." in reader.text
    assert "too noisy" not in reader.text
    assert "too wide" not in reader.text


def test_a_confidence_that_falls_short_is_said() -> None:
    """Three launches reach 75 %; a reader who expects 95 % is told."""
    assert formatted(1e-6, "s", 0.9e-6, 1.1e-6, confidence=0.75).note == "at 75 %"
    assert formatted(1e-6, "s", 0.9e-6, 1.1e-6, confidence=0.969).note == ""
    row = {"value": 1e-6, "unit": "s", "next_low": 0.9e-6, "next_high": 1.1e-6, "next_confidence": 0.5}
    assert (next_launch(row).value, next_launch(row).note) == ("[0.9, 1.1] µs", "at 50 %")
    assert next_launch(row | {"next_low": None}).value == units.MISSING


def test_a_run_without_a_ping_pong_tells_examples_of_what_it_has() -> None:
    """Of a hot spot it has the point nearest to 8 B, with unit and interval."""
    said = digest(synthetic.records("hotspots", only={"hotspot"}), [])
    assert {card.name for card in said.costs} == set(synthetic.MPIS)
    for card in said.costs:
        assert [fact.name for fact in card.facts] == ["hotspot at 8 B"]
        assert all(re.fullmatch(r"[\d.]+ (ns|µs|ms)", fact.told[0].value) for fact in card.facts)
        assert all(re.fullmatch(r"\[[\d.]+, [\d.]+\]", fact.told[0].interval) for fact in card.facts)
