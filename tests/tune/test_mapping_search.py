"""Mappings are sought by costs that can be done by hand, and what was scrambled is found again."""

import time
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from leadline import machine
from leadline.core.errors import UsageError
from leadline.core.grids import even_grid
from leadline.tune.mapping import tuning
from leadline.tune.mapping.candidates import order, orders, tilings
from leadline.tune.mapping.costs import PartitionDistances, cost
from leadline.tune.mapping.grids import recognised
from leadline.tune.mapping.permutations import _Annealing, anneal, best_of, halves, ways
from leadline.tune.mapping.traffic import Traffic, halo, load, write

TORUS = PartitionDistances({"kind": "torus", "shape": [4, 4, 4]}, 4)
TREE = PartitionDistances({"kind": "fat-tree", "arity": [8, 4], "nodes": 32}, 4)
FLY = PartitionDistances({"kind": "dragonfly", "groups": 3, "routers": 4, "nodes": 2, "links": 2}, 2)


def ring(ranks: int) -> Traffic:
    """A byte from each rank to the next."""
    rank = np.arange(ranks)
    return Traffic.of(ranks, rank, (rank + 1) % ranks, np.ones(ranks))


def scrambled(traffic: Traffic, seed: int = 3) -> Traffic:
    """The same among ranks that have other numbers."""
    number = np.random.default_rng(seed).permutation(traffic.ranks)
    return Traffic.of(traffic.ranks, number[traffic.source], number[traffic.target], traffic.bytes)


# --------------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("ranks", "dimensions", "grid"),
    [
        (12, 2, (3, 4)),
        (131072, 2, (256, 512)),
        (7, 2, (1, 7)),
        (64, 3, (4, 4, 4)),
        (24, 3, (2, 3, 4)),
        (131072, 3, (32, 64, 64)),
    ],
)
def test_grids_are_those_of_the_benchmarks(ranks: int, dimensions: int, grid: tuple[int, ...]) -> None:
    """As near to a square or a cube as can be, the shortest first."""
    assert even_grid(ranks, dimensions) == grid


def test_a_halo_sends_an_edge_to_each_neighbour() -> None:
    """Four each in two dimensions; where a side is two ranks long, both go to the same one."""
    square = halo(16, 2, [8, 16])
    assert len(square.source) == 64
    assert set(square.bytes) == {8.0 * 24}
    narrow = halo(8, 2, [1])  # 2 x 4
    assert sorted(narrow.bytes[narrow.source == 0]) == [8.0, 8.0, 16.0]
    cube = halo(27, 3, [2])
    assert len(cube.source) == 27 * 6
    assert set(cube.bytes) == {32.0}


def test_a_table_may_be_csv_parquet_or_arrays(tmp_path: Path) -> None:
    """Each gives the same messages; what a rank sends itself is left out, twice the same pair is one."""
    table = pl.DataFrame({"from": [0, 1, 0, 2], "to": [1, 0, 1, 2], "bytes": [10, 20, 5, 7]})
    table.write_csv(tmp_path / "a.csv")
    table.write_parquet(tmp_path / "a.parquet")
    arrays: dict[str, Any] = {name: table[name].to_numpy() for name in table.columns}
    np.savez(tmp_path / "a.npz", **arrays)
    for name in ("a.csv", "a.parquet", "a.npz"):
        read = load(tmp_path / name)
        assert (read.ranks, list(read.source), list(read.target)) == (3, [0, 1], [1, 0])
        assert list(read.bytes) == [15.0, 20.0]
    again = tmp_path / "b.csv"
    write(read, again)
    assert again.read_text() == "from,to,bytes\n0,1,15\n1,0,20\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("from,to,bytes\n0,1,8\n1,64,8\n", "row 2: there are ranks 0 to 3, but got a message from 1 to 64"),
        ("from,to,bytes\n0,-1,8\n", "row 1: to is a whole number, 0 or more, but got -1"),
        ("from,to,bytes\n0,1,0.5\n", "row 1: bytes is a whole number"),
        ("from,to,bytes\n0,x,8\n", "the column to is of whole numbers"),
        ("from,to\n0,1\n", "bytes is missing"),
        ("from,to,bytes\n", "has no messages"),
        ("from,to,bytes\n1,1,8\n", "no bytes from one rank to another"),
        ("", "cannot read the table"),
    ],
)
def test_a_wrong_table_is_told(tmp_path: Path, text: str, says: str) -> None:
    """With its row, and what would do."""
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=says):
        load(path, 4)


def test_a_table_of_another_kind_is_told(tmp_path: Path) -> None:
    """By the end of its name."""
    (tmp_path / "m.txt").write_text("0 1 8\n")
    with pytest.raises(UsageError, match=r"is a .csv, .parquet or .npz file"):
        load(tmp_path / "m.txt")


