"""A kernel on some ranks of a described machine: its space of settings, its defaults, its times."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline import machine as machines
from leadline.core.errors import UsageError, suggest
from leadline.tune import search
from leadline.tune.search import Settings, Space
from leadline.tune.storage import _model
from leadline.tune.storage.patterns import Pattern, pattern

Floats = NDArray[np.float64]

# What the model knows; other settings of a space change nothing in it, and are refused so that nobody
# believes they do.
KNOWN = (
    "striping_factor",
    "striping_unit",
    "cb_nodes",
    "cb_buffer_size",
    "alignment",
    "chunk_size",
    "bglockless",
    "IBM_largeblock_io",
)


@dataclass(frozen=True)
class Job:
    """A kernel on some ranks of a machine; made by `leadline.tune.storage.job`."""

    machine: str
    kernel: str
    ranks: int
    storage: Mapping[str, Any]  # the machine's [storage] in SI units, and the ranks of a node
    pattern: Pattern

    @property
    def volume(self) -> int:
        """Bytes that are written."""
        return self.pattern.volume(self.ranks)

    @property
    def default(self) -> Settings:
        """The settings of who sets nothing: none."""
        return {}

    @property
    def numbers(self) -> dict[str, int]:
        """What the words in a space's values and limits stand for."""
        nodes = -(-self.ranks // int(self.storage["ranks"]))
        return {"ranks": self.ranks, "nodes": nodes, "targets": int(self.storage["targets"])}

    @cached_property
    def space(self) -> Space:
        """The paper's space for this machine's file system and this kernel."""
        name = str(self.storage["file_system"]) + ("" if self.pattern.collective else "-chunked")
        return search.load(name, self.numbers)

    def seconds(self, settings: Settings, seed: int | None = None, noise: float = 0.1) -> float:
        """Seconds of a run with some settings; with a `seed`, as one run of many that differ by chance.

        Chance multiplies by exp(noise z) with z normal. Raises UsageError for settings that the model does
        not know.
        """
        exact = float(self.all([settings])[0])
        if seed is None:
            return exact
        return exact * float(np.exp(noise * np.random.default_rng(seed).standard_normal()))

    def parts(self, settings: Settings) -> dict[str, float]:
        """Seconds of each part of a run; their sum is the run."""
        return {name: float(value[0]) for name, value in self._parts([settings]).items()}

    def all(self, runs: Sequence[Settings]) -> Floats:
        """Seconds of many runs, an array in their order."""
        return np.asarray(sum(self._parts(runs).values()))

    @cached_property
    def exhaustive(self) -> Floats:
        """Seconds of every point of the space, in the order of `space.points`."""
        return self.all([self.space.settings(tuple(row.tolist())) for row in self.space.points])

    @property
    def optimum(self) -> tuple[dict[str, int | str | bool], float]:
        """The best settings of the whole space, and their seconds."""
        best = int(np.argmin(self.exhaustive))
        return self.space.settings(tuple(self.space.points[best].tolist())), float(self.exhaustive[best])

    def check(self, names: Iterable[str]) -> None:
        """UsageError for the name of a setting that the model does not know."""
        for name in names:
            if name not in KNOWN:
                raise UsageError(f"the model of storage knows no setting {name!r}{suggest(name, KNOWN)}")

    def _parts(self, runs: Sequence[Settings]) -> dict[str, Floats]:
        self.check({name for each in runs for name in each})
        columns = _columns(self.storage, self.ranks, runs)
        return _model.parts(self.storage, self.pattern, self.ranks, columns)


def job(machine: str, kernel: str, ranks: int) -> Job:
    """A kernel on so many ranks of a machine, by its name or its path.

    Raises UsageError for a machine without [storage], more ranks than it has, and a kernel without a pattern.
    """
    described = machines.load(machine)
    if not described.storage:
        able = [name for name in machines.names() if machines.load(name).storage]
        raise UsageError(
            f"{described.path}: this machine has no [storage]; machines with it are {', '.join(able)}"
        )
    described.partition(ranks)
    constants = {**described.storage, "ranks": described.ranks_per_node}
    return Job(described.name, kernel, ranks, constants, pattern(kernel))


def _divisor(stripes: float, nodes: int) -> float:
    """The largest divisor of a number of stripes that is no larger than the number of nodes."""
    whole = int(stripes)
    return float(max(one for one in range(1, min(whole, nodes) + 1) if whole % one == 0))


def _columns(storage: Mapping[str, Any], ranks: int, runs: Sequence[Settings]) -> _model.Columns:
    """The settings of runs as arrays, with the defaults of the machine for what they do not set.

    On Lustre, ROMIO takes an aggregator of each node, as many as divide the number of stripes, so that a
    target has one writer, and writes whole stripes (its driver's `ADIOI_LUSTRE_Get_striping_info`; section
    5.1.3 sees that striping alone sets the collective buffers). On GPFS it takes so many a client.
    """
    clients = -(-ranks // int(storage["client_ranks"]))
    nodes = -(-ranks // int(storage["ranks"]))
    blocks = bool(storage.get("block", 0))

    def column(name: str, default: Any) -> Floats:
        """A number of every run."""
        given = [each.get(name) for each in runs]
        there = default if isinstance(default, np.ndarray) else np.full(len(runs), float(default))
        return np.array([there[i] if value is None else float(value) for i, value in enumerate(given)])

    stripes = column("striping_factor", storage.get("stripes", 1))
    stripe = column("striping_unit", storage.get("stripe", 1))
    some = np.array([_divisor(each, nodes) for each in stripes])
    pairs = [str(each.get("alignment", "1,1")).split(",") for each in runs]
    return _model.Columns(
        stripes=stripes,
        stripe=stripe,
        aggregators=column("cb_nodes", storage["aggregators"] * clients if blocks else some),
        buffer=column("cb_buffer_size", storage["buffer"] if blocks else stripe),
        boundary=np.array([float(pair[1]) for pair in pairs]),
        chunk=column("chunk_size", 0),
        lockless=np.array([bool(each.get("bglockless", False)) for each in runs]),
        large=np.array([bool(each.get("IBM_largeblock_io", False)) for each in runs]),
    )
