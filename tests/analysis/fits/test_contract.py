"""What every fit keeps to, whichever it is: found by discovery, so a new one is held to it as well."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from analysis.fits.known import loggp
from leadline.analysis import fits
from leadline.core import record
from leadline.core.errors import UsageError
from planted import frame_of

ALL = fits.names()


def fit(name: str, records: pl.DataFrame) -> fits.Fit:
    """The one fit of that name of the one series."""
    found = fits.fit_all(records, [name])
    assert len(found) == 1
    return found[0]


@pytest.fixture(scope="module")
def records() -> pl.DataFrame:
    """Eight launches that differ by 10 %, of every benchmark that some fit needs."""
    return loggp(between=0.1)


def test_fits_are_the_files_of_their_folder() -> None:
    """One file a fit; those that begin with an underscore are what they share."""
    folder = Path(fits.__file__).parent
    assert sorted(p.stem for p in folder.glob("[!_]*.py")) == ALL
    assert {"least_squares", "asymptotic", "piecewise", "loggp"} <= set(ALL)


def test_a_new_file_is_a_new_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module put into the folder is listed and used, and nothing else is edited."""
    (tmp_path / "added.py").write_text("QUESTION = 'Is it found?'\ndef fit(records):\n    yield 'fitted'\n")
    monkeypatch.setattr(fits, "__path__", [*fits.__path__, str(tmp_path)])
    assert "added" in fits.names()
    assert fits.fit_all(frame_of([]), ["added"]) == ["fitted"]  # type: ignore[comparison-overlap]
    assert fits.question("added") == "Is it found?"


def test_an_unknown_fit_is_refused_with_the_nearest() -> None:
    """A name that is none, and what was probably meant."""
    with pytest.raises(UsageError, match="unknown fit 'pieces'; did you mean 'piecewise'"):
        fits.fit_all(frame_of([]), ["pieces"])


@pytest.mark.parametrize("name", ALL)
def test_a_fit_asks_one_question(name: str) -> None:
    """Its question is a sentence of one line that ends with a question mark."""
    assert fits.question(name).endswith("?")
    assert "\n" not in fits.question(name)


@pytest.mark.parametrize("name", ALL)
def test_nothing_gives_no_fit(name: str) -> None:
    """An empty table, and one without sizes, hold no series."""
    assert fits.fit_all(frame_of([]), [name]) == []


@pytest.mark.parametrize("name", ALL)
def test_a_fit_holds_together(name: str, records: pl.DataFrame) -> None:
    """Its curve, residuals and series agree with its data; every parameter has a unit and an interval
    around it.
    """
    found = fit(name, records)
    assert found.name == name
    assert found.x.shape == found.y.shape == found.residuals.shape
    assert (np.diff(found.x) > 0).all()
    assert found.residuals == pytest.approx(found.y - found.predict(found.x))
    assert found.series["mpi"] == "openmpi-4.1.4"
    assert found.parameters
    for each in found.parameters:
        assert each.unit in {"s", "B/s", "B", "s/B"}
        assert each.low is not None
        assert each.high is not None
        assert each.low <= each.value <= each.high
        assert each.flag is None
        assert found.parameter(each.name) is each
    assert found.parameter("no such name") is None


@pytest.mark.parametrize("name", ALL)
def test_the_same_records_give_the_same_fit_in_any_order(name: str, records: pl.DataFrame) -> None:
    """Drawing launches has a fixed seed, and the order of rows means nothing."""
    shuffled = records.sample(fraction=1.0, shuffle=True, seed=1)
    assert fit(name, shuffled).parameters == fit(name, records).parameters


@pytest.mark.parametrize("name", ALL)
def test_a_machine_twice_as_slow_has_twice_the_times(name: str, records: pl.DataFrame) -> None:
    """Times and times per byte double, bandwidths halve, sizes stay, intervals with them: units are as
    stated.
    """
    power = {"s": 2.0, "s/B": 2.0, "B/s": 0.5, "B": 1.0}
    slow, fast = fit(name, loggp(between=0.1, slower=2.0)), fit(name, records)
    for before, after in zip(fast.parameters, slow.parameters, strict=True):
        factor = power[before.unit]
        assert (after.name, after.unit) == (before.name, before.unit)
        numbers = [(before.value, after.value), (before.low, after.low), (before.high, after.high)]
        for old, new in numbers:
            assert old is not None
            assert new == pytest.approx(old * factor, rel=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_one_launch_gives_parameters_without_intervals(name: str) -> None:
    """Nothing is known of what differs between launches, and the fit says so."""
    found = fit(name, loggp(launches=1))
    assert {(each.low, each.high) for each in found.parameters if each.unit != "B"} == {(None, None)}
    assert "one launch: no intervals" in found.notes


@pytest.mark.parametrize("name", ALL)
def test_few_launches_are_said_to_reach_less(name: str) -> None:
    """Four launches: about 1 - 2^-3 = 88 %."""
    assert "4 launches: the intervals reach about 88 % only" in fit(name, loggp(4, between=0.1)).notes


@pytest.mark.parametrize("name", ALL)
def test_a_size_with_fewer_launches_decides(name: str) -> None:
    """Where the longest messages have one launch, nothing has an interval, however many the others have."""
    whole = loggp(between=0.1)
    longest = whole.filter(pl.col("benchmark") == "pingpong")["bytes"].max()
    found = fit(name, whole.filter((pl.col("bytes") != longest) | (pl.col("launch") == 0)))
    assert {(each.low, each.high) for each in found.parameters if each.unit != "B"} == {(None, None)}
    assert any(note.startswith("one launch of ") for note in found.notes)


@pytest.mark.parametrize("name", ALL)
def test_series_are_fitted_apart(name: str, records: pl.DataFrame) -> None:
    """Two placements are two series, each told by its own key."""
    both = record.concat([records, records.with_columns(placement=pl.lit("sockets"))])
    found = fits.fit_all(both, [name])
    assert [each.series["placement"] for each in found] == ["core-group", "sockets"]
    assert found[0].parameters == found[1].parameters


@pytest.mark.parametrize("name", ALL)
def test_points_that_were_not_run_are_left_out(name: str, records: pl.DataFrame) -> None:
    """A failed launch adds nothing, and one that measured only 8 B takes part there."""
    failure = records.head(1).with_columns(status=pl.lit(record.FAILED), launch=pl.lit(99, dtype=pl.Int64))
    partial = records.filter((pl.col("launch") == 0) & (pl.col("bytes") == 8)).with_columns(
        launch=pl.lit(50, dtype=pl.Int64)
    )
    found = fit(name, record.concat([records, failure, partial]))
    assert found.x.size == fit(name, records).x.size
    assert all(math.isfinite(each.value) for each in found.parameters)
