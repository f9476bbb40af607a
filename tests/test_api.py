"""`import leadline` for programs and notebooks: runs, records, answers, and what a notebook shows of them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import leadline
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.record import SIMULATED
from leadline.run import session

PINGPONG = {"benchmark": "pingpong", "bytes": ["8 B", "1 MiB"], "buffers": "reused"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> leadline.Run:
    """Two sizes of a ping-pong on a described machine."""
    plan = leadline.Plan.of(PINGPONG, name="two", time="10 s")
    return leadline.run(plan, "bgp", tmp_path_factory.mktemp("api") / "two", ranks=64)


def test_the_package_loads_nothing_before_it_is_used() -> None:
    """`import leadline` is what every command begins with; a room of the same name hides no function."""
    code = (
        "import sys, leadline; assert 'polars' not in sys.modules\n"
        "import leadline.run.store, leadline.report\n"
        "assert leadline.run.__name__ == 'run' and callable(leadline.run) and callable(leadline.report)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_plan_made_in_python_runs_on_a_described_machine(run: leadline.Run) -> None:
    """Its records are a frame; the directory holds the plan as text, which reads as the same plan again."""
    assert run.records["bytes"].unique().sort().to_list() == [8, 1 << 20]
    assert set(run.records["source"]) == {SIMULATED}
    assert run.plan.measures[0].sweeps == {"bytes": (8, 1 << 20), "buffers": ("reused",)}
    assert run.plan.time == 10
    again = leadline.load(run.path)
    assert again.records.equals(run.records)
    assert again.provenance["simulated"]["partition"] == 64


def test_a_summary_has_numbers_in_si_and_words_with_units(run: leadline.Run) -> None:
    """A row a point and metric; the notebook's table has a unit beside each number."""
    found = leadline.summary(run)
    latency = found.frame.filter((pl.col("metric") == "latency") & (pl.col("bytes") == 8))
    assert latency["unit"].to_list() == ["s"]
    assert 1e-7 < latency["value"][0] < 1e-3
    assert "<td>1 MiB</td>" in found._repr_html_()
    assert str(found).splitlines()[1].endswith("s")
    assert "bgp" in run._repr_html_() or "Blue Gene" in run._repr_html_()


def test_a_run_compares_equal_to_itself(run: leadline.Run) -> None:
    """No point is slower or faster, in the frame and in what is shown."""
    found = leadline.compare(run, str(run.path))
    assert set(found.frame["verdict"]) == {"unchanged"}
    assert len(found.shown) == found.frame.height


def test_a_fit_gives_parameters_with_units(run: leadline.Run, tmp_path: Path) -> None:
    """Two sizes determine latency and bandwidth; the models predict."""
    sizes = {**PINGPONG, "bytes": ["1 KiB", "4 KiB", "64 KiB", "1 MiB", "4 MiB"]}
    more = leadline.run(leadline.Plan.of(sizes, name="sizes"), "bgp", tmp_path / "sizes", ranks=64)
    found = leadline.fit(more, names=["asymptotic"])
    assert {"s", "B/s"} <= set(found.frame["unit"])
    assert found.models[0].predict(found.models[0].x)[-1] > 0
    with pytest.raises(UsageError):
        leadline.fit(run, names=["no such"])


def test_nothing_fitted_is_an_empty_frame_with_columns(run: leadline.Run) -> None:
    """Two sizes are too few; what filters by column does not fail."""
    found = leadline.fit(run, names=["piecewise"]).frame
    assert found.filter(pl.col("fit") == "piecewise").select("parameter", "value", "unit").is_empty()


def test_a_report_is_a_page(run: leadline.Run, tmp_path: Path) -> None:
    """Its path is the answer."""
    assert leadline.report(run, path=tmp_path / "page.html").stat().st_size > 0


def test_machines_are_found_by_name() -> None:
    """Each can be given to `run`."""
    assert leadline.machines()["bgp"].max_ranks > 0


