"""Is a simulation held against a measurement rightly: paired, judged by its interval, and summed up?"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from leadline.analysis.validate import (
    NO_INTERVAL,
    NOT_MEASURED,
    NOT_SIMULATED,
    OFF,
    WITHIN,
    against,
    overall,
    patterns,
    prepared,
)
from leadline.cli import main
from leadline.core import record
from leadline.core.errors import LeadlineError, UsageError
from leadline.run import store
from planted import failed, frame_of, rows, table

SIZES = (8, 64, 512, 4096)
LAUNCHES = [
    0.96,
    0.98,
    0.99,
    1.0,
    1.01,
    1.02,
    1.04,
]  # of seven launches, whose median's interval is 0.96 to 1.04
SIMULATED: dict[str, Any] = {
    "run": "sim",
    "source": record.SIMULATED,
    "mpi": "here",
    "stack": "auto",
    "mapping": "TX",
    "partition": 2,
}


def measured(**fields: Any) -> pl.DataFrame:
    """Seven launches at four sizes around 1, 2, 3 and 4 us."""
    return table([[1e-6 * k * each for k in (1, 2, 3, 4)] for each in LAUNCHES], SIZES, **fields)


def simulated(factors: Sequence[float], **fields: Any) -> pl.DataFrame:
    """An exact simulation: each size by its factor off the measured median."""
    values = [[1e-6 * (k + 1) * factor for k, factor in enumerate(factors)]]
    return table(values, SIZES, **(SIMULATED | fields))


def test_points_are_paired_whatever_machine_and_network_are_called() -> None:
    """A real run and a simulated one differ in MPI, stack, mapping and partition; the points are the same."""
    found = against(measured(), simulated([1, 1, 1, 1]))
    assert found.get_column("bytes").to_list() == list(SIZES)
    assert found.get_column("verdict").to_list() == [WITHIN] * 4
    assert not {"mpi", "source", "stack", "mapping", "partition"} & set(found.columns)


def test_the_measured_interval_decides() -> None:
    """Launches from 0.96 to 1.04 bound the median: 3 % off lies within, 5 % off does not."""
    found = against(measured(), simulated([1.03, 1.05, 0.97, 0.95]))
    assert found.get_column("verdict").to_list() == [WITHIN, OFF, WITHIN, OFF]
    assert found.get_column("ratio").to_list() == pytest.approx([1.03, 1.05, 0.97, 0.95])
    # The simulation is exact, so the ratio's interval is the measured one turned around.
    assert found.get_column("low").to_list() == pytest.approx([f / 1.04 for f in (1.03, 1.05, 0.97, 0.95)])
    assert found.get_column("high").to_list() == pytest.approx([f / 0.96 for f in (1.03, 1.05, 0.97, 0.95)])


def test_the_whole_is_the_median_and_the_share_within_a_quarter() -> None:
    """Off by 0, 10, 20 and 60 %: the median is 15 %, three of four are near, one is within its interval."""
    found = overall(against(measured(), simulated([1.0, 1.1, 0.8, 1.6])))
    assert found["points"] == 4
    assert found["median_off"] == pytest.approx(0.15)
    assert found["most_off"] == pytest.approx(0.6)
    assert (found["near"], found["within"]) == (0.75, 0.25)
    assert found["bias"] == pytest.approx(0.05)


def test_each_pattern_has_its_own_row() -> None:
    """Ping-pong exact, barrier a third off: two rows, each with its own figure."""
    both = record.concat([measured(), measured(benchmark="barrier")])
    sim = record.concat([simulated([1] * 4), simulated([4 / 3] * 4, benchmark="barrier")])
    found = {row["benchmark"]: row["median_off"] for row in patterns(against(both, sim))}
    assert found == {"pingpong": 0.0, "barrier": pytest.approx(1 / 3)}


def test_a_collective_counts_once_and_what_is_counted_exactly_does_not() -> None:
    """Time and mean of one broadcast are one point of the figures; messages that all agree on are none."""
    of_bcast = {"benchmark": "bcast"}
    count: dict[str, Any] = {"benchmark": "ring", "metric": "messages", "unit": "1"}
    both = record.concat(
        [
            measured(metric="time", **of_bcast),
            measured(metric="mean", **of_bcast),
            table([[4.0] * 4] * 7, SIZES, **count),
        ]
    )
    sim = record.concat(
        [
            simulated([1.2] * 4, metric="time", **of_bcast),
            simulated([1.6] * 4, metric="mean", **of_bcast),
            table([[4.0] * 4], SIZES, **count, **SIMULATED),
        ]
    )
    found = against(both, sim)
    assert found.height == 12
    assert [(row["metric"], row["points"]) for row in patterns(found)] == [("time", 4)]
    assert overall(found)["median_off"] == pytest.approx(0.2)


def test_a_count_that_differs_is_an_error_like_any_other() -> None:
    """Five messages where four were counted."""
    count: dict[str, Any] = {"benchmark": "ring", "metric": "messages", "unit": "1"}
    found = against(table([[4.0] * 4] * 7, SIZES, **count), table([[5.0] * 4], SIZES, **count, **SIMULATED))
    assert overall(found)["points"] == 4


def test_a_noisy_simulation_counts_its_own_launches() -> None:
    """Seven launches a side with the same spread: the ratio's interval is wider than with an exact one."""
    noisy = table([[1e-6 * k * each for k in (1, 2, 3, 4)] for each in LAUNCHES], SIZES, **SIMULATED)
    wide = against(measured(), noisy).row(0, named=True)
    assert wide["verdict"] == WITHIN
    assert wide["low"] < 1 < wide["high"]


