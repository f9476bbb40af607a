"""A program from its ranks' operations: folded, shared by ranks that do the same, with times summed up."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from leadline.program.fold import Folder
from leadline.program.folded import Folded
from leadline.program.model import STATS, Communicator, Operation, Program, shifted

T = TypeVar("T")


class ProgramBuilder:
    """Takes each rank's operations in turn; `build` gives the program.

    With `measured`, computation that differs from turn to turn of a loop is summed up and does not keep the
    loop from folding; otherwise it is part of what the program says, and only equal turns fold.
    """

    def __init__(self, ranks: int, *, measured: bool = False) -> None:
        self.communicators = [Communicator(range(ranks))]
        self.sites = [""]
        self.regions: list[str] = []
        self.recorded: dict[str, Any] = {}
        self.partial: set[int] = set()
        self._ranks, self._measured = ranks, measured
        self._folded: list[Folded | None] = [None] * ranks
        self._stats: list[npt.NDArray[np.void] | None] = [None] * ranks
        self._times: dict[int, npt.NDArray[np.int64]] = {}

    def add(
        self,
        rank: int,
        operations: Iterable[Operation],
        *,
        before: Sequence[float] | npt.NDArray[np.float64] | None = None,
        times: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """What a rank executes, peers as ranks of their communicators.

        Either `times`, ns, shape (operations, 2), when each was entered and left on the common clock, or
        `before`, s, the computation before each (none where neither is given). Raises ValueError where their
        number is not that of the operations.
        """
        names: dict[object, int] = {}
        known: list[Operation] = []
        exact = before is not None and not self._measured
        folder = Folder()
        count = 0
        for count, operation in enumerate(operations, 1):
            key = (operation, before[count - 1]) if exact and before is not None else operation
            name = names.setdefault(key, len(known))
            if name == len(known):
                known.append(operation)
            folder.add(name)
        nodes, names_of_leaves = folder.nodes()
        folded = Folded(tuple(known[name] for name in names_of_leaves), nodes)
        self._folded[rank] = folded
        if times is not None:
            self.time(rank, times)
            return
        if before is not None and len(before) != count:
            raise ValueError(f"rank {rank} has {count} operations, but times of {len(before)}")
        self._stats[rank] = _stats(folded, before, None)

    def time(self, rank: int, times: npt.NDArray[np.int64]) -> None:
        """Other times of a rank whose operations are there, as `add` takes them."""
        folded = self._folded[rank]
        assert folded is not None
        times = np.asarray(times, np.int64).reshape(-1, 2)
        if len(times) != folded.length:
            raise ValueError(f"rank {rank} has {folded.length} operations, but times of {len(times)}")
        begun = np.concatenate(([0], times[:-1, 1]))
        self._times[rank] = times
        self._stats[rank] = _stats(folded, np.maximum(times[:, 0] - begun, 0) * 1e-9, times)

    def build(self) -> Program:
        """The program. Raises ValueError where a rank was not given."""
        plain = [each for each in self._folded if each is not None]
        stats = [each for each in self._stats if each is not None]
        if len(plain) != self._ranks:
            raise ValueError("not every rank's operations were given")
        relative = [self._relative(rank, folded) for rank, folded in enumerate(plain)]
        # Whatever is shared by more ranks.
        chosen = min((plain, relative), key=lambda every: len(set(map(_identity, every))))
        sequences, rank_sequence = _shared(chosen, [_identity(each) for each in chosen])
        tables, rank_stats = _shared(stats, [(each.shape, each.tobytes()) for each in stats])
        return Program(
            ranks=self._ranks,
            sequences=sequences,
            rank_sequence=rank_sequence,
            stats_tables=tables,
            rank_stats=rank_stats,
            communicators=self.communicators,
            sites=self.sites,
            regions=self.regions,
            recorded=self.recorded,
            partial=frozenset(self.partial),
            measured=self._measured,
            times_of=self._times if len(self._times) == self._ranks else None,
        )

    def _relative(self, rank: int, folded: Folded) -> Folded:
        moved = {leaf: shifted(leaf, self.communicators, rank, -1) for leaf in set(folded.leaves)}
        return Folded(tuple(moved[leaf] for leaf in folded.leaves), folded.nodes, relative=True)


def _identity(folded: Folded) -> object:
    return folded.leaves, folded.nodes


def _shared(every: Sequence[T], identities: Sequence[object]) -> tuple[list[T], npt.NDArray[np.int32]]:
    places: dict[object, int] = {}
    different: list[T] = []
    which = np.zeros(len(every), np.int32)
    for rank, (each, identity) in enumerate(zip(every, identities, strict=True)):
        which[rank] = places.setdefault(identity, len(different))
        if which[rank] == len(different):
            different.append(each)
    return different, which


def _stats(
    folded: Folded,
    before: Sequence[float] | npt.NDArray[np.float64] | None,
    times: npt.NDArray[np.int64] | None,
) -> npt.NDArray[np.void]:
    """Of each leaf over its executions, as STATS."""
    table = np.zeros(len(folded.leaves), STATS)
    if before is None or (times is None and not np.any(before)):
        return table
    order = folded.order()
    counts = np.maximum(np.bincount(order, minlength=len(table)), 1)
    values: dict[str, npt.NDArray[Any]] = {"before": np.asarray(before, np.float64)}
    if times is not None:
        values["inside"] = (times[:, 1] - times[:, 0]) * 1e-9
    for name, value in values.items():
        table[f"{name}_mean"] = np.bincount(order, value, len(table)) / counts
        for extreme, reduce in (("min", np.minimum), ("max", np.maximum)):
            found = np.full(len(table), np.inf if extreme == "min" else -np.inf)
            reduce.at(found, order, value)
            table[f"{name}_{extreme}"] = np.where(np.isfinite(found), found, 0)
    if times is None:
        table["before_mean"][order] = before  # equal in every turn: without a sum's rounding
    return table