@pytest.mark.parametrize(
    ("measure", "keys", "names"),
    [
        ({"benchmark": "pingpnog"}, {}, ("measure 1 of mine", "pingpong")),
        ({**PINGPONG, "bytez": 8}, {}, ("measure 1 of mine", "bytes")),
        (PINGPONG, {"tolerence": 0.1}, ("mine", "tolerance")),
        (PINGPONG, {"headline": {"benchmark": "pingpong", "share": 2}}, ("headline 1 of mine", "share")),
    ],
)
def test_a_wrong_plan_names_the_measure_and_the_key(
    measure: dict[str, object], keys: dict[str, Any], names: tuple[str, ...]
) -> None:
    """As a plan's file is refused with its line."""
    with pytest.raises(UsageError) as told:
        leadline.Plan.of(measure, name="mine", **keys)
    assert all(name in str(told.value) for name in names)


def test_what_is_not_there_is_one_sentence(tmp_path: Path, run: leadline.Run) -> None:
    """A run that is missing, a directory that is taken, a machine that is unknown."""
    with pytest.raises(LeadlineError):
        leadline.load(tmp_path / "nothing")
    with pytest.raises(UsageError, match=r"there is no run in .*: it has no plan\.toml"):
        session.plan_of(tmp_path)
    with pytest.raises(LeadlineError, match="already exists; name another directory, or resume its run"):
        leadline.run(run.plan, "bgp", run.path)
    with pytest.raises(LeadlineError, match="unknown MPI 'opnmpi'; did you mean 'openmpi'"):
        leadline.run(leadline.Plan.of(PINGPONG, mpi="opnmpi"), "bgp", tmp_path / "run")
    with pytest.raises(LeadlineError):
        leadline.run(run.plan, "bgpp", tmp_path / "run")


def test_a_plan_loads_from_a_path_as_text_too(tmp_path: Path) -> None:
    """As docs/python.md has it: `Plan.load("first.toml")`; a file that is missing is one sentence."""
    (tmp_path / "first.toml").write_text('time = "9 s"\n[[measure]]\nbenchmark = "pingpong"\n')
    assert leadline.Plan.load(str(tmp_path / "first.toml")).time == 9
    with pytest.raises(UsageError, match="No such file"):
        leadline.Plan.load("no-such.toml")


@pytest.mark.parametrize("measure", ["pingpong", [PINGPONG], 8, None])
def test_a_measurement_that_is_no_mapping_is_refused(measure: Any) -> None:
    """Neither a benchmark's name alone nor a list of measurements is a measurement."""
    with pytest.raises(UsageError, match="mine: each measurement is a mapping"):
        leadline.Plan.of(measure, name="mine")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ranks": 4}, "ranks needs a described machine"),
        ({"network": "packet", "noise": True}, "network and noise need a described machine"),
        ({"mapping": "TXYZ"}, "mapping needs a described machine"),
        ({"point_limit": 5.0}, "point_limit needs a described machine"),
        ({"on": "bgp", "ranks": "4"}, "ranks is a whole number, 1 or more, but got '4'"),
        ({"on": "bgp", "seed": "a"}, "seed is a whole number, but got 'a'"),
        ({"on": "bgp", "point_limit": -1}, "point_limit is a number of seconds above 0, but got -1"),
        ({"on": "bgp", "point_limit": "1 s"}, "point_limit is a number of seconds above 0, but got '1 s'"),
        ({"on": 3}, "on is the name or file of a described machine, or a Machine, but got 3"),
        ({"on": "bgp", "network": "pakcet"}, "unknown network model 'pakcet'; did you mean 'packet'?"),
    ],
)
def test_options_that_cannot_hold_are_refused(options: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    """As `leadline run` refuses them; nothing is measured, and no directory is made."""
    with pytest.raises(UsageError, match=sentence.replace("?", r"\?")):
        leadline.run(leadline.Plan.of(PINGPONG, time="1 s"), path=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_a_single_name_needs_no_list_and_a_threshold_may_be_a_text(run: leadline.Run) -> None:
    """A text was read letter by letter, and "5 %" was a TypeError."""
    assert {each.name for each in leadline.fit(run, names="asymptotic").models} <= {"asymptotic"}
    found = leadline.compare(run, run, threshold="5 %", benchmarks="pingpong", across="mpi")
    assert found.frame.height == 2
    with pytest.raises(UsageError, match="a fraction is a number"):
        leadline.compare(run, run, threshold="five")
