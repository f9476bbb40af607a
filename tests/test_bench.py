"""What `make bench` makes of given runs and figures: the arithmetic, not the figures of this machine."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from bench import PARTS, asked
from found import BARELY, MISSED, REACHED, Found, at_most, within
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.statistics import Interval
from leadline.mpi.library import Mpi
from leadline.run import store
from leadline.run.store import write_parquet
from parts import h5, pace, repeatability, speed, storage
from planted import table

LAUNCHES = 9  # enough for a 95 % interval: the 2nd smallest to the 2nd largest
SPREAD = [1 + 0.001 * (launch - LAUNCHES // 2) for launch in range(LAUNCHES)]  # 0.4 % to either side


def runs(directory: Path, values: Sequence[Sequence[float]]) -> list[Path]:
    """Files of runs, each with a value at 8 B and at 1 KiB, their launches spread alike about it."""
    paths = []
    for number, (small, large) in enumerate(values):
        medians = [[small * factor, large * factor] for factor in SPREAD]
        paths.append(directory / f"{number}.parquet")
        write_parquet(table(medians, [8, 1024], buffers="reused"), paths[-1], {})
    return paths


def test_the_farthest_run_is_told_against_the_median_of_all(tmp_path: Path) -> None:
    """Runs of 1.00, 1.02 and 1.10 us: the last lies 0.08 / 1.02 = 7.8 % from the median, beyond 5 %."""
    three = runs(tmp_path, [[1.00e-6, 1e-6], [1.02e-6, 1e-6], [1.10e-6, 1e-6]])
    headline, _ = repeatability.measure(three)
    assert headline.value == pytest.approx(100 * 0.08 / 1.02)
    assert headline.outcome == MISSED


def test_intervals_that_miss_the_median_of_all_are_counted(tmp_path: Path) -> None:
    """At 8 B only the middle run's narrow interval holds the median, at 1 KiB all three: 4 of 6."""
    three = runs(tmp_path, [[1.00e-6, 2e-6], [1.02e-6, 2e-6], [1.10e-6, 2e-6]])
    _, intervals = repeatability.measure(three)
    assert intervals.value == pytest.approx(100 * 4 / 6)
    assert intervals.outcome == MISSED
    assert intervals.interval == Interval(50.0, 100.0, 0.75)  # runs gave 50, 100 and 50 %; 1 - 2 / 2^3


def test_intervals_of_later_runs_include_what_earlier_runs_show(tmp_path: Path) -> None:
    """Runs some 3 % apart, launches within 0.4 %: alone few hold the median, with earlier ones all."""
    six = [[factor * 1e-6, factor * 2e-6] for factor in (1.03, 0.97, 1.00, 1.04, 0.96, 1.02)]
    _, alone, later = repeatability.measure(runs(tmp_path, six))
    assert alone.value < 50
    assert alone.outcome == MISSED
    assert later.value == 100
    assert later.note.startswith("6 intervals; 5 earlier runs of these points differ by 3")


def test_runs_that_agree_reach_both_targets(tmp_path: Path) -> None:
    """Runs 0.1 % apart, within their intervals: nothing is missed."""
    found = list(repeatability.measure(runs(tmp_path, [[1.000e-6, 1e-6], [1.001e-6, 1e-6]])))
    assert [each.outcome for each in found] == [REACHED, REACHED]


def test_a_point_that_one_run_lacks_is_judged_in_none(tmp_path: Path) -> None:
    """Its median would be that of other runs than the others' medians."""
    paths = runs(tmp_path, [[1e-6, 1e-6], [1e-6, 1e-6]])
    write_parquet(pl.read_parquet(paths[1]).filter(pl.col("bytes") == 8), paths[1], {})
    assert repeatability.beside_all([store.load(path).with_columns(run=pl.lit(path.name)) for path in paths])[
        "bytes"
    ].unique().to_list() == [8]


