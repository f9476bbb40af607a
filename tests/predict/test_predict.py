"""Every prediction is found by its file; the Jacobi solver's formula gives the source's rows; rings break."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

from analysis.fits.known import hockney, pingpong
from leadline import machine, predict
from leadline.cli import main
from leadline.core import record
from leadline.core.errors import UsageError
from leadline.plan.model import Plan
from leadline.predict import _jacobi_runs, jacobi, ring, sum3d
from planted import frame_of

Array = NDArray[np.float64]

ROOM = Path(predict.__file__).parent


def said(*words: str) -> Result:
    """What `leadline predict` says."""
    return CliRunner().invoke(main, ["predict", *words])


def test_predictions_are_the_files_of_their_folder() -> None:
    """One file a prediction; those that begin with an underscore are what they share."""
    assert predict.names() == sorted(path.stem for path in ROOM.glob("[!_]*.py"))


@pytest.mark.parametrize("name", predict.names())
def test_each_has_help_and_options_with_a_meaning(name: str) -> None:
    """The first line says what is predicted; no option comes twice, none without a sentence."""
    model = predict.find(name)
    assert model.about.partition("\n")[0].endswith(".")
    assert len({option.name for option in model.options}) == len(model.options)
    assert all(option.help for option in model.options)
    assert said(name, "--help").exit_code == 0


def test_an_unknown_prediction_is_refused_with_the_nearest() -> None:
    """A name that is none, and what was probably meant; exit code 2."""
    with pytest.raises(UsageError, match="no 'jacobbi' to predict; did you mean 'jacobi'"):
        predict.find("jacobbi")
    assert said("jacobbi").exit_code == 2


# ------------------------------------------------------------------------------------------------ jacobi


def test_the_formula_by_hand() -> None:
    """Two ranks of 10^3 points: two sides of 100 numbers out and in, 3,200 B at 1 GB/s, and two latencies."""
    model = jacobi.Model(edge=10, grid=(2, 1, 1), serial=1e-3, latency=1e-6, bandwidth=1e9)
    assert (model.ranks, model.sides, model.halo) == (2, 2, 3200)
    assert model.communication == pytest.approx(3.2e-6 + 2e-6)
    assert model.performance == pytest.approx(2000 / (1e-3 + 5.2e-6))
    assert model.slowdown(model.performance) == pytest.approx(1.0052)


@pytest.mark.parametrize("row", jacobi.measured(), ids=lambda row: f"{row.table}-{row.grid}")
def test_every_row_of_the_source_is_reproduced(row: jacobi.Measured) -> None:
    """Model and volume of tables IV to XI from the described machine's own numbers."""
    model = jacobi.on_machine(machine.load(row.machine), row.grid, row.placement, jacobi.EDGE)
    assert model.performance == pytest.approx(row.model, rel=1e-4)
    assert model.halo == pytest.approx(row.halo, rel=1e-9)


def test_a_point_is_told_with_what_was_measured_there() -> None:
    """The formula's row, in SI units, and the source's measurement."""
    words = ["--on", "orfeo-thin", "--ranks", "12", "--grid", "3x2x2", "--placement", "socket", "--json"]
    rows = {each["from"].partition(",")[0]: each for each in json.loads(said("jacobi", *words).output)}
    assert rows["formula"]["serial"] == pytest.approx(15.3276, rel=1e-5)
    assert rows["formula"]["latency"] == pytest.approx(0.21e-6)
    assert rows["formula"]["bandwidth"] == pytest.approx(6155e6)
    assert rows["formula"]["slowdown"] == pytest.approx(1.001, abs=5e-4)
    assert rows["measured"]["performance"] == pytest.approx(1310.58e6)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--grid", "3y2"], "a grid is written like 3x2x2, but got '3y2'"),
        (["--grid", "3x2x2", "--ranks", "13"], "a grid of 3x2x2 has 12 ranks, but got --ranks 13"),
        (["--ranks", "0"], "--ranks: this is a whole number, 1 or more, but got '0'"),
        (["--ranks", "49"], "has 1 to 48 ranks"),
        ([], "give the ranks with --ranks N"),
        (["--ranks", "2", "--placement", "near"], "'near'"),
        (["--ranks", "2", "--on", "orfeo-thick"], "did you mean 'orfeo-thin'"),
        (["--ranks", "2", "--on", "bgl", "--placement", "sockets"], "has one socket"),
        (["--ranks", "7", "--on", "bgp", "--placement", "socket"], "a socket of bgp has 4"),
        (["--ranks", "25", "--placement", "sockets"], "a node of orfeo-thin has 24"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], sentence: str) -> None:
    """What was wrong and what was got; a usage error."""
    told = said("jacobi", *words)
    assert told.exit_code == 2
    assert sentence in told.output


