"""A program changed as a question wants it: other sizes of messages."""

from collections.abc import Sequence
from dataclasses import replace

from leadline.core.errors import UsageError
from leadline.program.folded import Folded, Node
from leadline.program.model import COLLECTIVES, Kind, Operation, Program

_SIZED = COLLECTIVES | {Kind.SEND, Kind.RECV, Kind.SENDRECV, Kind.PROBE, Kind.PUT, Kind.GET, Kind.ACCUMULATE}


def scaled_bytes(program: Program, factor: float, region: str | None = None) -> Program:
    """The program with messages, blocks and accesses so many times as large, in a region or everywhere.

    Sizes are rounded to whole bytes; times of a recording stay those of the recording's sizes. Raises
    UsageError for a region that the program does not have.
    """
    if region is not None and region not in program.regions:
        known = ", ".join(program.regions) or "none"
        raise UsageError(f"the program has no region {region!r}; its regions: {known}")
    wanted = None if region is None else program.regions.index(region) + 1
    return replace(program, sequences=[_scaled(each, factor, wanted) for each in program.sequences])


def _scaled(folded: Folded, factor: float, wanted: int | None) -> Folded:
    leaves = list(folded.leaves)
    inside: list[int] = []

    def go(nodes: Sequence[Node]) -> None:
        for node in nodes:
            if not isinstance(node, int):
                go(node.body)
                continue
            leaf = leaves[node]
            if leaf.kind == Kind.REGION_BEGIN:
                inside.append(leaf.extra)
            elif leaf.kind == Kind.REGION_END and inside:
                inside.pop()
            elif leaf.kind in _SIZED and (wanted is None or wanted in inside):
                leaves[node] = _resized(leaf, factor)

    go(folded.nodes)
    return replace(folded, leaves=tuple(leaves))


def _resized(leaf: Operation, factor: float) -> Operation:
    def parts(given: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(round(value * factor) if place % 2 else value for place, value in enumerate(given))

    return leaf._replace(
        bytes=round(leaf.bytes * factor),
        source_bytes=round(leaf.source_bytes * factor),
        gives=parts(leaf.gives),
        takes=parts(leaf.takes),
    )
