"""Are planted violations found where they are, and is nothing found where there is nothing?"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from analysis.guidelines.library import ALGORITHMS, RANKS, records
from leadline.analysis.guidelines import GUIDELINES, judge
from leadline.analysis.guidelines.judge import BROKEN, KEPT, SUSPECTED, UNDECIDED
from leadline.analysis.guidelines.terms import Points
from leadline.cli.guidelines import command
from leadline.core import record
from leadline.core.collectives import OPERATIONS
from leadline.core.errors import UsageError
from leadline.run import store


def broken(table: pl.DataFrame) -> set[tuple[str, str, int | None]]:
    """(guideline, operation, size) of every violation."""
    return {(each.guideline.id, each.operation, each.values.get("bytes")) for each in judge(table).broken}


def slow(operation: str, factor: float, **wanted: Any) -> Any:
    """A plant: an operation is slower where a point has the wanted values."""

    def plant(there: str, values: Mapping[str, Any]) -> float:
        return factor if there == operation and wanted.items() <= values.items() else 1.0

    return plant


def test_a_consistent_library_breaks_nothing() -> None:
    """Every guideline finds both of its sides in a full run, and all are kept."""
    verdict = judge(records())
    assert verdict.unasked == []
    assert {each.guideline.id for each in verdict.findings} == {each.id for each in GUIDELINES}
    assert verdict.broken == []


PLAIN = {"communicator": "world", "form": "blocking", "algorithm": "library", "variation": "none"}


@pytest.mark.parametrize(
    ("operation", "factor", "size", "expected"),
    [
        ("allreduce", 2.5, 8192, {"own-algorithm", "allreduce-reduce-bcast", "world-dup", "in-halves"}),
        ("allgather", 3.5, 8, {"allgather-gather-bcast", "allgather-alltoall", "less-is-not-slower"}),
        ("gather", 1.6, 1 << 20, {"gather-allgather", "equal-blocks", "blocking-nonblocking"}),
        ("scatter", 2.0, 2048, {"scatter-bcast", "equal-blocks"}),
        ("bcast", 2.5, 4096, {"bcast-scatter-allgather", "less-is-not-slower"}),
        ("reduce", 3.0, 4096, {"reduce-allreduce", "reduce-reduce_scatter-gather"}),
        ("reduce_scatter", 3.0, 1024, {"reduce_scatter-allreduce", "reduce_scatter-reduce-scatter"}),
        ("barrier", 3.0, None, {"barrier-allreduce", "own-algorithm", "blocking-nonblocking"}),
    ],
)
def test_a_planted_violation_is_found_where_it_is(
    operation: str, factor: float, size: int | None, expected: set[str]
) -> None:
    """One operation of the world is slow at one size: its guidelines are broken there, none elsewhere."""
    where = PLAIN | ({"bytes": size} if size else {})
    found = broken(records(plant=slow(operation, factor, **where)))
    assert {(name, at) for name, each, at in found if each == operation} >= {(n, size) for n in expected}
    assert {each for _, each, _ in found} == {operation}
    assert {at for _, _, at in found} == {size}


def test_the_ratio_is_that_of_the_model() -> None:
    """1.2 times the duplicate's time: the interval holds it, the times are both sides'."""
    where = {**PLAIN, "bytes": 1024}
    found = [e for e in judge(records(plant=slow("bcast", 1.2, **where))).broken if e.operation == "bcast"]
    [each] = [each for each in found if each.guideline.id == "world-dup"]
    assert each.low is not None
    assert each.high is not None
    assert each.low < 1.2 < each.high
    assert each.time / each.other == pytest.approx(1.2, rel=0.1)
    assert each.against == "dup"


def test_noise_alone_breaks_nothing() -> None:
    """All sides of the pairs are equal in truth: over 20 runs next to none is called broken.

    Each run has hundreds of comparisons; without control of them together some twenty would be called, which
    is what "by chance" says of half that many pairs that lie exactly at their bound.
    """

    def alike(operation: str, values: Mapping[str, Any]) -> float:
        return 1e-6

    called = suspected = 0
    for seed in range(20):
        verdict = judge(records(seed, cost=alike, spread=0.2), floor=0.0)
        called += len(verdict.broken) > 0
        suspected += verdict.count(SUSPECTED)
    assert called <= 3  # of 20 runs, at 5 % each: 1 expected
    assert suspected > 0


def test_few_launches_decide_nothing() -> None:
    """Three launches reach no 95 %: undecided, with the sentence that says so."""
    verdict = judge(records(launches=3))
    assert {each.state for each in verdict.findings} == {UNDECIDED}


def test_simulated_values_are_exact() -> None:
    """One launch without noise decides: 3 % beyond is broken, 1 % is not, and no interval is told."""
    where = {**PLAIN, "bytes": 1024}
    options: dict[str, Any] = {"launches": 1, "spread": 0.0, "common": 0.0, "source": record.SIMULATED}
    [each] = [
        e
        for e in judge(records(plant=slow("bcast", 1.03, **where), **options)).broken
        if e.guideline.id == "world-dup"
    ]
    assert each.ratio == pytest.approx(1.03)
    assert (each.low, each.exact) == (None, True)
    less = judge(records(plant=slow("bcast", 1.01, **where), **options))
    assert {e.state for e in less.findings if e.guideline.id == "world-dup"} == {KEPT}


def test_a_term_may_be_larger_than_needed_but_not_much() -> None:
    """What 4 x 8 B or 4 x 1 KiB need was measured; what 4 x 32 B and 4 x 1 MiB need, nowhere near."""
    points = Points(records())
    [guideline] = [each for each in GUIDELINES if each.id == "scatter-bcast"]
    sides = [
        (left.bytes, parts[0].series.bytes)
        for left, parts in points.sides(guideline)
        if left.values["communicator"] == "world"
    ]
    assert dict(sides) == {8: 32, 1024: 4096, 2048: 8192}
    assert RANKS == 4


def test_world_less_one_has_a_rank_less() -> None:
    """Where the communicator's size is not known, no message is set against blocks."""
    table = records().with_columns(
        communicator=pl.col("communicator").replace({"world": "cores-2", "dup": "cores-2"})
    )
    names = {
        each.guideline.id for each in judge(table.unique(["benchmark", "launch", "bytes", "form"])).findings
    }
    assert "allgather-gather-bcast" not in names
    assert "less-is-not-slower" in names