# ------------------------------------------------------------------------------------------------- ring


def turn(ranks: Array) -> Array:
    """A step of 0.6 us up to 12 ranks, of 1.0 us up to 24, of 2.0 us beyond."""
    return ranks * np.where(ranks <= 12, 0.6e-6, np.where(ranks <= 24, 1e-6, 2e-6))


def test_pieces_of_a_ring_are_found() -> None:
    """Three, where they are, each with half its slope, and an interval from launches that scatter by 2 %."""
    counts = list(range(2, 49))
    times = turn(np.array(counts)) * np.random.default_rng(1).lognormal(0, 0.02, (8, 1))
    found = ring.pieces(counts, times)
    assert [(each.first, each.last) for each in found] == [(2, 12), (13, 24), (25, 48)]
    for each, latency in zip(found, (0.3e-6, 0.5e-6, 1e-6), strict=True):
        assert each.latency == pytest.approx(latency, rel=0.03)
        assert each.low is not None
        assert each.high is not None
        assert each.low <= each.latency <= each.high


def test_a_ring_without_breaks_has_one_piece() -> None:
    """From one launch: no interval."""
    (only,) = ring.pieces(list(range(2, 20)), 1e-6 * np.arange(2, 20)[None].astype(float))
    assert (only.first, only.last, only.low, only.high) == (2, 19, None, None)
    assert only.latency == pytest.approx(0.5e-6)


def test_the_formula_of_a_turn() -> None:
    """2 N latencies of the farthest neighbours: 48 ranks of two nodes at 0.98 us."""
    rows = json.loads(said("ring", "--on", "orfeo-thin", "--ranks", "48", "--json").output)
    assert [row["from"] for row in rows] == ["formula, socket", "formula, sockets", "formula, nodes"]
    assert rows[-1]["time"] == pytest.approx(96 * 0.98e-6)
    assert rows[0]["time"] is None


# ----------------------------------------------------------------------------------- jacobi, from a run


def test_grids_are_read_as_the_application_has_them() -> None:
    """In words of dimensions, as even as can be, or length by length."""
    assert [sorted(_jacobi_runs.lengths_of(word, 12)) for word in ("1d", "2d", "3d")] == [
        [1, 1, 12],
        [1, 3, 4],
        [2, 2, 3],
    ]
    assert _jacobi_runs.lengths_of("3x2x2", 12) == (3, 2, 2)
    # Longest first, and no axis left uncut that the application cuts: its sides are what is predicted.
    assert [_jacobi_runs.lengths_of("3d", ranks) for ranks in (1, 7, 20, 48)] == [
        (1, 1, 1),
        (7, 1, 1),
        (5, 2, 2),
        (4, 4, 3),
    ]


def point(**other: Any) -> dict[str, Any]:
    """A point of the application on two ranks."""
    usual = {"edge": 10, "scaling": "weak", "grid": "1d", "ends": "fixed", "kernel": "streaming"}
    return {"ranks": 2, **usual, "depth": 1, "halo": "blocking", **other}


def test_sides_of_a_run_by_hand() -> None:
    """100 numbers out and 100 in at 1 GB/s; twice where ends meet; half as long parts in strong scaling."""
    assert _jacobi_runs.exchange(point(), 0.0, 1e9) == pytest.approx(1.6e-6)
    assert _jacobi_runs.exchange(point(ends="periodic"), 1e-6, 1e9) == pytest.approx(2 * 2.6e-6)
    assert _jacobi_runs.exchange(point(scaling="strong"), 0.0, 1e9) == pytest.approx(1.6e-6)
    assert _jacobi_runs.exchange(point(depth=4), 1e-6, 1e9) == pytest.approx(1.85e-6)
    assert _jacobi_runs.exchange(point(ranks=1), 1e-6, 1e9) == 0


def test_a_run_is_held_against_its_own_ping_pong_and_streams() -> None:
    """Bound by 1e9 points a second, 1.6 us and a latency of 0.3 us an exchange: two parts of 1,000 points."""
    keys = {**point(), "benchmark": "jacobi", "mpi": "openmpi-4.1.4", "status": record.OK, "launch": 0}
    rows = [
        {**keys, "metric": metric, "unit": "1/s", "better": "higher", "samples": [value], "warmup": 0}
        for metric, value in (("rate", 5e8), ("bound", 1e9))
    ]
    (only,) = _jacobi_runs.compared(record.concat([frame_of(rows), pingpong(hockney(0.3e-6, 1e9))]))
    assert (only.measured, only.bound) == (5e8, 1e9)
    assert only.predicted == pytest.approx(2000 / (2e-6 + 1.6e-6 + 0.3e-6), rel=1e-2)


