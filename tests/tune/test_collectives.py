"""Is the faster algorithm found, nothing taken for faster that is not, and what is written read back?"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from leadline.cli.tune.collectives import command
from leadline.core import record
from leadline.core.errors import LeadlineError, UsageError
from leadline.mpi import discover
from leadline.mpi.library import Mpi
from leadline.mpi.tuned import Choice, Tuned, ranges
from leadline.run import store
from leadline.tune.collectives import files as collectives_files
from leadline.tune.collectives.selection import choices, choose, gains
from planted import QUIET, frame_of

SIZES = (8, 1024, 65536)
PLAIN = {"communicator": "world", "form": "blocking", "algorithm": "library", "cadence": "back-to-back"}
FACTORS: dict[str | None, dict[int, float]] = {
    None: {},
    "ring": {8: 1.5, 1024: 0.8, 65536: 0.7},
    "binomial": {8: 1.0, 1024: 0.9, 65536: 1.3},
}


def run(
    factors: Mapping[str | None, Mapping[int, float]],
    seed: int = 1,
    launches: int = 12,
    operation: str = "bcast",
    **fields: Any,
) -> pl.DataFrame:
    """A run in which an operation's algorithms take so many times as long as the library's own choice."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            **{**QUIET, **PLAIN, "benchmark": operation, "metric": "time", "bytes": size, "root": 0},
            **{"collectives": name, "launch": 100 * place + launch, **fields},
            "samples": [1e-6 * by_size.get(size, 1.0) * float(rng.lognormal(0, 0.03))],
        }
        for place, (name, by_size) in enumerate(factors.items())
        for size in SIZES
        for launch in range(launches)
    ]
    return frame_of(rows)


def test_the_fastest_is_chosen_where_it_is_certain() -> None:
    """At 8 B none is faster, at 1 KiB the faster of two, with its ratio and both times."""
    found = {each.bytes: each for each in choose(run(FACTORS))}
    assert {size: each.algorithm for size, each in found.items()} == {8: None, 1024: "ring", 65536: "ring"}
    best = found[1024]
    assert best.low is not None
    assert best.high is not None
    assert best.low < 0.8 < best.high
    assert best.time / best.own == pytest.approx(0.8, rel=0.05)
    assert best.tried == 2
    assert choices(found.values()) == {
        "openmpi-4.1.4": [Choice("bcast", 2, ranges({8: None, 1024: "ring", 65536: "ring"}))]
    }


def test_a_gain_that_vanishes_between_computations_is_none() -> None:
    """Faster back to back alone is not chosen; faster in both has both ratios."""
    for factor, expected in ((1.0, None), (0.8, "ring")):
        there = run({None: {}, "ring": {1024: factor}}, seed=2, cadence="application")
        both = pl.concat([run({None: {}, "ring": {1024: 0.7}}), there])
        [best] = [each for each in choose(both) if each.bytes == 1024]
        assert best.algorithm == expected
        assert (best.applied is None) == (expected is None)


def test_noise_alone_chooses_nothing() -> None:
    """Twenty algorithms as fast as the library's own choice: in 20 runs next to none is taken."""
    names: dict[str | None, dict[int, float]] = {None: {}} | {f"a{each}": {} for each in range(20)}
    taken = sum(
        each.algorithm is not None for seed in range(20) for each in choose(run(names, seed, launches=8))
    )
    assert taken <= 1  # of 60 choices out of 20


def test_an_algorithm_that_loses_for_another_root_is_not_taken() -> None:
    """A setting cannot tell roots apart: ring is faster from root 0 and slower from root 1."""
    other = run({None: {}, "ring": {1024: 1.5, 65536: 0.7}}, 2, root=1)
    found = {each.bytes: each.algorithm for each in choose(record.concat([run(FACTORS), other]))}
    assert found == {8: None, 1024: "binomial", 65536: "ring"}


def test_algorithms_that_were_skipped_are_not_said_not_to_be_asked_for() -> None:
    """The run forced one, of which no launch came about: the reason is told."""
    spent = "the plan's time was spent before this point's turn"
    skipped = run({"ring": {}}, launches=1).with_columns(
        status=pl.lit(record.SKIPPED), reason=pl.lit(spent), samples=pl.lit(None, pl.List(pl.Float64))
    )
    both = pl.concat([run({None: {}}), skipped], how="vertical_relaxed")
    with pytest.raises(LeadlineError, match=f"measured beside its own choice: {spent}") as told:
        choose(both)
    assert told.value.exit_code == 1


def test_a_run_without_forced_algorithms_says_what_would_do() -> None:
    """There is nothing to choose from."""
    with pytest.raises(UsageError, match="no algorithm of a library was forced in this run"):
        choose(run({None: {}}))


def test_settings_hold_for_one_way_of_launching() -> None:
    """Two stacks of one library: which is meant is to be said."""
    both = record.concat([run(FACTORS), run(FACTORS, stack="tcp")])
    with pytest.raises(UsageError, match=r"default, tcp.*--where stack=default"):
        choose(both)


