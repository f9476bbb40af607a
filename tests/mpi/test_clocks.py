"""The common time of real ranks: what was planted into their clocks is found, and the error told covers it.

All ranks run on this host, so that the truth is known: at each start the ranks say by the host's clock when
the start was. A shift of 12.5 ms a rank and a drift of some tens of millionths are planted.
"""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from leadline.mpi.discover import find
from leadline.mpi.library import Mpi

from .test_words import say

pytestmark = pytest.mark.mpi

SECONDS = 1.0  # of starts, one every 10 ms; oversubscribed ranks come to fewer
FINE = 1e-6  # s: what a shared clock, read in turns, may seem to differ by
READING = 100e-9  # s: a reading of the truth is no better than the clock's own


@pytest.fixture(scope="module", params=find(), ids=lambda mpi: mpi.id)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI of this machine."""
    found: Mpi = request.param
    return found


@dataclass
class Told:
    """What the program found out of its clocks."""

    shared: bool
    starts: list[dict[str, float]]
    drifts: list[float]
    drift_errors: list[float]
    planted: list[float]


def tell(mpi: Mpi, ranks: int, kind: str) -> Told:
    """Run it over clocks of a kind."""
    lines = say(mpi, ranks, "clocks", kind, str(SECONDS))
    told: dict[str, Any] = json.loads(next(line for line in lines if line.startswith("{")))
    assert told["starts"]
    return Told(**told)


def test_ranks_of_a_host_share_its_clock(mpi: Mpi) -> None:
    """Nothing is estimated: the error is the clock's resolution."""
    told = tell(mpi, 2, "host")
    assert told.shared
    assert set(told.drifts) == {0.0}
    for start in told.starts:
        assert start["away"] < FINE
        assert 0 < start["error"] < FINE


@pytest.mark.parametrize("kind", ["apart", "belied"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_planted_clocks_are_found(mpi: Mpi, kind: str, ranks: int) -> None:
    """Also where all ranks say that they read one clock, and do not: that is checked."""
    told = tell(mpi, ranks, kind)
    assert not told.shared
    for start in told.starts:
        assert start["away"] <= start["error"] + READING
    for drift, error, planted in zip(told.drifts, told.drift_errors, told.planted, strict=True):
        assert abs(drift - planted) <= error + READING


def test_the_error_of_what_was_planted_is_small_beside_it(mpi: Mpi) -> None:
    """Two ranks on two cores: the shift is 12.5 ms, what is left of it is at most 1 %."""
    told = tell(mpi, 2, "apart")
    assert min(start["error"] for start in told.starts) < 125e-6


def test_late_starts_are_told(mpi: Mpi) -> None:
    """More ranks than cores cannot all start at once; how late is told, and it is no negative time."""
    told = tell(mpi, 3, "host")
    assert all(start["late"] >= 0 for start in told.starts)
    assert all(30e-6 <= start["slack"] <= 5e-3 for start in told.starts)