def test_a_run_without_a_solver_is_refused() -> None:
    """What would do is said."""
    with pytest.raises(UsageError, match="the run has no jacobi"):
        _jacobi_runs.compared(pingpong(hockney(0.3e-6, 1e9)))


# ------------------------------------------------------------------------------- what reports draw as bands


COUNTED = (("messages", 2.0), ("bytes", 1e6))  # of a rank in one transform, to itself as well


def measured_row(benchmark: str, metric: str, **coordinates: Any) -> dict[str, Any]:
    """A row of a summary that was measured."""
    keys = {"mpi": "openmpi-4.1.4", "status": record.OK, "source": record.MEASURED, "ranks": 2}
    return {
        **keys,
        "benchmark": benchmark,
        "metric": metric,
        "value": 1.0,
        "low": 0.9,
        "high": 1.1,
        **coordinates,
    }


@pytest.mark.parametrize(
    ("machine", "there"),
    [("bgp", ["socket", "nodes"]), ("bgl", ["socket", "nodes"]), ("orfeo-thin", ["socket"])],
)
def test_a_ring_needs_only_the_ways_that_a_machine_has(machine: str, there: list[str]) -> None:
    """One socket has no other beside it, and a bandwidth is not asked for; the ranks are a number."""
    told = said("ring", "--ranks", "8", "--on", machine, "--json")
    rows = json.loads(told.output)
    assert [row["from"] for row in rows] == [f"formula, {each}" for each in there]
    assert [row["ranks"] for row in rows] == [8] * len(there)


def test_a_turn_of_the_ring_is_made_of_ping_pongs() -> None:
    """Two ranks: four messages of 1,000 B in turn, each 0.3 us and 1 us; at once they share two latencies."""
    records = pingpong(hockney(0.3e-6, 1e9))
    rows = [measured_row("ring", "time", way=way, bytes=1000) for way in ("in-turn", "at-once")]
    in_turn, at_once = predict.expected("ring", rows, records)
    assert in_turn["value"] == pytest.approx(4 * 1.3e-6, rel=1e-2)
    assert at_once["value"] == pytest.approx(2 * 0.3e-6 + 4e-6, rel=1e-2)
    assert in_turn["low"] <= in_turn["value"] <= in_turn["high"]
    assert in_turn["way"] == "in-turn"


def test_an_array_goes_out_twice_and_comes_back_once() -> None:
    """Half of 10,000 numbers three times: 120,000 B at 1 GB/s, and three latencies."""
    rows = [measured_row("sum3d", "time", array="100x10x10", grid="2x1x1", split="even")]
    (only,) = predict.expected("sum3d", rows, pingpong(hockney(1e-6, 1e9)))
    assert only["value"] == pytest.approx(123e-6, rel=1e-2)


def test_an_array_goes_by_the_ping_pong_that_finds_it_out_of_the_caches() -> None:
    """Beside 1 GB/s in the caches, 0.25 GB/s out of them: four times 120 us; the ring stays at the former."""
    reused = pingpong(hockney(1e-6, 1e9))
    rotated = pingpong(hockney(1e-6, 0.25e9)).with_columns(pl.lit("rotated").alias("buffers"))
    records = pl.concat([reused, rotated])
    array = measured_row("sum3d", "time", array="100x10x10", grid="2x1x1", split="even")
    (only,) = predict.expected("sum3d", [array], records)
    assert only["value"] == pytest.approx(483e-6, rel=1e-2)
    turn = measured_row("ring", "time", way="in-turn", bytes=1000)
    (only,) = predict.expected("ring", [turn], records)
    assert only["value"] == pytest.approx(8e-6, rel=1e-2)


