"""A program's own collective calls: what is measured for them, and what settings would save of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.program.build import ProgramBuilder
from leadline.program.model import Communicator, Kind, Operation, Program
from leadline.tune.collectives.calls import Calls, calls, plan, savings, without_choice, worth_measuring
from leadline.tune.collectives.selection import Chosen

US = 1000  # ns
ALLREDUCE = Operation(int(Kind.ALLREDUCE), bytes=8)
ROW = Operation(int(Kind.ALLREDUCE), 1, bytes=1024)
OTHER_ROW = Operation(int(Kind.ALLREDUCE), 2, bytes=1024)
VARIES = Operation(int(Kind.ALLTOALL), gives=(0, 100, 1, 300), takes=(0, 100, 1, 300))
IN_BACKGROUND = Operation(int(Kind.BARRIER), form=1, request=1)


def recorded(operations: dict[int, list[Operation]], each: int = 10 * US, ranks: int = 4) -> Program:
    """A program whose calls take `each` ns, one after another without a break."""
    builder = ProgramBuilder(ranks, measured=True)
    builder.communicators += [Communicator((0, 1)), Communicator((2, 3))]
    for rank in range(ranks):
        own = operations.get(rank, operations[0])
        ends = np.arange(1, len(own) + 1) * each
        builder.add(rank, own, times=np.stack([ends - each, ends], axis=1))
    return builder.build()


def test_calls_are_counted_by_operation_communicator_and_size() -> None:
    """Of a mean rank: five of all ranks, two of each half at once; forms that cannot be set are none."""
    first = [*[ALLREDUCE] * 5, ROW, ROW, IN_BACKGROUND, Operation(int(Kind.SEND), peer=1, bytes=8)]
    second = [*[ALLREDUCE] * 5, OTHER_ROW, OTHER_ROW]
    found = calls(recorded({0: first, 2: second, 3: second}))
    assert [(*each.place, each.count) for each in found] == [
        ("allreduce", 4, 8, 5),
        ("allreduce", 2, 1024, 2),
    ]
    assert [each.time for each in found] == pytest.approx([50e-6, 20e-6])


def test_blocks_that_vary_are_measured_at_their_mean() -> None:
    """200 B in the mean are 256 B of the benchmark, with blocks that vary there too."""
    [found] = calls(recorded({0: [VARIES] * 3}, ranks=2))
    assert (found.operation, found.bytes, found.count, found.uneven) == ("alltoallv", 256, 3, True)
    [measure] = plan([found], "x", "mpich", 10.0).measures
    assert measure.benchmark == "alltoall"
    assert measure.sweeps["variation"] == ("varying",)
    assert measure.settings.axes["ranks"] == (2,)


def test_what_takes_no_time_is_left_out_and_a_program_without_collectives_is_refused() -> None:
    """A share of 1 % of the time in collectives."""
    large, small = Calls("bcast", 2, 8, 1, 1.0), Calls("bcast", 2, 16, 1, 0.009)
    assert worth_measuring([large, small]) == [large]
    with pytest.raises(UsageError, match="x has no blocking collective"):
        plan([], "x", "found", 10.0)


FASTER = Chosen("mpich-4", "allreduce", 4, 8, "ring", 0.5, 0.4, 0.6, 10e-6, 5e-6, 3)
BETWEEN = replace(FASTER, applied=0.9, applied_low=0.8, applied_high=0.95)


def test_savings_are_calls_times_what_each_gains() -> None:
    """By the ratio between computations where there is one; nothing where the library's own choice stays."""
    every = [Calls("allreduce", 4, 8, 1000, 0.02)]
    [saved] = savings(every, [FASTER])
    assert (saved.seconds, saved.low, saved.high) == pytest.approx((5e-3, 4e-3, 6e-3))
    [saved] = savings(every, [BETWEEN])
    assert (saved.seconds, saved.low, saved.high) == pytest.approx((1e-3, 0.5e-3, 2e-3))
    [kept] = savings(every, [replace(FASTER, algorithm=None)])
    assert kept.seconds == 0


def test_calls_of_which_no_algorithm_was_measured_are_named() -> None:
    """With what they take, as time may be over before the turn of the most costly ones."""
    every = [
        Calls("alltoallv", 4, 2048, 10, 3.0),
        Calls("allreduce", 4, 8, 1, 0.9),
        Calls("barrier", 4, 0, 1, 0.1),
    ]
    assert without_choice(every, [FASTER]) == (
        "2 of 3 kinds of calls have no row, as no algorithm was measured for them: "
        "alltoallv of 2 KiB (75.0 % of the time), barrier (2.5 % of the time)"
    )
    assert without_choice(every[1:2], [FASTER]) is None


def ring(comm: program.Comm) -> Any:
    """Some allreduces."""
    for _ in range(10):
        yield comm.allreduce(1024)


@pytest.mark.mpi
def test_a_programs_calls_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verb itself, with the MPI that is named; a program without times counts its calls."""
    monkeypatch.chdir(tmp_path)
    program.evaluate(ring, 2).write(tmp_path / "ring.program")
    words = ["tune", "collectives", "ring.program", "--mpi", "mpich", "--within", "8 s"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == int("0 of 1 points" in done.output), done.output
    assert "allreduce" in done.output and "1 KiB" in done.output and " 10 " in done.output
    assert len(list((tmp_path / "runs").glob("tune-ring-*/records.parquet"))) == 1
    refused = CliRunner().invoke(
        main, ["tune", "collectives", *map(str, tmp_path.glob("runs/*")), "--mpi", "x"]
    )
    assert refused.exit_code == 2 and "--mpi needs a FILE.program" in refused.output
