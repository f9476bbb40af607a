"""`leadline fit`: what a person and a program get from it."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from analysis.fits.known import hockney, loggp, pingpong
from leadline.cli.fit import command
from leadline.core.errors import LeadlineError, UsageError
from leadline.run import store


@pytest.fixture
def run(tmp_path: Path) -> str:
    """A record file with all that the fits need."""
    store.write_parquet(loggp(between=0.05), tmp_path / "run.parquet", {})
    return str(tmp_path / "run.parquet")


def test_parameters_are_shown_with_units_and_intervals(run: str) -> None:
    """L is 200 ns, 5 % between launches; the notes of a fit stand below the table."""
    shown = CliRunner().invoke(command, [run])
    assert shown.exit_code == 0
    (line,) = [line for line in shown.output.splitlines() if "latency L" in line]
    assert line.startswith("openmpi-4.1.4  loggp")
    assert " µs [0." in line
    assert (
        "loggp, openmpi-4.1.4: L and o at 1 B; g at 1 B, window 64; G over 512 KiB to 4 MiB." in shown.output
    )


def test_json_has_a_row_a_parameter(run: str) -> None:
    """SI numbers, the series' keys beside them, and only the fit that was asked for."""
    rows = json.loads(CliRunner().invoke(command, [run, "--fit", "asymptotic", "--json"]).output)
    assert [row["parameter"] for row in rows] == ["latency", "bandwidth", "half-bandwidth size"]
    assert {row["fit"] for row in rows} == {"asymptotic"}
    assert rows[0]["low"] < rows[0]["value"] < rows[0]["high"]
    assert (rows[0]["mpi"], rows[0]["unit"]) == ("openmpi-4.1.4", "s")


def test_the_previous_name_of_a_fit_is_read(run: str) -> None:
    """`ends` is `asymptotic`; the name that is printed is the new one."""
    rows = json.loads(CliRunner().invoke(command, [run, "--fit", "ends", "--json"]).output)
    assert {row["fit"] for row in rows} == {"asymptotic"}


def test_several_runs_are_told_apart(tmp_path: Path, run: str) -> None:
    """A second file of another MPI is a second series, named by what differs."""
    other = pingpong(hockney(1e-6, 1e10)).with_columns(mpi=pl.lit("mpich-4.0.2"))
    store.write_parquet(other, tmp_path / "other.parquet", {})
    shown = CliRunner().invoke(command, [run, str(tmp_path / "other.parquet"), "--fit", "least_squares"])
    assert "openmpi-4.1.4  least_squares  latency" in shown.output
    assert "mpich-4.0.2    least_squares  latency" in shown.output


def test_a_fit_that_lacks_everything_is_a_row_with_its_notes(tmp_path: Path) -> None:
    """LogGP of a ping-pong alone: JSON says what is missing, with no number made up."""
    store.write_parquet(pingpong(hockney(1e-6, 1e10)), tmp_path / "run.parquet", {})
    (row,) = json.loads(
        CliRunner().invoke(command, [str(tmp_path / "run.parquet"), "--fit", "loggp", "--json"]).output
    )
    assert row["value"] is None
    assert "g and G cannot be estimated: the run lacks bandwidth (message_rate)" in row["notes"]


def test_nothing_to_fit_is_said_in_a_sentence(tmp_path: Path, run: str) -> None:
    """A run of two sizes of something else, and a fit that there is not."""
    store.write_parquet(
        pingpong(hockney(1e-6, 1e10), [8, 16]).with_columns(benchmark=pl.lit("corepairs")),
        tmp_path / "few.parquet",
        {},
    )
    with pytest.raises(LeadlineError, match="pingpong"):
        CliRunner().invoke(command, [str(tmp_path / "few.parquet")], catch_exceptions=False)
    with pytest.raises(UsageError, match="unknown fit 'end'"):
        CliRunner().invoke(command, [run, "--fit", "end"], catch_exceptions=False)
