"""Comparisons under load, and of runs that have nothing in common."""

import json
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from analysis.test_compare import launches, verdicts
from leadline.analysis import changes
from leadline.analysis.compare import compare, nearest, study
from leadline.cli import main as cli
from leadline.core import record
from leadline.run import store


def busy(run: pl.DataFrame, launches_of_ten: int, size: int | None = None) -> pl.DataFrame:
    """In some of ten launches, at one size or all, a rank waits for its processor half of the time."""
    there = pl.col("launch") < launches_of_ten if size is None else pl.col("bytes") == size
    return run.with_columns(
        run_delay=pl.when(there).then(pl.lit(0.5)).otherwise(pl.lit(0.0)),
        duration=pl.lit(1.0),
        oversubscribed=False,
    )


def test_a_change_under_heavy_load_is_suspected_only(tmp_path: Path) -> None:
    """Twice as slow: by four launches of ten disturbed it may be the load; two of ten do not make it so."""
    a, b = launches(1), launches(2, factor=2.0)
    assert set(verdicts(compare(a, busy(b, 2))).values()) == {"regression"}
    loaded = compare(a, busy(b, 4))
    assert set(verdicts(loaded).values()) == {"suspected regression"}
    assert set(loaded["reason"]) == {f"{changes.BUSY} B"}
    one = verdicts(compare(a, busy(b, 0, size=64)))
    assert {size for size, verdict in one.items() if verdict == "suspected regression"} == {64}
    for name, side in (("a", a), ("b", busy(b, 7))):
        store.write_parquet(side, tmp_path / f"{name}.parquet", {})
    paths = [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]
    done = CliRunner().invoke(cli, ["compare", *paths])
    assert done.exit_code == 2 and changes.BUSY in done.output


def test_a_few_wild_launches_move_nothing_together() -> None:
    """Three launches of ten in one side take ten thousand times as long: the mean moves, and nothing is said
    of all points; twice as slow in all launches is said.
    """
    a, b = launches(1), launches(2)
    wild = b.with_columns(
        samples=pl.when(pl.col("launch") < 3)
        .then(pl.col("samples").list.eval(pl.element() * 1e4))
        .otherwise("samples")
    )
    said = study(a, wild).sentences()[0]
    assert said.startswith("All points together do not differ by more than launches scatter")
    assert study(a, launches(2, factor=2.0)).sentences()[0].startswith("All points together are 10")


def test_points_are_chosen_by_their_values(tmp_path: Path) -> None:
    """Of all sizes the one asked for; a value that no record has is said."""
    for name in ("a", "b"):
        store.write_parquet(launches(1), tmp_path / f"{name}.parquet", {})
    words = ["compare", str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"), "-w"]
    assert "1 point, threshold" in CliRunner().invoke(cli, [*words, "bytes=64"]).output
    none = CliRunner().invoke(cli, [*words, "bytes=63"])
    assert none.exit_code == 2
    assert "no record has bytes=63" in none.output


def test_the_nearest_points_of_two_runs_say_in_what_they_differ() -> None:
    """One key; nothing where no benchmark is in both."""
    a = launches(1)
    assert nearest(a, launches(2, placement="sockets")) == "placement"
    assert nearest(a, launches(2).with_columns(benchmark=pl.lit("other"))) == ""


def test_json_has_the_verdicts_of_the_table_and_the_values_of_both_sides(tmp_path: Path) -> None:
    """Two MPIs of one run: "faster", not "improvement", and which MPI is A."""
    both = record.concat([launches(1, mpi="mpich-4.0.2"), launches(2, factor=0.5, mpi="openmpi-4.1.4")])
    store.write_parquet(both, tmp_path / "both.parquet", {})
    done = CliRunner().invoke(cli, ["compare", str(tmp_path / "both.parquet"), "--across", "mpi", "--json"])
    listed = json.loads(done.output)
    assert {each["verdict"] for each in listed} == {"faster"}
    assert {(each["mpi_a"], each["mpi_b"]) for each in listed} == {("mpich-4.0.2", "openmpi-4.1.4")}
