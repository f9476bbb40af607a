"""The algorithms of MPICH by its own names, forced by control variables, and its trees of decisions.

MPICH decides by trees in JSON that are compiled into the library as text; files in their place are named by
MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE and, for what ranks of one node do in shared memory, by
MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE. A file must say everything, so the library's own tree is
read out of it and gets the choices in front. That 4.0.2 follows forced algorithms was seen with
MPIR_CVAR_COLLECTIVE_FALLBACK=error, which ends a program whose algorithm cannot be taken.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from leadline.core.collectives import data
from leadline.mpi.library import Mpi
from leadline.mpi.tuned import Choice, Range, Tuned

TREE = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
NODE_TREE = "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE"
SHARED = "release_gather"  # by flags in memory that the ranks of a node share

ALGORITHMS: dict[str, tuple[str, ...]] = {
    "barrier": (SHARED, "dissemination"),
    "bcast": (SHARED, "binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
    "reduce": (SHARED, "binomial", "reduce_scatter_gather"),
    "allreduce": (SHARED, "recursive_doubling", "reduce_scatter_allgather"),
    "allgather": ("brucks", "recursive_doubling", "ring"),
    "allgatherv": ("brucks", "recursive_doubling", "ring"),
    "alltoall": ("brucks", "pairwise", "scattered"),
    "reduce_scatter": ("noncommutative", "pairwise", "recursive_doubling", "recursive_halving"),
    "reduce_scatter_block": ("noncommutative", "pairwise", "recursive_doubling", "recursive_halving"),
}
# Those that need a power of two of ranks, and those that need an element for each of so many.
POWER = {("bcast", "scatter_recursive_doubling_allgather"), ("allgather", "recursive_doubling")}
POWER |= {(each, "noncommutative") for each in ("reduce_scatter", "reduce_scatter_block")}
POWER |= {("allgatherv", "recursive_doubling")}
ELEMENTS = {("reduce", "reduce_scatter_gather"), ("allreduce", "reduce_scatter_allgather")}
# Of these the trees know all the data; of the others the message, or a rank's block.
TOTAL = ("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block")
ELEMENT = 8  # B, of the largest type


# A library's tree of decisions: what each branch leads to; nothing behind an algorithm.
Tree = Mapping[str, "Tree"]


def forcing(operation: str, ranks: int, size: int) -> dict[str, Mapping[str, str]]:
    """Settings that force each algorithm which can do the operation so."""
    power = 1 << (ranks.bit_length() - 1)  # of two, the largest up to the ranks
    found: dict[str, Mapping[str, str]] = {}
    for name in ALGORITHMS.get(operation, ()):
        if (operation, name) in POWER and ranks != power:
            continue
        if (operation, name) in ELEMENTS and size < power * ELEMENT:
            continue
        found[name] = _forced(operation, name)
    return found


def _forced(operation: str, name: str) -> dict[str, str]:
    """What forces one algorithm: that in shared memory, else one below the device's own ways."""
    upper = operation.upper()
    if name == SHARED:
        return {f"MPIR_CVAR_{upper}_POSIX_INTRA_ALGORITHM": name}
    return {
        f"MPIR_CVAR_{upper}_DEVICE_COLLECTIVE": "0",
        f"MPIR_CVAR_{upper}_INTRA_ALGORITHM": name,
    }


def tuned(mpi: Mpi, choices: Sequence[Choice], directory: Path) -> Tuned:
    """Control variables where one algorithm serves all sizes, else trees of decisions."""
    environment: dict[str, str] = {}
    notes: list[str] = []
    by_size = []
    for choice in choices:
        single = choice.single
        if single and sum(each.operation == choice.operation for each in choices) == 1:
            environment |= _forced(choice.operation, single)
            notes.append(f"{mpi.id}: {choice.operation} is {single} at every size, also those not measured")
        else:
            by_size.append(choice)
    files: dict[str, str] = {}
    if by_size:
        tree, node = trees(mpi)
        if not tree:
            notes.append(f"{mpi.id} has no tree of decisions that could be changed: no choice by size")
        else:
            name, node_name = f"{mpi.id}.json", f"{mpi.id}-node.json"
            files = {name: _text(_with(tree, by_size)), node_name: _text(_within(node, by_size))}
            environment |= {TREE: str(directory / name), NODE_TREE: str(directory / node_name)}
            notes += [
                f"{mpi.id}: {each.operation} is chosen by size among the ranks of one node; across nodes the "
                "library composes it as before"
                for each in by_size
                if SHARED in ALGORITHMS.get(each.operation, ())
            ]
    return Tuned(environment, files, notes)