def test_points_of_one_side_are_told_and_not_counted() -> None:
    """A size that failed on the simulator and one that was never measured have verdicts and no ratio."""
    sim = frame_of([*rows([[1e-6]], [8], **SIMULATED), failed(64, 0, "it fell", **SIMULATED)])
    sim = record.concat([sim, table([[9e-6]], [1 << 20], **SIMULATED)])
    found = {row["bytes"]: row for row in against(measured(), sim).iter_rows(named=True)}
    assert found[64]["verdict"] == NOT_SIMULATED
    assert "it fell" in found[64]["reason"]
    assert found[512]["verdict"] == NOT_SIMULATED
    assert found[1 << 20]["verdict"] == NOT_MEASURED
    assert overall(against(measured(), sim))["points"] == 1


def test_one_launch_gives_no_interval_and_no_verdict() -> None:
    """A ratio without an interval is shown, and counted in the median, but it is neither within nor off."""
    once = table([[1e-6] * 4], SIZES)
    found = against(once, simulated([1, 1, 1, 1]))
    assert set(found.get_column("verdict")) == {NO_INTERVAL}
    assert (overall(found)["points"], overall(found)["within"]) == (4, None)


def test_several_mpis_must_be_chosen_from() -> None:
    """A run of two MPIs is two machines: the sentence names both and what chooses."""
    both = record.concat([measured(), measured(mpi="mpich-4.0.2")])
    with pytest.raises(UsageError, match=r"mpich-4.0.2 and openmpi-4.1.4.*--where mpi="):
        prepared(both)
    assert prepared(both, ["mpi=mpich"]).get_column("mpi").unique().to_list() == ["mpich-4.0.2"]


def test_a_simulation_is_no_measurement(tmp_path: Path) -> None:
    """Its values passed as measured ones, and the verdict was of two simulations."""
    with pytest.raises(UsageError, match="the run was simulated, on here, not measured"):
        prepared(simulated([1, 1, 1, 1]))
    mixed = prepared(pl.concat([measured(), simulated([9, 9, 9, 9])], how="diagonal_relaxed"))
    assert record.SIMULATED not in mixed.get_column("source").to_list()
    a = saved(tmp_path, "a", simulated([1, 1, 1, 1]))
    told = CliRunner().invoke(main, ["validate", a, a])
    assert told.exit_code == 2
    assert (
        f"{a} was simulated, on here, not measured; 'leadline compare' compares two simulated runs"
        in told.output
    )


def test_what_holds_nothing_is_refused() -> None:
    """A run without a measured point, and a second run that was not simulated, are no comparison."""
    nothing = frame_of([failed(8, 0, "it fell")])
    with pytest.raises(LeadlineError, match="no point with a result"):
        prepared(nothing)
    with pytest.raises(UsageError, match=r"one simulated machine .* but got none"):
        against(measured(), measured())


