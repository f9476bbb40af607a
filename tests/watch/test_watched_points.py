"""What of a run can be watched: values of which there are ratios."""

from leadline.run.watched_points import points_of
from planted import frame_of, rows


def test_a_difference_whose_interval_reaches_nothing_is_not_taken_for_exact() -> None:
    """Its value is above zero; of an interval from below zero there is no error of a logarithm, and none is
    not nothing.
    """
    launches = [[value * 1e-6] for value in (2, -1, 3, 2, -2, 1, 2, 3)]
    wide = rows(launches, [8], benchmark="overhead", metric="send_overhead", difference=True)
    sure = rows([[value * 1e-6] for value in (2, 2.1, 3, 2, 2.2, 2, 2, 3)], [64], benchmark="overhead")
    found = points_of(frame_of([*wide, *sure])).rows
    assert [row["bytes"] for row in found.values()] == [64]