def test_the_least_of_nas_ft_is_its_memory_and_its_messages() -> None:
    """Six times 64 B of 64^3 points at 16 GB/s of copies; seven times 1 us and half of 1 MB at 1 GB/s."""
    keys: dict[str, Any] = {"class": "S", "pieces": "exchange", "by": "messages", "result": "kept"}
    keys |= {"iterations": 0}
    rows = [measured_row("ft", "time", **keys)]
    rows += [measured_row("ft", metric, **keys) | {"value": value} for metric, value in COUNTED]
    records = pingpong(hockney(1e-6, 1e9))
    assert predict.expected("ft", rows, records) == []  # nothing tells what its memory carries
    rows += [measured_row("jacobi", "bound", **point(edge=edge)) | {"value": 1e9} for edge in (96, 160)]
    (only,) = predict.expected("ft", rows, records)
    assert only["value"] == pytest.approx(6 * 64 * 64**3 / 16e9 + 7 * (1e-6 + 0.5e-3), rel=1e-2)
    summed = [row | ({"result": "summed"} if row["benchmark"] == "ft" else {}) for row in rows]
    (only,) = predict.expected("ft", summed, records)
    assert only["value"] == pytest.approx(6 * 48 * 64**3 / 16e9 + 7 * (1e-6 + 0.5e-3), rel=1e-2)


def test_what_is_not_streamed_moves_half_as_much_again() -> None:
    """A plain kernel's band lies at two thirds of the bound, between the ends of its interval."""
    keys = point(ranks=1, kernel="plain")
    rows = [measured_row("jacobi", metric, **keys) for metric in ("rate", "bound")]
    (only,) = predict.expected("jacobi", rows, pingpong(hockney(1e-6, 1e9)))
    assert only["value"] == pytest.approx(2 / 3)
    assert (only["low"], only["high"]) == (pytest.approx(0.6), pytest.approx(1.1 / 1.5))


def test_nothing_is_said_of_what_was_simulated_or_has_no_ping_pong_or_model() -> None:
    """No model, no evidence, nothing measured: no band."""
    row = measured_row("ring", "time", way="in-turn", bytes=8)
    records = pingpong(hockney(1e-6, 1e9))
    assert predict.expected("ring", [row | {"source": record.SIMULATED}], records) == []
    assert predict.expected("ring", [row | {"mpi": "mpich-4.0.2"}], records) == []
    assert predict.expected("barrier", [row], records) == []


def test_more_than_an_array_is_refused_in_a_sentence() -> None:
    """What an array looks like is said."""
    with pytest.raises(UsageError, match="an array is written like 2400x100x100, but got '24x1'"):
        sum3d.lengths("24x1")


def test_ft_asks_for_a_plan_that_is_one() -> None:
    """Every way of handing planes over, with one and with two iterations, as `leadline predict ft` has it."""
    asked = []

    class Stop(Exception):
        """Nothing is simulated here."""

    def simulate(machine: object, measures: list[dict[str, object]]) -> object:
        asked.append(Plan.of(*measures))
        raise Stop

    words = {"class": "A", "ranks": 16, "on": "itanium2-elan4", "depth": 1, "from": None}
    with pytest.raises(Stop):
        predict.find("ft").predict(words, simulate)  # type: ignore[arg-type]
    [measure] = asked[0].measures
    assert (len(measure.sweeps["pieces"]), len(measure.sweeps["iterations"])) == (3, 2)


def test_an_engine_that_is_slower_than_its_link_holds_messages_up(tmp_path: Path) -> None:
    """256 B of payload in packets of 272 through links of 1 GB/s and engines of 0.8: 0.753 GB/s."""
    made = Path(tmp_path, "slow.toml")
    made.write_text(
        'title = "made up"\n'
        '[topology]\nkind = "torus"\nshape = { value = [5, 3], source = "estimate" }\n'
        '[links]\nrate = { value = "1 GB/s", source = "estimate" }\n'
        'hop = { value = "100 ns", source = "estimate" }\nbase = { value = "1 us", source = "estimate" }\n'
        '[packets]\npayload = { value = "256 B", source = "estimate" }\n'
        'overhead = { value = "16 B", source = "estimate" }\n'
        '[node]\ncores = { value = 1, source = "estimate" }\nranks = { value = 1, source = "estimate" }\n'
        'injection = { value = "0.8 GB/s", source = "estimate" }\n'
        '[[protocol]]\nname = "eager"\nsend_overhead = { value = "500 ns", source = "estimate" }\n'
        'receive_overhead = { value = "300 ns", source = "estimate" }\n'
    )
    words = ["--ranks", "15", "--grid", "5x3x1", "--edge", "101", "--serial", "10 ms", "--json"]
    done = said("jacobi", *words, "--placement", "nodes", "--on", str(made))
    assert json.loads(done.stdout)[0]["bandwidth"] == pytest.approx(0.8e9 * 256 / 272)
