"""Places against what the plan asked for."""

import pytest

from leadline.targets.local.placement import binding, misplaced


def place(host: str, package: int, group: int, core: int) -> dict[str, object]:
    """A rank bound to one core."""
    return {"host": host, "package": package, "group": group, "core": core, "cores": 1}


SAME_GROUP = [place("a", 0, 0, 0), place("a", 0, 0, 1)]
TWO_GROUPS = [place("a", 0, 0, 0), place("a", 0, 1, 8)]
TWO_SOCKETS = [place("a", 0, 0, 0), place("a", 1, 1, 16)]
TWO_NODES = [place("a", 0, 0, 0), place("b", 0, 0, 0)]


@pytest.mark.parametrize(
    ("placement", "places"),
    [
        ("default", SAME_GROUP),
        ("default", TWO_NODES),
        ("core-group", SAME_GROUP),
        ("sockets", TWO_SOCKETS),
        ("nodes", TWO_NODES),
    ],
)
def test_what_was_asked_for_is_accepted(placement: str, places: list[dict[str, object]]) -> None:
    """Each placement has places that are right for it."""
    assert misplaced(placement, places) is None


@pytest.mark.parametrize(
    ("placement", "places"),
    [
        ("core-group", TWO_GROUPS),
        ("core-group", TWO_SOCKETS),
        ("core-group", TWO_NODES),
        ("sockets", SAME_GROUP),
        ("sockets", TWO_GROUPS),
        ("sockets", TWO_NODES),
        ("nodes", SAME_GROUP),
        ("nodes", TWO_SOCKETS),
    ],
)
def test_anything_else_is_told(placement: str, places: list[dict[str, object]]) -> None:
    """The reason names the places that were seen."""
    reason = misplaced(placement, places)
    assert reason is not None
    assert binding(places) in reason


def test_two_ranks_on_a_core_are_told() -> None:
    """Such ranks take turns, and their latency is the scheduler's."""
    assert "two ranks on one core" in str(misplaced("default", [place("a", 0, 0, 1), place("a", 0, 0, 1)]))


def test_an_unbound_rank_is_told() -> None:
    """It may move during a sample."""
    assert "did not bind" in str(misplaced("default", [place("a", 0, 0, 0), place("a", 0, 0, -1)]))
