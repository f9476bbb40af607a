"""Algorithms of libraries and asynchronous progress in a plan: which points come of them, which not."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.core.errors import UsageError
from leadline.native.registry import Benchmark, Metric, Sweep, SweepContext, benchmarks
from leadline.plan.model import Plan, Point
from leadline.targets.local.executor import RealExecutor
from leadline.targets.local.machine import LocalMachine
from mpi import fabricated

OPENMPI, MPICH = fabricated.an_mpi("openmpi", "4.1.4"), fabricated.an_mpi("mpich", "4.0.2")
TIME = Metric("time", "s", "lower", "of one operation")


def registry(sweep_context: SweepContext) -> Mapping[str, Benchmark]:
    """A collective operation and a ping-pong."""
    size = Sweep("bytes", "B", "bytes", (8, 1 << 20), "size")
    form = Sweep("form", "1", "choice", ("blocking",), "", ("blocking", "nonblocking"))
    algorithm = Sweep("algorithm", "1", "choice", ("library",), "")
    return {
        "reduce": Benchmark("reduce", "How long?", 2, None, (size, form, algorithm), (TIME,)),
        "pingpong": Benchmark("pingpong", "How long?", 2, 2, (size,), (TIME,)),
    }


def expand(tmp_path: Path, text: str, tuned: Mapping[str, Sequence[str]] | None = None) -> list[Point]:
    """The points of a plan on a machine with an Open MPI and an MPICH."""
    path = tmp_path / "some.toml"
    path.write_text(text)
    settings = {name: {"operations": each, "environment": {}} for name, each in (tuned or {}).items()}
    return Plan.load(path, registry).points(LocalMachine([OPENMPI, MPICH], 2, settings))


def test_each_is_every_algorithm_that_can_do_the_point(tmp_path: Path) -> None:
    """Segments of 32 KiB and an element for each rank need a message that is long enough."""
    text = 'collectives = ["default", "each"]\n[[measure]]\nbenchmark = "reduce"\n'
    points = expand(tmp_path, text)
    small, large = (
        {(point.mpi[:5], point.collectives) for point in points if point.values["bytes"] == size}
        for size in (8, 1 << 20)
    )
    assert {("openm", None), ("openm", "binomial"), ("mpich", None), ("mpich", "release_gather")} <= small
    assert {("openm", "pipeline+32KiB"), ("mpich", "reduce_scatter_gather")} <= large - small
    assert len({point.launch_key for point in points if point.mpi == MPICH.id}) == 4
    assert len({point.key for point in points}) == len(points)
    first = next(point for point in points if point.collectives == "binomial")
    assert first.describe().endswith("2 ranks, collectives binomial")


def test_only_what_a_library_lets_one_choose_is_forced(tmp_path: Path) -> None:
    """A nonblocking form, an algorithm of ours and another benchmark are asked once, by default."""
    text = 'collectives = ["default", "each"]\n'
    text += '[[measure]]\nbenchmark = "reduce"\nbytes = 8\nform = "nonblocking"\n'
    text += '[[measure]]\nbenchmark = "reduce"\nbytes = 8\nalgorithm = "binomial"\n'
    text += '[[measure]]\nbenchmark = "pingpong"\nbytes = 8\n'
    assert [point.collectives for point in expand(tmp_path, text)] == [None] * 6


def test_settings_that_are_tried_stand_beside_the_default(tmp_path: Path) -> None:
    """In place of forced algorithms, and only for the operations that they are about."""
    text = 'collectives = ["default", "each"]\n[[measure]]\nbenchmark = "reduce"\nbytes = 8\n'
    points = expand(tmp_path, text, {OPENMPI.id: ["reduce"], MPICH.id: ["bcast"]})
    assert [(point.mpi, point.collectives) for point in points] == [
        (OPENMPI.id, None),
        (OPENMPI.id, "tuned"),
        (MPICH.id, None),
    ]


def test_progress_is_a_kind_of_launch(tmp_path: Path) -> None:
    """Off and on are launched apart, and their records are told apart."""
    text = 'progress = ["off", "on"]\nmpi = "mpich-4.0.2"\n[[measure]]\nbenchmark = "pingpong"\nbytes = 8\n'
    off, on = expand(tmp_path, text)
    assert (off.progress, on.progress) == ("off", "on")
    assert off.launch_key != on.launch_key
    assert off.key != on.key


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('collectives = "foo"', "unknown algorithm 'foo'; known are: basic_linear, binary, "),
        ("collectives = true", "some.toml:1: collectives: this is a word in quotes, but got true"),
        ('collectives = "binomal"', "some.toml:1: collectives: unknown algorithm 'binomal'; did you mean"),
        ('progress = "yes"', "some.toml:1: progress: unknown word 'yes'; known are: default, off, on"),
        ('then = "guideline"', "some.toml:1: then: unknown word 'guideline'; did you mean 'guidelines'"),
    ],
)
def test_unknown_words_are_refused_with_their_line(tmp_path: Path, text: str, said: str) -> None:
    """As everywhere in a plan."""
    with pytest.raises(UsageError, match=said):
        expand(tmp_path, f'{text}\n[[measure]]\nbenchmark = "pingpong"\n')


def test_an_algorithm_that_cannot_do_a_point_is_a_reason(tmp_path: Path) -> None:
    """Named by hand: of another library, or for a message too short. Neither is launched."""
    text = 'collectives = "pipeline+32KiB"\n[[measure]]\nbenchmark = "reduce"\nbytes = 8\n'
    [first, other] = expand(tmp_path, text)
    executor = RealExecutor({OPENMPI.id: OPENMPI, MPICH.id: MPICH}, tmp_path, lambda _: None)
    assert executor._unfit(first) == (
        "skipped",
        "pipeline+32KiB of openmpi-4.1.4 cannot do reduce of 8 B on 2 ranks",
    )
    assert executor._unfit(replace(first, values={**first.values, "bytes": 1 << 20})) is None
    with pytest.raises(Exception, match=r"mpich-4.0.2 .*'pipeline\+32KiB'.* reduce"):
        executor._environment(MPICH, other)
    env = executor._environment(OPENMPI, replace(first, collectives="binomial", progress="off"))
    assert env["OMPI_MCA_coll_tuned_reduce_algorithm"] == "5"


def test_a_mistyped_communicator_is_told_with_its_line(tmp_path: Path) -> None:
    """Words that follow a pattern are held against it when the plan is read; the usual ones all do."""
    path = tmp_path / "some.toml"
    path.write_text('[[measure]]\nbenchmark = "barrier"\ncommunicator = ["world", "blob-3"]\n')
    with pytest.raises(UsageError, match=r"some.toml:3: .*'blob-3'"):
        Plan.load(path, benchmarks)
    for sweep_context in (SweepContext(2), SweepContext(64, 4, 6)):
        for each in benchmarks(sweep_context).values():
            for sweep in each.sweeps:
                assert all(re.fullmatch(sweep.pattern or ".*", str(value)) for value in sweep.default)
