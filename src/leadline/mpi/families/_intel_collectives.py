"""The algorithms of Intel MPI by number, and its variables I_MPI_ADJUST_*, which take sizes and ranks.

Numbers and names are those of Intel's developer reference (2021), "I_MPI_ADJUST Family Environment
Variables"; the form is `ALGORITHM:FIRST-LAST@RANKS-RANKS;...`.
"""

from collections.abc import Mapping, Sequence

from leadline.mpi.library import Mpi
from leadline.mpi.tuned import Choice, Tuned

ALGORITHMS: dict[str, tuple[str, ...]] = {  # from number 1 on; those by topology need several nodes
    "allgather": ("recursive_doubling", "bruck", "ring", "topology_gatherv_bcast", "knomial"),
    "allgatherv": ("recursive_doubling", "bruck", "ring", "topology_gatherv_bcast"),
    "allreduce": (
        *("recursive_doubling", "rabenseifner", "reduce_bcast", "topology_reduce_bcast"),
        *("binomial_gather_scatter", "topology_binomial_gather_scatter", "shumilin_ring", "ring", "knomial"),
    ),
    "alltoall": ("bruck", "isend_irecv", "pairwise", "plum"),
    "alltoallv": ("isend_irecv", "plum"),
    "barrier": (
        *("dissemination", "recursive_doubling", "topology_dissemination", "topology_recursive_doubling"),
        *("binomial_gather_scatter", "topology_binomial_gather_scatter"),
    ),
    "bcast": (
        *("binomial", "recursive_doubling", "ring", "topology_binomial", "topology_recursive_doubling"),
        *("topology_ring", "shumilin", "knomial"),
    ),
    "gather": ("binomial", "topology_binomial", "shumilin"),
    "gatherv": ("linear", "topology_linear", "knomial"),
    "reduce": (
        *("shumilin", "binomial", "topology_shumilin", "topology_binomial", "rabenseifner"),
        *("topology_rabenseifner", "knomial"),
    ),
    "reduce_scatter": (
        *("recursive_halving", "pairwise", "recursive_doubling", "reduce_scatterv"),
        "topology_reduce_scatterv",
    ),
    "scan": ("partial_results_gathering", "topology_partial_results_gathering"),
    "scatter": ("binomial", "topology_binomial", "shumilin"),
    "scatterv": ("linear", "topology_linear"),
}


def forcing(operation: str, ranks: int, size: int) -> dict[str, Mapping[str, str]]:
    """Settings that force each algorithm."""
    names = ALGORITHMS.get(operation, ())
    return {name: {_variable(operation): str(number)} for number, name in enumerate(names, start=1)}


def tuned(mpi: Mpi, choices: Sequence[Choice]) -> Tuned:
    """A variable for each operation; ranges without an algorithm of their own are left out."""
    rules: dict[str, list[str]] = {}
    notes = []
    for choice in choices:
        if choice.operation not in ALGORITHMS:
            notes.append(f"{mpi.id} has no variable for {choice.operation}")
            continue
        for each in choice.ranges:
            if each.algorithm is not None:
                number = ALGORITHMS[choice.operation].index(each.algorithm) + 1
                ranks = f"@{choice.ranks}-{choice.ranks}"
                rules.setdefault(_variable(choice.operation), []).append(
                    f"{number}:{each.first}-{each.last}{ranks}"
                )
    return Tuned({name: ";".join(each) for name, each in rules.items()}, {}, notes)


def _variable(operation: str) -> str:
    return f"I_MPI_ADJUST_{operation.upper()}"