def test_one_run_alone_has_nothing_to_agree_with(tmp_path: Path) -> None:
    """It would hold its own median always: refused, not told as reached."""
    with pytest.raises(LeadlineError, match="two runs or more, but got 1"):
        list(repeatability.measure(runs(tmp_path, [[1e-6, 1e-6]])))


@pytest.mark.parametrize(
    ("value", "low", "high", "outcome"),
    [(1.004, 0.999, 1.009, REACHED), (1.004, 0.990, 1.012, BARELY), (1.011, 1.005, 1.02, MISSED)],
)
def test_an_outcome_looks_at_the_whole_interval(value: float, low: float, high: float, outcome: str) -> None:
    """A value within 1 % whose interval reaches beyond it is told so; a value beyond it is missed."""
    assert Found("", value, "1", Interval(low, high, 0.95), "", within(0.01)).outcome == outcome


def test_what_could_not_be_measured_is_missed() -> None:
    """A part that failed has no value, and no target holds for that."""
    assert Found("", float("nan"), "1", None, "", at_most(1.0)).outcome == MISSED


def test_the_latency_plan_is_asked_for_one_mpi_and_what_the_suite_gets() -> None:
    """The text that is run is the shipped plan with MPI, tolerance and least launches set, nothing else."""
    mpi = Mpi("openmpi-4.1.4", "openmpi", "Open MPI", "4.1.4", "Debian", Path("/usr"), None, None, None)
    text = pace.PLAN.read_text()
    shipped, changed = tomllib.loads(text), tomllib.loads(pace.asking(text, mpi))
    launches = shipped["launches"] | {"at_least": 6}
    assert changed == shipped | {"mpi": "openmpi-4.1.4", "tolerance": 0.05, "launches": launches}


def test_the_report_that_is_timed_has_its_hundred_thousand_samples() -> None:
    """At least 100,000, and not so many more that the figure would be of something else."""
    count = sum(len(row["samples"]) for row in speed.rows())
    assert speed.SAMPLES <= count < 1.1 * speed.SAMPLES


def test_words_are_parts_or_runs(tmp_path: Path) -> None:
    """Nothing means everything, runs mean their repeatability, and a typing error is neither."""
    assert asked(()) == (list(PARTS), [])
    assert asked(("trust", "speed")) == (["speed", "trust"], [])
    assert asked((str(tmp_path),)) == (["repeatability"], [tmp_path])
    with pytest.raises(UsageError, match="did you mean 'trust'"):
        asked(("trsut",))


def test_no_program_is_started_from_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system in memory may forbid it: data alone are there, and the program stands elsewhere."""
    seen: list[tuple[Path, Path]] = []

    def compiled(folder: Path) -> Path:
        return folder / "h5"

    def pair(
        program: Path, what: str, folder: Path, library: Path, turn: int
    ) -> tuple[dict[str, float], ...]:
        seen.append((program, folder))
        return tuple(dict.fromkeys((*h5.CALLS, "write"), 1.0) for _ in range(2))

    for name, stand_in in (("_compiled", compiled), ("_pair", pair), ("build_h5tuner", lambda: Path("x.so"))):
        monkeypatch.setattr(h5, name, stand_in)
    monkeypatch.setattr(h5, "_memory", lambda: str(tmp_path))
    assert len(list(h5.measure())) == len(h5.CALLS) + 1
    assert all(folder.is_relative_to(tmp_path) and folder.name != "" for _, folder in seen)
    assert not any(program.is_relative_to(folder) for program, folder in seen)


def test_the_model_of_storage_is_timed_here_and_in_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """One setting and the whole space, each against its target, whatever they took just now."""
    monkeypatch.setattr(storage, "TIMES", 2)
    rows = list(storage.measure())
    assert [each.target for each in rows] == ["under 10.0 ms", "under 60.0 s"]
    assert "13,440" in rows[1].what
    assert all(each.value >= 0 for each in rows)