# ------------------------------------------------------------------------------------------------------ costs


def test_costs_by_hand() -> None:
    """Two messages along a ring of four: one hop, and two by the link that the first has, and one more."""
    line = PartitionDistances({"kind": "torus", "shape": [4]}, 1)
    two = Traffic.of(4, np.array([0, 0]), np.array([1, 2]), np.array([10.0, 100.0]))
    found = cost(line, two, np.arange(4))
    assert (found.hop_bytes, found.busiest) == (10 + 200, 110)
    back = Traffic.of(4, np.array([0]), np.array([3]), np.array([7.0]))
    assert cost(line, back, np.arange(4)).hop_bytes == 7
    mesh = PartitionDistances({"kind": "mesh", "shape": [4]}, 1)
    assert cost(mesh, back, np.arange(4)).hop_bytes == 21
    assert cost(mesh, back, np.zeros(4, dtype=int)).hop_bytes == 0


def test_messages_go_along_one_axis_after_the_other() -> None:
    """From (0, 0) and (0, 1) to (1, 1): only the second needs no step along the second axis."""
    plane = PartitionDistances({"kind": "torus", "shape": [4, 4]}, 1)
    both = Traffic.of(16, np.array([0, 1]), np.array([5, 5]), np.array([1.0, 1.0]))
    assert cost(plane, both, np.arange(16)).busiest == 1
    wrapped = Traffic.of(16, np.array([3, 2]), np.array([0, 0]), np.array([1.0, 1.0]))
    assert cost(plane, wrapped, np.arange(16)).busiest == 2  # 3 to 0 the short way, 2 to 0 past 3


def test_hops_of_trees_and_dragonflies() -> None:
    """Up and down again; between nodes of a router, a group, and groups."""
    here = np.zeros(3, dtype=int)
    assert list(TREE.hops(here, np.array([0, 7, 8]))) == [0, 2, 4]
    assert list(FLY.hops(np.zeros(5, dtype=int), np.array([0, 1, 2, 8, 10]))) == [0, 2, 3, 3, 4]


# ----------------------------------------------------------------------------------------- orders and tilings


def test_orders_are_all_there_is() -> None:
    """Four letters have 24 orders; on a torus whose axis Z is of length 1 they are fewer."""
    assert len(list(orders(TORUS, 256))) == 24
    assert len(list(orders(PartitionDistances({"kind": "torus", "shape": [4, 4, 1]}, 4), 64))) == 6
    assert [each.name for each in orders(TREE, 128)] == ["XT", "TX"]


