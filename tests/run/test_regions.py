"""How long ranks are in messages, and in regions within themselves, without an end or without a begin."""

from typing import Any

import numpy as np
import pytest

from leadline import program
from leadline.program.build import ProgramBuilder
from leadline.program.model import FileCall, Kind, Operation
from leadline.run.replay import by_rank, by_region, recorded_communication


@pytest.mark.parametrize(
    ("marks", "turns", "inside"),
    [
        ("A.a.", 1, 1),
        ("A.A.a.a.", 2, 3),  # within itself it counts once
        (".A..", 1, 2),  # it lasts until the program ends
        ("a.A.a.a", 1, 1),  # an end alone is none
        ("A.a..A.a", 2, 2),
        ("", 0, 0),
    ],
)
def test_a_region_counts_once_and_until_the_end(marks: str, turns: int, inside: int) -> None:
    """A begins it, a ends it, and each dot is a second of one operation; marks take no time."""

    def body(comm: program.Comm) -> Any:
        with comm.region("region"):
            pass
        for mark in marks:
            if mark == ".":
                yield comm.barrier()
            else:
                kind = Kind.REGION_BEGIN if mark == "A" else Kind.REGION_END
                comm.owner.note(Operation(int(kind), extra=1))

    made = program.evaluate(body, ranks=1)
    executed = [made.leaves(0)[leaf].kind for leaf in made.sequence(0).order()]
    lasts = np.array([10**9 if kind == Kind.BARRIER else 0 for kind in executed], np.int64)
    ends = np.cumsum(lasts)
    (row,) = by_region(made, {0: np.stack([ends - lasts, ends], axis=1)}).rows(named=True)
    assert (row["turns"], row["mean"], row["most"]) == (turns + 1, inside, inside)


def test_files_are_no_communication_of_a_rank() -> None:
    """The table of ranks has the same mean as the summary: 3 s of a barrier count, 5 s of writing do not."""
    builder = ProgramBuilder(1, measured=True)
    write, barrier = Operation(int(Kind.FILE), mode=int(FileCall.WRITE)), Operation(int(Kind.BARRIER))
    times = np.array([[0, 5 * 10**9], [6 * 10**9, 9 * 10**9]])
    builder.add(0, [write, barrier], times=times)
    made = builder.build()
    (row,) = by_rank(made, {0: times}).rows(named=True)
    assert (row["time"], row["communication"]) == (9, pytest.approx(3))
    assert row["communication"] == recorded_communication(made)
