"""One estimate of a launch, for a campaign that asks when to stop and for tables of records alike."""

from math import inf, nan

import pytest

from leadline.analysis.estimates import estimate, launch_estimates
from leadline.core.record import OK
from planted import frame_of


@pytest.mark.parametrize(
    ("samples", "warmup", "expected"),
    [
        ([9.0, 1.0, 2.0, 4.0], 1, 2.0),
        ([9.0, 1.0, 2.0], 1, 1.5),
        ([1.0, inf, nan, 3.0], 0, 2.0),
        ([5.0, 6.0], None, 5.5),
        ([5.0, 6.0], 2, None),
        ([nan], 0, None),
    ],
)
def test_a_launch_has_one_estimate(samples: list[float], warmup: int | None, expected: float | None) -> None:
    """The median of the numbers after the warm-up; a launch without any has none, here and there."""
    row = {"benchmark": "b", "metric": "m", "launch": 0, "status": OK, "samples": samples, "warmup": warmup}
    assert estimate(samples, warmup) == expected
    assert launch_estimates(frame_of([row]))["median"].to_list() == ([] if expected is None else [expected])