def test_every_algorithm_of_ours_is_a_comparison() -> None:
    """Each is named; the v-variants and nonblocking forms are not set against them."""
    found = [each for each in judge(records()).findings if each.guideline.id == "own-algorithm"]
    assert {each.against for each in found} == set(ALGORITHMS)
    assert {each.operation for each in found} == set(OPERATIONS)
    assert {each.values["form"] for each in found} == {"blocking"}


def test_two_libraries_are_not_mixed() -> None:
    """One library's slow world is no matter of the other's."""
    where = {**PLAIN, "bytes": 1024}
    both = record.concat([records(plant=slow("bcast", 2.0, **where)), records(2, mpi="mpich-4.0.2")])
    assert {each.context["mpi"] for each in judge(both).broken} == {"openmpi-4.1.4"}


def test_identities_are_unique_and_sources_named() -> None:
    """Each guideline has a name of its own, a sentence and a source."""
    assert len({each.id for each in GUIDELINES}) == len(GUIDELINES)
    assert all(each.source[-4:].isdecimal() and "not slower" in each.says for each in GUIDELINES)


# -------------------------------------------------------------------------------------------------- the verb


@pytest.fixture
def run(tmp_path: Path) -> str:
    """A record file with a slow allreduce."""
    path = tmp_path / "planted.parquet"
    store.write_parquet(
        records(plant=slow("allreduce", 2.5, **PLAIN, bytes=1 << 20)), path, {"plan": "guidelines"}
    )
    return str(path)


def test_the_verb_lists_violations_and_what_to_make_of_them(run: str) -> None:
    """A table for the MPI with guideline, operation, size, ratio and both times; then how many are chance."""
    found = CliRunner().invoke(command, [run])
    assert found.exit_code == 0, found.output
    assert "openmpi-4.1.4, placement core-group, 4 ranks: " in found.output
    [line] = [
        line for line in found.output.splitlines() if "allreduce-reduce-bcast" in line and "MiB" in line
    ]
    assert "1 MiB" in line
    assert "reduce + bcast" in line
    assert " µs" in line
    assert "false call" in found.output
    assert "allreduce is not slower than reduce, then bcast" in found.output


def test_the_verb_gives_all_comparisons_as_json(run: str) -> None:
    """Also those that are kept, in SI units."""
    listed = json.loads(CliRunner().invoke(command, [run, "--json"]).output)
    assert {BROKEN, KEPT} <= {each["state"] for each in listed}
    [each] = [e for e in listed if e["guideline"] == "allreduce-reduce-bcast" and e["state"] == BROKEN]
    assert (each["operation"], each["bytes"], each["against"]) == ("allreduce", 1 << 20, "reduce + bcast")
    assert each["low"] <= each["ratio"] <= each["high"]


def test_a_run_without_collectives_says_so(tmp_path: Path) -> None:
    """Nothing to compare is no clean bill; a bad floor is refused with what would do."""
    from planted import table  # noqa: PLC0415

    path = tmp_path / "other.parquet"
    store.write_parquet(table([[1.0]] * 6, [8]), path, {})
    found = CliRunner().invoke(command, [str(path)])
    assert "No guideline can be checked" in found.output
    wrong = CliRunner().invoke(command, [str(path), "--floor", "much"])
    assert isinstance(wrong.exception, UsageError)