def _text(tree: Tree) -> str:
    return json.dumps(tree, indent=1) + "\n"


def _with(tree: Tree, choices: Sequence[Choice]) -> Tree:
    """The library's tree with choices in front of its own: by communicator, then by the size of a block."""
    changed = {**tree}
    for choice in choices:
        operation = f"collective={choice.operation}"
        own, before = tree[operation], changed[operation]
        intra = own.get("comm_type=intra", own)
        leaves = [_leaf(choice.operation, each, intra) for each in choice.ranges]
        new = _beside(choice, before.get("comm_type=intra", before), _sizes(choice, leaves, intra))
        changed[operation] = {**own, "comm_type=intra": new} if "comm_type=intra" in own else new
    return changed


def _leaf(operation: str, each: Range, own: Tree) -> Tree:
    """An algorithm at the end of a branch, or what the library does there itself."""
    if each.algorithm in (None, SHARED):
        return own
    return {f"algorithm=MPIR_{operation.capitalize()}_intra_{each.algorithm}": {}}


def _within(node: Tree, choices: Sequence[Choice]) -> Tree:
    """The tree for shared memory: where another algorithm is chosen it has no answer, which leaves it to
    the other tree.
    """
    changed = {**node}
    for choice in choices:
        operation = f"collective={choice.operation}"
        if operation not in node:
            continue
        own, before = node[operation]["comm_type=intra"], changed[operation]["comm_type=intra"]
        leaves = [own if each.algorithm in (None, SHARED) else {} for each in choice.ranges]
        changed[operation] = {"comm_type=intra": _beside(choice, before, _sizes(choice, leaves, own))}
    return changed


def _beside(choice: Choice, others: Tree, chosen: Tree) -> Tree:
    """Branches by the size of the communicator: that of a choice, and all others as they were."""
    return {
        f"comm_size<{choice.ranks}": others,
        f"comm_size<={choice.ranks}": chosen,
        "comm_size=any": others,
    }


def _sizes(choice: Choice, leaves: Sequence[Tree], own: Tree) -> Tree:
    """Branches by the size of the message, or of a rank's block; the library's own beyond what is chosen."""
    if choice.operation == "barrier":
        return dict(leaves[0])
    size = "total_msg_size" if choice.operation in TOTAL else "avg_msg_size"
    ends = [
        data(choice.operation, choice.ranks, each.last) if choice.operation in TOTAL else each.last
        for each in choice.ranges
    ]
    branches = {f"{size}<={end}": leaf for end, leaf in zip(ends, leaves, strict=True)}
    return {**branches, f"{size}=any": own}


def trees(mpi: Mpi) -> tuple[Tree, Tree]:
    """The trees of a library: of algorithms, and of shared memory; empty where it has none."""
    for directory in (mpi.prefix / "lib", *(mpi.prefix / "lib").glob("*-linux-gnu"), *_linked(mpi)):
        for library in sorted(directory.glob("libmpi*.so")):
            found = _read(library.resolve())
            tree = next((each for each in found if "collective=iallreduce" in each), {})
            node = next((each for each in found if "POSIX" in json.dumps(each)), {})
            if tree:
                return tree, node
    return {}, {}


def _linked(mpi: Mpi) -> list[Path]:
    """The directories that its linker is told."""
    return [Path(word.removeprefix("-L")) for word in mpi.link if word.startswith("-L")]


@cache
def _read(library: Path) -> list[Tree]:
    """Every tree that stands as text in a library."""
    content = library.read_bytes()
    found = []
    start = content.find(b'{"collective=')
    while start >= 0:
        end = content.index(b"\0", start)
        with suppress(ValueError):  # what only begins like one
            found.append(json.loads(content[start:end]))
        start = content.find(b'{"collective=', end)
    return found