def test_what_settings_gained_is_told_in_all_and_by_size() -> None:
    """Half as long at one size of three: faster in all by the cube root; the others are alike."""
    table = run({None: {}, "tuned": {1024: 0.5}})
    whole, *by_size = gains(table)
    assert (whole.bytes, whole.verdict) == (None, "faster")
    assert whole.ratio == pytest.approx(0.5 ** (1 / 3), rel=0.05)
    assert {each.bytes: each.verdict for each in by_size}[1024] == "faster"
    assert by_size[1].own == pytest.approx(1e-6, rel=0.1)
    assert by_size[1].time == pytest.approx(0.5e-6, rel=0.1)
    assert gains(run({None: {}, "tuned": {}}, 3))[0].verdict == "alike"
    assert gains(run({None: {}, "tuned": {}}, launches=2))[0].verdict == "undecided"


# -------------------------------------------------------------------------------------------------- the files

MPI = Mpi("openmpi-4.1.4", "openmpi", "Open MPI", "4.1.4", "Debian", Path(), None, None, None)
CHOICE = Choice("bcast", 2, ranges({8: None, 1024: "chain"}))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """Variables with any value, and the operations; the file may be sourced."""
    rules = tmp_path / "openmpi-4.1.4.rules"
    tuned = Tuned({"A": "1;2 3", "B": str(rules)}, {rules.name: "text\n"}, ["a note"])
    paths = collectives_files.write(tmp_path, MPI, [CHOICE], tuned, "monday")
    assert paths == [tmp_path / "openmpi-4.1.4.sh", rules]
    assert collectives_files.read(tmp_path) == {
        "openmpi-4.1.4": collectives_files.Settings({"A": "1;2 3", "B": str(rules)}, ("bcast",))
    }
    text = paths[0].read_text()
    assert "# bcast of 2 ranks, 0 B to 90 B: the library's own choice\n" in text
    assert "# bcast of 2 ranks, 91 B to 1 KiB: chain\n" in text
    assert "# a note\n" in text
    assert "export A='1;2 3'\n" in text


def test_bad_settings_are_refused_with_their_line(tmp_path: Path) -> None:
    """None at all, a line that is none, a file that is gone, operations that are not said."""
    with pytest.raises(UsageError, match="leadline tune collectives RUN"):
        collectives_files.read(tmp_path / "nowhere")
    script = tmp_path / "some.sh"
    for text, said in (
        ("# operations: bcast\nA=1\n", r"some.sh:2: this is no line 'export NAME=VALUE': 'A=1'"),
        ("# operations: bcast\nexport A=/no/such/file\n", r"some.sh:2: /no/such/file is not there"),
        ("export A=1\n", "does not say which operations"),
    ):
        script.write_text(text)
        with pytest.raises(UsageError, match=said):
            collectives_files.read(tmp_path)


# --------------------------------------------------------------------------------------------------- the verb


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A record file of an Open MPI that is on this machine."""
    monkeypatch.setattr(discover, "find", lambda: [MPI])
    path = tmp_path / "run.parquet"
    factors = {(each and {"ring": "chain"}.get(each, each)): by_size for each, by_size in FACTORS.items()}
    store.write_parquet(run(factors), path, {})
    return str(path)


def test_the_verb_shows_and_writes(planted: str, tmp_path: Path) -> None:
    """A row a point; with a directory the library's own files, and what to do next; --force for twice."""
    shown = CliRunner().invoke(command, [planted])
    assert shown.exit_code == 0, shown.output
    assert "2 of 3 points" in shown.output
    out = tmp_path / "tuned"
    found = CliRunner().invoke(command, [planted, "-o", str(out)])
    assert found.exit_code == 0, found.output
    assert f"leadline run PLAN --tuned {out}" in found.output
    assert sorted(path.name for path in out.iterdir()) == ["openmpi-4.1.4.rules", "openmpi-4.1.4.sh"]
    lines = (out / "openmpi-4.1.4.rules").read_text().splitlines()
    assert lines[-6:-3] == ["0 0 0 0", "91 2 0 0", "65537 0 0 0"]
    again = CliRunner().invoke(command, [planted, "-o", str(out)])
    assert isinstance(again.exception, UsageError)
    assert CliRunner().invoke(command, [planted, "-o", str(out), "--force"]).exit_code == 0


def test_the_verb_gives_json(planted: str) -> None:
    """One object a point, in SI units."""
    listed = json.loads(CliRunner().invoke(command, [planted, "--json"]).output)
    assert [each["algorithm"] for each in listed] == [None, "chain", "chain"]
    assert listed[1]["low"] <= listed[1]["ratio"] <= listed[1]["high"]


def test_nothing_to_gain_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence, exit code 1, and no directory."""
    monkeypatch.setattr(discover, "find", lambda: [MPI])
    path = tmp_path / "same.parquet"
    store.write_parquet(run({None: {}, "chain": {}}), path, {})
    found = CliRunner().invoke(command, [str(path), "-o", str(tmp_path / "tuned")])
    assert isinstance(found.exception, LeadlineError)
    assert not (tmp_path / "tuned").exists()
    shown = CliRunner().invoke(command, [str(path)])
    assert (shown.exit_code, "0 of 3 points" in shown.output) == (1, True)


def test_a_run_with_settings_tells_their_gain(tmp_path: Path) -> None:
    """The same verb on a run that was made with --tuned."""
    path = tmp_path / "second.parquet"
    store.write_parquet(run({None: {}, "tuned": {1024: 0.5, 65536: 0.5}}), path, {})
    found = CliRunner().invoke(command, [str(path)])
    assert "1 operation with tuned settings: 1 faster, 0 alike, 0 slower" in found.output
