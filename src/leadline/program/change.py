"""A program changed as a question wants it: other sizes of messages."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, isfinite, nan

from leadline.core.errors import UsageError
from leadline.program.folded import Folded, Node
from leadline.program.model import COLLECTIVES, Form, Kind, Operation, Program, called

_SIZED = COLLECTIVES | {Kind.SEND, Kind.RECV, Kind.SENDRECV, Kind.PROBE, Kind.PUT, Kind.GET, Kind.ACCUMULATE}


def factor_of(words: str, text: str) -> float:
    """How many times as much, as `words` ask. Raises UsageError for what is no number, 0 or more."""
    try:
        factor = float(text)
    except ValueError:
        factor = nan
    if not isfinite(factor) or factor < 0:
        raise UsageError(f"{words!r}: behind * stands a number, 0 or more, as in latency*0.5; got {text!r}")
    return factor


def scaled_bytes(program: Program, factor: float, region: str | None = None) -> Program:
    """The program with messages, blocks and accesses so many times as large, in a region or everywhere.

    What was made ready (MPI_Send_init) is in the region where it is started. Sizes are rounded to whole
    bytes; times of a recording stay those of the recording's sizes. Raises UsageError for a region that the
    program does not have, and where one request is started inside it and outside it.
    """
    if region is not None and region not in program.regions:
        known = ", ".join(program.regions) or "none"
        raise UsageError(f"the program has no region {region!r}; its regions: {known}")
    wanted = None if region is None else program.regions.index(region) + 1
    changed = []
    for sequence in program.sequences:
        inside, outside = _by_region(sequence, wanted)
        if both := inside & outside:
            leaf = sequence.leaves[min(both)]
            site = program.sites[leaf.site]
            raise UsageError(
                f"bytes({region}) cannot be changed: what {called(Kind(leaf.kind), Form(leaf.form))}"
                f"{f' at {site}' if site else ''} made ready is started inside the region and outside it"
            )
        leaves = tuple(
            _resized(leaf, factor) if n in inside else _with_room(leaf, factor)
            for n, leaf in enumerate(sequence.leaves)
        )
        changed.append(replace(sequence, leaves=leaves))
    return replace(program, sequences=changed)


def _by_region(folded: Folded, wanted: int | None) -> tuple[set[int], set[int]]:
    """The leaves with a size that are asked for inside a region, and those outside it."""
    found: tuple[set[int], set[int]] = set(), set()
    regions: list[int] = []
    ready: dict[int, int] = {}  # leaf of what was made ready, by slot

    def see(node: int) -> None:
        leaf = folded.leaves[node]
        of = found[0] if wanted is None or wanted in regions else found[1]
        if leaf.kind == Kind.REGION_BEGIN:
            regions.append(leaf.extra)
        elif leaf.kind == Kind.REGION_END and leaf.extra in regions:
            del regions[len(regions) - 1 - regions[::-1].index(leaf.extra)]  # regions may overlap
        elif leaf.kind == Kind.START:
            of.update(ready[slot] for slot in leaf.gives if slot in ready)
        elif leaf.kind == Kind.FREE:
            ready.pop(leaf.request, None)
        elif leaf.kind in _SIZED and leaf.form == Form.PERSISTENT:
            ready[leaf.request] = node
        elif leaf.kind in _SIZED:
            of.add(node)

    def go(nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, int):
                see(node)
                continue
            for _ in range(min(node.turns, 2)):  # the second starts what the first made ready
                go(node.body)

    go(folded.nodes)
    return found


def _with_room(leaf: Operation, factor: float) -> Operation:
    """A window with room for larger accesses; what is no window as it is."""
    if leaf.kind != Kind.WIN or factor <= 1:
        return leaf
    return leaf._replace(bytes=ceil(leaf.bytes * factor))


def _resized(leaf: Operation, factor: float) -> Operation:
    def parts(given: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(round(value * factor) if place % 2 else value for place, value in enumerate(given))

    return leaf._replace(
        bytes=round(leaf.bytes * factor),
        source_bytes=round(leaf.source_bytes * factor),
        gives=parts(leaf.gives),
        takes=parts(leaf.takes),
    )