def test_an_order_is_what_the_simulator_makes_of_it() -> None:
    """The first letter varies fastest."""
    places = order("XYZT", TORUS, 256).places(TORUS)
    assert places[:5].tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0], [0, 1, 0, 0]]
    assert order("TXYZ", TORUS, 256).places(TORUS)[:2].tolist() == [[0, 0, 0, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize(("distances", "ranks"), [(TORUS, 256), (TREE, 128), (FLY, 48)])
def test_tilings_put_every_rank_on_a_seat_of_its_own(distances: PartitionDistances, ranks: int) -> None:
    """Whatever the distances; and the best of them is better than any order."""
    traffic = halo(ranks, 2, [1])
    found = list(tilings(distances, traffic))
    assert found
    for each in found:
        assert sorted(each.slots) == list(range(ranks))

    def least(candidates: object) -> float:
        return min(cost(distances, traffic, each.nodes(distances)).hop_bytes for each in candidates)  # type: ignore[attr-defined]

    assert least(found) < least(orders(distances, ranks))


def test_neighbours_stay_neighbours_on_a_grid_of_their_own_shape() -> None:
    """8 x 8 ranks on 8 x 8 nodes: every message makes one hop."""
    plane, traffic = PartitionDistances({"kind": "torus", "shape": [8, 8]}, 1), halo(64, 2, [1])
    best = min(cost(plane, traffic, each.nodes(plane)).hop_bytes for each in tilings(plane, traffic))
    assert best == traffic.bytes.sum()


def test_a_grid_that_does_not_fill_the_partition_has_no_tilings() -> None:
    """250 ranks on 256 slots."""
    assert list(tilings(TORUS, halo(250, 2, [1]))) == []


# ----------------------------------------------------------------------------------------------------- search


@pytest.mark.parametrize("grid", [(8, 8), (16, 16), (5, 7), (3, 4, 5), (10,), (16, 16, 16)])
def test_a_scrambled_grid_is_recognised(grid: tuple[int, ...]) -> None:
    """Its messages give back neighbours that stand beside one another, in as many ranks."""
    ranks = int(np.prod(grid))
    traffic = scrambled(halo(ranks, len(grid), [1]))
    found = recognised(traffic)
    assert found is not None
    lengths, number = found
    assert int(np.prod(lengths)) == ranks
    assert sorted(number) == list(range(ranks))
    here, there = (np.stack(np.unravel_index(number[of], lengths)) for of in (traffic.source, traffic.target))
    steps = np.minimum(abs(here - there), np.array(lengths)[:, None] - abs(here - there))
    assert set(steps.sum(axis=0)) == {1}


def test_what_is_no_grid_is_none() -> None:
    """Random partners, and everybody with everybody."""
    random = np.random.default_rng(1)
    ranks = random.integers(0, 100, (2, 300))
    assert recognised(Traffic.of(100, ranks[0], ranks[1], np.ones(300))) is None
    every = np.array([(one, other) for one in range(20) for other in range(20) if one != other]).T
    assert recognised(Traffic.of(20, every[0], every[1], np.ones(380))) is None


def test_small_messages_beside_a_grid_do_not_hide_it() -> None:
    """As of an allreduce among all."""
    grid, rank = halo(64, 2, [100]), np.arange(64)
    source, target = np.concatenate([grid.source, rank]), np.concatenate([grid.target, (rank + 27) % 64])
    mixed = Traffic.of(64, source, target, np.concatenate([grid.bytes, np.full(64, 8.0)]))
    found = recognised(scrambled(mixed))
    assert found is not None
    assert found[0] == (8, 8)


def test_halves_unscramble_a_ring() -> None:
    """128 ranks in a ring, four a node: only 32 messages leave a node, four of them their switch."""
    traffic = scrambled(ring(128))
    usual = cost(TREE, traffic, order("TX", TREE, 128).nodes(TREE)).hop_bytes
    found = cost(TREE, traffic, halves(TREE, traffic).nodes(TREE)).hop_bytes
    assert found == 28 * 2 + 4 * 4
    assert found < usual / 5


@pytest.mark.parametrize("ranks", [256, 200])
def test_swaps_only_help_and_are_counted_right(ranks: int) -> None:
    """What they say that they gained is what the costs say; free slots may be taken."""
    traffic = scrambled(halo(ranks, 2, [1]))
    start = order("XYZT", TORUS, ranks)
    search = _Annealing(TORUS, traffic, start, 1)
    for temperature in (4.0, 1.0, 0.1, 0.1, 0.1):
        search.step(temperature)
        assert search.now == pytest.approx(search.total())
        assert sorted(search.slot) == list(range(256))
        assert all(search.who[search.slot] == np.arange(256))
    before = cost(TORUS, traffic, start.nodes(TORUS)).hop_bytes
    found = anneal(TORUS, traffic, start, 1.0)
    assert len(set(found.slots)) == ranks
    assert cost(TORUS, traffic, found.nodes(TORUS)).hop_bytes < before / 2


def test_where_ranks_can_stand_in_few_ways_all_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Swaps of two ranks went on for two fifths of the time, to no end."""
    line = PartitionDistances({"kind": "mesh", "shape": [4]}, 1)
    assert ways(PartitionDistances({"kind": "single"}, 4), 2).tolist() == [[0, 0]]  # type: ignore[union-attr]
    few = ways(line, 4)
    assert few is not None
    assert sorted(map(tuple, few.tolist())) == sorted(permutations(range(4)))
    assert ways(TORUS, 4) is None
    mixed = scrambled(Traffic.of(4, np.arange(3), np.arange(1, 4), np.ones(3)))
    best = best_of(few, line, mixed)
    assert cost(line, mixed, best.nodes(line)).hop_bytes == 3
    assert sorted(best.slots) == [0, 1, 2, 3]
    monkeypatch.setattr(tuning, "anneal", None)  # not called
    path, small = machine.load("bgp"), Traffic.of(2, np.array([0]), np.array([1]), np.array([8.0]))
    search = tuning._Search(tuning.Task(path, 2, (), small), 60.0, time.monotonic())
    assert "best of all" in [each.candidate.name for each in search.run(["order", "tiling", "permutation"])]
    assert search.cut == ["no swaps tried, as the only way to put the ranks on nodes had been compared"]


def test_a_search_never_ends_worse_than_it_began() -> None:
    """From the best that there is."""
    plane, traffic = PartitionDistances({"kind": "torus", "shape": [8, 8]}, 1), halo(64, 2, [1])
    best = min(tilings(plane, traffic), key=lambda each: cost(plane, traffic, each.nodes(plane)).hop_bytes)
    found = anneal(plane, traffic, best, 0.2)
    assert cost(plane, traffic, found.nodes(plane)).hop_bytes == traffic.bytes.sum()


def test_lengths_of_levels_make_up_the_partition() -> None:
    """Cores, then axes or switches."""
    for distances in (TORUS, TREE, FLY):
        assert int(np.prod(distances.levels)) == distances.slots
    assert all(one <= other for one, other in pairwise(sorted(TREE.levels)))
