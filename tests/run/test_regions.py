"""How long ranks are in regions that are within themselves, do not end, or end without a begin."""

from typing import Any

import numpy as np
import pytest

from leadline import program
from leadline.program.model import Kind, Operation
from leadline.run.replay import by_region


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
