"""The algorithms of Open MPI's component `tuned`, by its own names and numbers, and its file of rules.

The numbers are those of `ompi_info --param coll tuned --level 9` (4.1.4); that a rule is followed was seen by
counting calls of the functions `ompi_coll_base_*` (docs/tune.md). The form of the file is that which
`ompi_coll_tuned_read_rules_config_file` of the library's source reads.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from leadline.core.collectives import data
from leadline.mpi.library import Mpi
from leadline.mpi.tuned import Choice, Range, Tuned

RULES = "{}.rules"  # name of the file, from the library's identity
USE = "OMPI_MCA_coll_tuned_use_dynamic_rules"
FILE = "OMPI_MCA_coll_tuned_dynamic_rules_filename"
SEGMENT = 32768  # B, of what is cut into segments

ALGORITHMS: dict[str, tuple[str, ...]] = {  # from number 1 on
    "allreduce": (
        *("basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring"),
        "rabenseifner",
    ),
    "alltoall": ("linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"),
    "allgather": ("linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"),
    "allgatherv": ("default", "bruck", "ring", "neighbor", "two_proc"),
    "alltoallv": ("basic_linear", "pairwise"),
    "barrier": ("linear", "double_ring", "recursive_doubling", "bruck", "two_proc", "tree"),
    "bcast": (
        *("basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"),
        *("scatter_allgather", "scatter_allgather_ring"),
    ),
    "reduce": ("linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner"),
    "reduce_scatter": ("non-overlapping", "recursive_halving", "ring", "butterfly"),
    "reduce_scatter_block": ("basic_linear", "recursive_doubling", "recursive_halving", "butterfly"),
    "gather": ("basic_linear", "binomial", "linear_sync"),
    "scatter": ("basic_linear", "binomial", "linear_nb"),
    "scan": ("linear", "recursive_doubling"),
}
# What goes in segments, which it is also asked with.
SEGMENTED: dict[str, tuple[str, ...]] = {
    "bcast": ("chain", "pipeline", "binary_tree"),
    "reduce": ("chain", "pipeline", "binary"),
    "allreduce": ("segmented_ring",),
}
# Numbers in the file: the enumeration COLLTYPE of the library's source.
IDS = {"allgather": 0, "allgatherv": 1, "allreduce": 2, "alltoall": 3, "alltoallv": 4, "barrier": 6}
IDS |= {"bcast": 7, "gather": 9, "reduce": 11, "reduce_scatter": 12, "reduce_scatter_block": 13}
IDS |= {"scan": 14, "scatter": 15}
# Of these the library does not tell its rules the size: a barrier has none, alltoallv does not know it, and
# scan forgets the count.
UNSIZED = ("barrier", "alltoallv", "scan")


def numbers(operation: str) -> dict[str, tuple[int, int]]:
    """Each algorithm's number and size of segments, B, by name; "+32KiB" is in segments."""
    found: dict[str, tuple[int, int]] = {}
    for number, name in enumerate(ALGORITHMS.get(operation, ()), start=1):
        if name == "default":
            continue
        if name in SEGMENTED.get(operation, ()):
            found[f"{name}+32KiB"] = (number, SEGMENT)
        if name != "segmented_ring":  # which is nothing without segments
            found[name] = (number, 0)
    return found


def forcing(operation: str, ranks: int, size: int) -> dict[str, Mapping[str, str]]:
    """Settings that force each algorithm which can do the operation so."""
    found: dict[str, Mapping[str, str]] = {}
    for name, (number, segment) in numbers(operation).items():
        if (name == "two_proc" and ranks != 2) or 0 < size <= segment:
            continue
        variable = f"OMPI_MCA_coll_tuned_{operation}_algorithm"
        segments = {f"{variable}_segmentsize": str(segment)} if segment else {}
        found[name] = {USE: "1", variable: str(number), **segments}
    return found


def tuned(mpi: Mpi, choices: Sequence[Choice], directory: Path) -> Tuned:
    """A file of rules, and the settings that have it read."""
    notes = []
    sized = []
    for choice in choices:
        if choice.operation not in IDS:
            notes.append(f"{mpi.id} has no rules for {choice.operation}")
        elif choice.operation in UNSIZED and choice.single is None:
            notes.append(f"{mpi.id} does not tell its rules the size of {choice.operation}: left alone")
        else:
            sized.append(choice)
    if not sized:
        return Tuned(notes=notes)
    name = RULES.format(mpi.id)
    environment = {USE: "1", FILE: str(directory / name)}
    return Tuned(environment, {name: rules(sized)}, notes)


def rules(choices: Sequence[Choice]) -> str:
    """The text of the file: collectives, of each communicator sizes, of each message sizes from 0 up.

    Algorithm 0 is the library's own decision. A communicator of another size than those that were measured,
    and a message longer than them, is left to it.
    """
    by_operation: dict[str, list[Choice]] = {}
    for choice in choices:
        by_operation.setdefault(choice.operation, []).append(choice)
    lines = [f"{len(by_operation)} # collectives"]
    for operation, group in sorted(by_operation.items(), key=lambda item: IDS[item[0]]):
        lines += [f"{IDS[operation]} # {operation}", *_communicators(operation, group)]
    return "\n".join(lines) + "\n"


def _communicators(operation: str, group: Sequence[Choice]) -> list[str]:
    """The sizes of communicators of one operation."""
    by_ranks = {choice.ranks: choice for choice in group}
    bounds = sorted({0, *by_ranks, *(ranks + 1 for ranks in by_ranks)})
    lines = [f"{len(bounds)} # sizes of communicators"]
    for ranks in bounds:
        lines.append(f"{ranks} # ranks")
        lines += _messages(operation, by_ranks.get(ranks))
    return lines


def _messages(operation: str, choice: Choice | None) -> list[str]:
    """The sizes of messages of one operation and communicator, in all the data that it moves."""
    found: list[tuple[int, int, int]] = []
    for each in choice.ranges if choice else ():
        number, segment = numbers(operation)[each.algorithm] if each.algorithm else (0, 0)
        found.append((_start(operation, choice, each), number, segment))
    if not found:
        found = [(0, 0, 0)]
    elif choice and operation not in UNSIZED and found[-1][1]:
        found.append((data(operation, choice.ranks, choice.ranges[-1].last) + 1, 0, 0))
    lines = [f"{len(found)} # sizes of messages: from, algorithm, fan, segment"]
    return lines + [f"{start} {number} 0 {segment}" for start, number, segment in found]


def _start(operation: str, choice: Choice | None, each: Range) -> int:
    """Where a range begins, in all the data."""
    if choice is None or operation in UNSIZED or each.first == 0:
        return 0
    return data(operation, choice.ranks, each.first - 1) + 1
