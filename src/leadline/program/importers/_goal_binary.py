"""GOAL's binary form, which LogGOPSim's txt2bin makes of the text and LogGOPSim reads."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.core.errors import UsageError
from leadline.core.formatting import counted
from leadline.program.importers._graphs import ANY, Node
from leadline.program.importers._lines import data_of
from leadline.program.model import Kind

COOKIE = (4223).to_bytes(8, "little")
# What an operation of the binary form is, without gaps; `ended` and `begun` are how many operations begin
# after it has ended or begun, and where their numbers stand in the list behind the rank's operations.
_PACKED = np.dtype(
    [
        *(("unmet", "<u4"), ("type", "u1"), ("peer", "<u4"), ("bytes", "<u8"), ("tag", "<u4"), ("cpu", "u1")),
        *(("nic", "u1"), ("ended", "<u4"), ("ended_at", "<u4"), ("begun", "<u4"), ("begun_at", "<u4")),
    ]
)
_CALC = 3
_TYPES = {1: Kind.SEND, 2: Kind.RECV, _CALC: Kind.NOP}
_ANY_PACKED = 2**32 - 1


class Binary:
    """The binary form: a cookie, the number of ranks, where each rank is, and each rank's operations.

    Offsets count from behind the cookie. Operations are numbered through the file from 1, as lines are.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.place = path, f"{path}, operation "
        self.data = data_of(path)[8:]
        self.cpus: dict[int, set[str]] = {}
        self.nics: dict[int, set[str]] = {}
        self.numbered = 0

    def graphs(self) -> list[list[Node]]:
        """Of all ranks. Raises UsageError where the file is cut or makes no sense."""
        count = int(self._read("<u4", 0)[0])
        ends = self._read("<u8", 6, 2 * count).reshape(-1, 2)
        return [self._graph(rank, int(begin), int(end), count) for rank, (begin, end) in enumerate(ends)]

    def _read(self, kind: npt.DTypeLike, offset: int, count: int = 1) -> npt.NDArray[Any]:
        if offset + np.dtype(kind).itemsize * count > len(self.data):
            raise UsageError(
                f"{self.path}: the file is cut: {len(self.data) + 8} bytes, "
                f"but it goes on at byte {offset + 8}"
            )
        return np.frombuffer(self.data, kind, count, offset)

    def _graph(self, rank: int, begin: int, end: int, count: int) -> list[Node]:
        operations, roots = (int(each) for each in self._read("<u4", begin, 2))
        packed = self._read(_PACKED, begin + 8 + 4 * roots, operations)
        behind = begin + 8 + 4 * roots + _PACKED.itemsize * operations
        after = self._read("<u4", behind, max(end - behind, 0) // 4)
        if after.size and after.max() >= operations:
            many = counted(operations, "operation")
            raise UsageError(f"{self.path}: rank {rank} is damaged: it has {many}")
        self.cpus[rank] = {str(cpu) for cpu in np.unique(packed["cpu"])}
        messages = packed[packed["type"] != _CALC]
        self.nics[rank] = {str(nic) for nic in np.unique(messages["nic"])}
        nodes = [self._node(each, count) for each in packed.tolist()]
        for index, (node, each) in enumerate(zip(nodes, packed, strict=True)):
            node.after_end = after[int(each["ended_at"]) :][: int(each["ended"])].tolist()
            node.after_begin = after[int(each["begun_at"]) :][: int(each["begun"])].tolist()
            for later in node.after_end:
                nodes[later].required.append(index)
            for later in (*node.after_end, *node.after_begin):
                nodes[later].unmet += 1
        if [node.unmet for node in nodes] != packed["unmet"].tolist():
            raise UsageError(f"{self.path}: rank {rank} is damaged: its edges are not those it counts")
        return nodes

    def _node(self, packed: tuple[int, ...], count: int) -> Node:
        _, kind, peer, size, tag, *_ = packed
        self.numbered += 1
        if kind not in _TYPES:
            raise UsageError(f"{self.place}{self.numbered}: {kind} is no type of operation of GOAL")
        if _TYPES[kind] == Kind.NOP:
            return Node(self.numbered, Kind.NOP, time=size * 1e-9)
        receives = _TYPES[kind] == Kind.RECV
        peer, tag = (ANY if receives and each == _ANY_PACKED else each for each in (peer, tag))
        if peer >= count:
            raise UsageError(
                f"{self.place}{self.numbered}: there is no rank {peer}; "
                f"the schedule has {counted(count, 'rank')}"
            )
        return Node(self.numbered, _TYPES[kind], peer, size, tag)