def saved(tmp_path: Path, name: str, records: pl.DataFrame) -> str:
    """A record file."""
    path = tmp_path / f"{name}.parquet"
    store.write_parquet(records, path, {})
    return str(path)


def test_the_verb_prints_points_patterns_and_the_whole(tmp_path: Path) -> None:
    """A person reads each ratio with its interval and one sentence; a program gets the same as rows."""
    a, b = saved(tmp_path, "a", measured()), saved(tmp_path, "b", simulated([1.0, 1.1, 0.8, 1.6]))
    told = CliRunner().invoke(main, ["against", a, b])
    assert told.exit_code == 0, told.output
    assert "off by +60 %" in told.output
    assert "within the interval" in told.output
    whole = next(line for line in told.output.splitlines() if line.startswith("4 points"))
    assert [word for word in whole.split() if word[0].isdigit()] == ["4", "15", "75", "25", "25"]
    listed = json.loads(CliRunner().invoke(main, ["against", a, b, "--json"]).stdout)
    assert [row["of"] for row in listed] == ["point"] * 4 + ["pattern", "all"]
    assert listed[-1]["median_off"] == pytest.approx(0.15)


def test_runs_without_a_common_point_are_refused(tmp_path: Path) -> None:
    """Nothing compared must not look like nothing wrong."""
    a, b = saved(tmp_path, "a", measured()), saved(tmp_path, "b", simulated([1] * 4, benchmark="barrier"))
    told = CliRunner().invoke(main, ["against", a, b])
    assert told.exit_code == 1
    assert "no point in common" in told.output


HALF_MICROSECOND = """
title = "Two cores, half a microsecond apart"
[topology]
kind = "single"
[node]
source = "chosen"
cores = 2
ranks = 2
local_latency = "300 ns"
[[protocol]]
name = "eager"
source = "chosen"
send_overhead = "100 ns"
receive_overhead = "100 ns"
"""
PINGPONG = """
[[measure]]
benchmark = "pingpong"
placement = "core-group"
buffers = "reused"
bytes = [8, 64]
"""


def test_a_simulated_run_says_at_its_end_how_far_off_it_is(tmp_path: Path) -> None:
    """A ping-pong of 100 + 300 + 100 ns, against one measured at 0.5 us and at 1 us: exact, and half."""
    (tmp_path / "half.toml").write_text(HALF_MICROSECOND)
    (tmp_path / "pair.toml").write_text(PINGPONG)
    both = [table([[0.5e-6 * each, 1e-6 * each] for each in LAUNCHES], (8, 64), buffers="reused")]
    both.append(table([[9e-6, 9e-6]], (8, 64), buffers="reused", mpi="mpich-4.0.2"))
    run = saved(tmp_path, "real", record.concat(both))
    asked = ["run", str(tmp_path / "pair.toml"), "--on", str(tmp_path / "half.toml"), "--against", run]
    unclear = CliRunner().invoke(main, [*asked, "-o", str(tmp_path / "never")])
    assert unclear.exit_code == 2
    assert not (tmp_path / "never").exists()  # refused before anything is simulated
    told = CliRunner().invoke(main, [*asked, "-w", "mpi=openmpi", "-o", str(tmp_path / "sim"), "--json"])
    assert told.exit_code == 0, told.output
    listed = json.loads(told.stdout)
    assert [row["simulated"] for row in listed[:2]] == pytest.approx([0.5e-6, 0.5e-6])
    assert [row["verdict"] for row in listed[:2]] == [WITHIN, OFF]
    assert listed[-1]["median_off"] == pytest.approx(0.25)
    assert "2 points simulated" in told.stderr


@pytest.mark.parametrize(
    ("option", "said"),
    [(["--against", "RUN"], "--on"), (["--json"], "--against")],
)
def test_only_a_simulation_is_held_against_a_run(tmp_path: Path, option: list[str], said: str) -> None:
    """--against without --on, and what belongs to it without it, are refused in a sentence."""
    run = saved(tmp_path, "real", measured())
    told = CliRunner().invoke(main, ["run", "quick", *(run if word == "RUN" else word for word in option)])
    assert told.exit_code == 2
    assert said in told.output
