"""What the machine has decides which placements it can be asked for, and why not."""

import re
from typing import Any

import pytest

from leadline.core.errors import UsageError
from leadline.targets.local.topology import Core, Topology, facts, parse, possible, topology

# Two packages of four cores, each of two groups that share a cache; a laptop of two cores.
SERVER = Topology(tuple(Core(c, c // 4, c // 2 % 2) for c in range(8)), 2, 2, ())
LAPTOP = Topology((Core(0, 0, 0, 2), Core(1, 0, 0, 2)), 1, 1, ())


@pytest.fixture(autouse=True)
def no_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of nodes is the test's own."""
    monkeypatch.delenv("SLURM_JOB_NUM_NODES", raising=False)


def test_what_the_native_program_prints_is_read() -> None:
    """Cores, groups and caches, sizes with their units."""
    described: dict[str, Any] = {
        "packages": 1,
        "numa_nodes": 1,
        "cores": [{"os_index": n, "package": 0, "group": n // 2, "threads": 1} for n in range(4)],
        "caches": [{"level": 2, "bytes": 2 << 20, "count": 4, "line": 64}],
    }
    read = parse(described)
    assert read.largest_group == 2
    assert read.caches == ("L2: 4 of 2 MiB, lines of 64 B",)
    assert read.cores[3] == Core(3, 0, 1)


def test_groups_of_different_packages_are_not_one() -> None:
    """Group 0 of each package: two cores each, not four."""
    assert SERVER.largest_group == 2


@pytest.mark.parametrize(
    ("placement", "ranks", "here"),
    [
        ("default", 8, SERVER),
        ("core-group", 2, SERVER),
        ("sockets", 8, SERVER),
        ("default", 2, LAPTOP),
        ("core-group", 2, LAPTOP),
    ],
)
def test_what_fits_is_possible(placement: str, ranks: int, here: Topology) -> None:
    """Up to a rank on every core that the placement leaves."""
    assert possible(placement, ranks, here=here) is None


@pytest.mark.parametrize(
    ("placement", "ranks", "here", "reason"),
    [
        ("core-group", 3, SERVER, "3 ranks need a core each, and the largest core group has 2"),
        ("sockets", 2, LAPTOP, "placement sockets needs two sockets or more; .* has 1"),
        ("nodes", 2, SERVER, "placement nodes needs two nodes or more; name them as hosts"),
        ("default", 9, SERVER, "9 ranks need a core each, and .* has 8; .*oversubscribe = true"),
    ],
)
def test_what_the_machine_lacks_is_a_reason(placement: str, ranks: int, here: Topology, reason: str) -> None:
    """It becomes the record's: what was asked, what is there."""
    assert re.match(reason, possible(placement, ranks, here=here) or "")


def test_hosts_add_their_cores() -> None:
    """Other hosts are taken to be like this one; one host named twice is one."""
    assert possible("nodes", 2, ["a", "b"], here=LAPTOP) is None
    assert possible("default", 4, ["a", "b"], here=LAPTOP) is None
    assert "2 nodes has 4" in (possible("nodes", 5, ["a", "b"], here=LAPTOP) or "")
    assert "needs two nodes" in (possible("nodes", 2, ["a", "a"], here=LAPTOP) or "")


def test_an_allocation_s_nodes_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside Slurm the nodes need not be named."""
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "4")
    assert possible("nodes", 4, here=LAPTOP) is None


def test_more_ranks_than_cores_only_when_asked() -> None:
    """And then unbound, so that no placement can be promised."""
    assert possible("default", 16, oversubscribe=True, here=LAPTOP) is None
    assert "oversubscribe excludes" in (possible("core-group", 16, oversubscribe=True, here=LAPTOP) or "")


def test_an_unknown_placement_is_refused() -> None:
    """With the nearest known one."""
    with pytest.raises(UsageError, match="unknown placement 'socket'; did you mean 'sockets'"):
        possible("socket", 2, here=LAPTOP)


def test_this_machine() -> None:
    """Whatever it is: it has cores, and a name for itself and its kernel."""
    here = topology()
    assert len(here.cores) >= 1
    assert here.packages >= 1
    assert len({core.os_index for core in here.cores}) == len(here.cores)
    told = facts()
    assert told["cores"] == len(here.cores)
    assert told["host"]
    assert told["kernel"].startswith("Linux")
    assert told["memory"].endswith(" GiB")
