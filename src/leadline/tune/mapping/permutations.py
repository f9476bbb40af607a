"""Permutations: any rank on any slot, sought by cutting in halves and then by swaps (simulated annealing).

What is lessened is bytes times hops, which a swap changes by what its two ranks alone send and get.
"""

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix

from leadline.tune.mapping.candidates import PERMUTATION, Candidate
from leadline.tune.mapping.costs import PartitionDistances
from leadline.tune.mapping.traffic import Traffic

LARGEST = 4096  # slots; a table of the distances of all nodes is kept
DENSEST = 1 << 23  # partners of all ranks, as many each as the one that has the most
FEW = 4096  # ways to put ranks on nodes that are all tried
DENSE = 400  # ranks whose halves are found by all eigenvectors at once
_HOT, _COLD = 4.0, 0.1  # temperatures, as parts of what a swap typically changes
_BATCH = 8  # one swap is tried at once for each so many slots

Order = NDArray[np.int64]


@dataclass
class _Table:
    """Partners of each rank and of each free slot's nobody, in rows of the same length."""

    partner: NDArray[np.int64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, traffic: Traffic, slots: int) -> "_Table":
        """The partners in either direction; a row is filled up with partners of no weight."""
        graph = symmetric(traffic, slots)
        degrees = np.diff(graph.indptr)
        partner = np.zeros((slots, max(1, int(degrees.max(initial=0)))), dtype=np.int64)
        weight = np.zeros(partner.shape)
        row = np.repeat(np.arange(slots), degrees)
        column = np.arange(graph.nnz) - np.repeat(graph.indptr[:-1], degrees)
        partner[row, column], weight[row, column] = graph.indices, graph.data
        return cls(partner, weight)


def symmetric(traffic: Traffic, size: int) -> csr_matrix:
    """Bytes between each two ranks, both ways together."""
    one = coo_matrix((traffic.bytes, (traffic.source, traffic.target)), shape=(size, size)).tocsr()
    return (one + one.T).tocsr()


def searchable(distances: PartitionDistances, traffic: Traffic) -> bool:
    """Whether permutations are sought: up to a size, and not where everybody speaks to everybody."""
    degree = np.bincount(traffic.source, minlength=traffic.ranks).max(initial=0)
    return distances.slots <= LARGEST and 2 * int(degree) * distances.slots <= DENSEST


