"""Recordings with known answers: `tests/record/programs/late.c` and `imbalance.c`, MPICH, 2 ranks."""

from pathlib import Path

import numpy as np
import pytest

from leadline import program
from leadline.profile import profile
from leadline.profile.analysis import Profile
from leadline.profile.findings import findings
from leadline.profile.waits import IMBALANCE, SENDER, WAITS

MS = 1_000_000  # ns
RECORDED = Path(__file__).parent / "recorded"


def recorded(name: str) -> Profile:
    """The profile of a recording."""
    return profile(program.read(RECORDED / f"{name}.program"))


@pytest.mark.parametrize(
    ("name", "kind", "late", "waits", "site"),
    [("late", SENDER, 0, 1, "late.c:22 main"), ("imbalance", IMBALANCE, 1, 0, "rank 1 less to do before")],
)
def test_whoever_computes_5_ms_longer_is_found(
    name: str, kind: str, late: int, waits: int, site: str
) -> None:
    """Ten times 5 ms: of each wait the length within 2 %, its kind, its cause, and what to do."""
    found = recorded(name)
    each = found.waiting[waits]
    long = each.time[each.time > MS]
    assert long.tolist() == pytest.approx([5 * MS] * 10, rel=0.02)
    assert {WAITS[why] for why in each.why[each.time > MS]} == {kind}
    assert set(each.rank[each.time > MS].tolist()) == {late}
    caused = found.caused()
    assert int(np.argmax(caused)) == late
    assert caused[late] > 0.98 * caused.sum()
    assert any(f"rank {late}" in said and site in said for said in findings(found))


@pytest.mark.parametrize("name", ["late", "imbalance"])
def test_the_parts_of_a_recording_are_its_time(name: str) -> None:
    """Computation, waiting and transfer are each rank's time to the nanosecond, the path the last rank's."""
    found = recorded(name)
    assert (found.computing + found.waits.sum(axis=1) + found.transfer == found.end).all()
    computing, inside = found.path_by_rank()
    assert int(computing.sum() + inside.sum()) == int(found.end.max())
