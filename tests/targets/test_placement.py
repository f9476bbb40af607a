"""Places against what the plan asked for."""

import pytest

from leadline.targets.local.placement import binding, by_memory, misplaced


def place(
    host: str, package: int, group: int, core: int, *, boot: str = "", network: str = ""
) -> dict[str, object]:
    """A rank bound to one core."""
    known = {"boot": boot, "network": network} if boot else {}
    return {"host": host, "package": package, "group": group, "core": core, "cores": 1, **known}


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


@pytest.mark.parametrize("placement", ["default", "unbound"])
def test_a_node_is_filled_before_the_next(placement: str) -> None:
    """Two ranks on two nodes of two cores would measure the network under the name of the node."""
    assert "on 2 nodes: a:0 b:0" in str(misplaced(placement, TWO_NODES, node_cores=2))
    assert misplaced(placement, TWO_NODES, node_cores=1) is None
    assert misplaced("nodes", TWO_NODES, node_cores=2) is None
    assert "1 hosts were named" in str(misplaced(placement, TWO_NODES, node_cores=1, hosts=1))


def test_two_names_of_one_machine_are_not_two_nodes() -> None:
    """Their messages never leave it; in another namespace of the network they may."""
    here = place("a", 0, 0, 0, boot="kernel", network="net:1")
    same = place("b", 0, 0, 1, boot="kernel", network="net:1")
    other = place("b", 0, 0, 1, boot="kernel", network="net:2")
    assert "a and b are one machine" in str(misplaced("nodes", [here, same]))
    assert misplaced("nodes", [here, other]) is None
    assert misplaced("default", [here, same], node_cores=1) is None


def test_messages_that_crossed_no_interface_went_over_shared_memory() -> None:
    """Where two "nodes" are one machine, its interfaces must have sent what the ranks exchanged."""
    here = place("a", 0, 0, 0, boot="kernel", network="net:1")
    places = [here, place("b", 0, 0, 1, boot="kernel", network="net:2")]
    assert "went over shared memory: of 1048576 B the network interfaces sent 1200 B" in str(
        by_memory(places, 1 << 20, 1200)
    )
    assert by_memory(places, 1 << 20, 1.1e6) is None
    far = [here, place("b", 0, 0, 1, boot="another kernel", network="net:2")]
    assert by_memory(far, 1 << 20, 0) is None  # InfiniBand counts elsewhere


def test_an_unbound_rank_is_right_where_it_was_asked_for() -> None:
    """By the placement, or since there are more ranks than cores; the site's reason is told else."""
    ranks = [place("a", 0, 0, -1), place("a", 0, 0, -1)]
    assert misplaced("unbound", ranks) is None
    assert misplaced("default", ranks, bound=False) is None
    assert "a:* a:*; TaskPlugin=task/none" in str(misplaced("default", ranks, site="TaskPlugin=task/none"))


def test_two_ranks_on_a_core_are_told() -> None:
    """Such ranks take turns, and their latency is the scheduler's."""
    assert "two ranks on one core" in str(misplaced("default", [place("a", 0, 0, 1), place("a", 0, 0, 1)]))


def test_an_unbound_rank_is_told() -> None:
    """It may move during a sample."""
    assert "did not bind" in str(misplaced("default", [place("a", 0, 0, 0), place("a", 0, 0, -1)]))