def halves(distances: PartitionDistances, traffic: Traffic) -> Candidate:
    """Ranks cut in halves that have least to do with each other, and the partition along its longest axis.

    The halves are those of the second eigenvector of the graph's Laplacian.
    """
    slot_of = np.empty(traffic.ranks, dtype=np.int64)
    graph = symmetric(traffic, traffic.ranks)
    core = np.arange(distances.slots) % distances.per_node
    rows = np.column_stack([distances.coordinates(np.arange(distances.slots) // distances.per_node), core])
    left = [(np.arange(traffic.ranks), np.arange(distances.slots)[: traffic.ranks])]
    if distances.slots > traffic.ranks:
        left = [(np.arange(traffic.ranks), _compact(rows, traffic.ranks))]
    while left:
        ranks, slots = left.pop()
        if len(ranks) == 1:
            slot_of[ranks] = slots
            continue
        span = [len(np.unique(column)) for column in rows[slots].T]
        axis = int(np.argmax(span[:-1])) if max(span[:-1]) > 1 else len(span) - 1
        slots = slots[np.argsort(rows[slots, axis], kind="stable")]
        ranks = ranks[np.argsort(_second(graph[ranks][:, ranks]), kind="stable")]
        middle = len(ranks) // 2
        if distances.per_node > 1 and axis != len(span) - 1:
            middle = max(distances.per_node, middle // distances.per_node * distances.per_node)
        left += [(ranks[:middle], slots[:middle]), (ranks[middle:], slots[middle:])]
    return Candidate(PERMUTATION, "halves", slot_of)


def _compact(rows: NDArray[np.int64], count: int) -> Order:
    """So many slots that lie together: those with the least coordinates, whole nodes first."""
    return np.sort(np.lexsort((rows[:, -1], rows[:, :-1].sum(axis=1), rows[:, :-1].max(axis=1)))[:count])


def _second(graph: csr_matrix) -> NDArray[np.float64]:
    """A number a rank by which the ranks are cut in halves."""
    from scipy.sparse.csgraph import laplacian  # noqa: PLC0415
    from scipy.sparse.linalg import ArpackError, eigsh  # noqa: PLC0415

    size = graph.shape[0]
    if size <= 2 or graph.nnz == 0:
        return np.arange(size, dtype=float)
    matrix = laplacian(graph.astype(float))
    if size > DENSE:
        try:
            start = np.random.default_rng(1).random(size)
            shift = -1e-3 * float(matrix.diagonal().mean())
            vectors = eigsh(matrix.tocsc(), k=2, sigma=shift, v0=start)[1]
            return np.asarray(vectors[:, 1], dtype=float)
        except (ArpackError, RuntimeError):
            return np.arange(size, dtype=float)
    return np.asarray(np.linalg.eigh(matrix.toarray())[1][:, 1], dtype=float)


def ways(distances: PartitionDistances, ranks: int) -> Order | None:
    """All ways to put the ranks on nodes: a row each, the node of every rank. None where there are many."""
    if ranks * math.log(distances.nodes) > math.log(FEW):
        return None
    count = distances.nodes**ranks
    nodes = np.arange(count)[:, None] // distances.nodes ** np.arange(ranks) % distances.nodes
    there = (nodes[:, :, None] == np.arange(distances.nodes)).sum(axis=1)
    return np.asarray(nodes[(there <= distances.per_node).all(axis=1)])


def best_of(nodes: Order, distances: PartitionDistances, traffic: Traffic) -> Candidate:
    """The one of these ways with the least bytes times hops; the ranks of a node have its cores in turn."""
    hops = distances.hops(nodes[:, traffic.source], nodes[:, traffic.target])
    best = nodes[np.argmin((hops * traffic.bytes).sum(axis=1))]
    core = [int((best[:rank] == node).sum()) for rank, node in enumerate(best)]
    return Candidate(PERMUTATION, "best of all", best * distances.per_node + core)


def anneal(
    distances: PartitionDistances, traffic: Traffic, start: Candidate, seconds: float, seed: int = 1
) -> Candidate:
    """Swaps from a mapping on, ever fewer of them for the worse, for so long; the best that was met."""
    search = _Annealing(distances, traffic, start, seed)
    began = time.monotonic()
    while (spent := (time.monotonic() - began) / seconds if seconds > 0 else 1.0) < 1:
        search.step(_HOT * (_COLD / _HOT) ** spent)
    return Candidate(PERMUTATION, f"swaps from {start.name}", search.best[: traffic.ranks])


class _Annealing:
    """Which slot each rank has, and the nobodies who have the free ones, as swaps go on."""

    def __init__(self, distances: PartitionDistances, traffic: Traffic, start: Candidate, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.slots = distances.slots
        self.per_node = distances.per_node
        nodes = np.arange(distances.nodes)
        self.far = distances.hops(nodes[:, None], nodes[None, :]).astype(np.int32)
        near = min(
            distances.nodes, 2 * len(distances.sides) + 1 if distances.is_grid else 4 * distances.per_node
        )
        self.near = np.argsort(self.far, axis=1, kind="stable")[:, :near]
        self.table = _Table.of(traffic, self.slots)
        free = np.setdiff1d(np.arange(self.slots), start.slots)
        self.slot = np.concatenate([start.slots, free])
        self.who = np.empty(self.slots, dtype=np.int64)
        self.who[self.slot] = np.arange(self.slots)
        self.busy = np.flatnonzero(self.table.weight.any(axis=1))
        self.best, self.least = self.slot.copy(), self.total()
        self.now = self.least
        self.usual = float(self.table.weight.sum() / max(1, len(self.busy)))  # what one rank sends and gets

    def total(self) -> float:
        """Bytes times hops, each message counted from both ends."""
        node = self.slot // self.per_node
        return float((self.table.weight * self.far[node[:, None], node[self.table.partner]]).sum())

    def step(self, temperature: float) -> None:
        """Try swaps that touch no rank twice, and take those that help, or by chance."""
        one, other = self._pairs()
        gain = self._change(one, other) + self._change(other, one)
        chance = np.exp(np.minimum(0.0, -gain / (temperature * self.usual / 4)))
        taken = self.random.random(len(gain)) < chance
        one, other, gain = one[taken], other[taken], gain[taken]
        kept = self._apart(one, other)
        one, other = one[kept], other[kept]
        self.slot[one], self.slot[other] = self.slot[other], self.slot[one]
        self.who[self.slot[one]], self.who[self.slot[other]] = one, other
        self.now += 2 * float(gain[kept].sum())
        if self.now < self.least * (1 - 1e-12):
            self.best, self.least = self.slot.copy(), self.now

    def _pairs(self) -> tuple[Order, Order]:
        """Ranks, and who sits where each would like to sit: near a partner; now and then anywhere."""
        count = max(1, self.slots // _BATCH)
        one = self.random.choice(self.busy, count)
        column = self.random.integers(0, self.table.partner.shape[1], count)
        partner = self.table.partner[one, column]
        node = self.near[
            self.slot[partner] // self.per_node, self.random.integers(0, self.near.shape[1], count)
        ]
        wanted = node * self.per_node + self.random.integers(0, self.per_node, count)
        anywhere = self.random.random(count) < 0.1
        wanted[anywhere] = self.random.integers(0, self.slots, int(anywhere.sum()))
        other = self.who[wanted]
        owner = self._owners(one, other)
        number = np.arange(count)
        alone = (one != other) & (owner[one] == number) & (owner[other] == number)
        return one[alone], other[alone]

    def _owners(self, one: Order, other: Order) -> Order:
        """Of each rank the first pair that has it; a number beyond all pairs where none has."""
        owner = np.full(self.slots, len(one))
        number = np.arange(len(one))
        np.minimum.at(owner, one, number)
        np.minimum.at(owner, other, number)
        return owner

    def _change(self, who: Order, goes_to: Order) -> NDArray[np.float64]:
        """By how much it costs more when ranks take the slots of others, who take theirs."""
        node = self.slot // self.per_node
        partner, weight = self.table.partner[who], self.table.weight[who]
        there = node[partner]
        here, goal = node[who][:, None], node[goes_to][:, None]
        after = np.where(partner == goes_to[:, None], self.far[here, goal], self.far[goal, there])
        return np.asarray((weight * (after - self.far[here, there])).sum(axis=1))

    def _apart(self, one: Order, other: Order) -> NDArray[np.bool_]:
        """Which pairs have no partner in a pair before them, so that their gains add up."""
        owner = self._owners(one, other)
        number = np.arange(len(one))[:, None]
        kept = np.ones(len(one), dtype=bool)
        for who in (one, other):
            touched = np.where(self.table.weight[who] > 0, owner[self.table.partner[who]], len(one))
            kept &= ~(touched < number).any(axis=1)
        return kept
