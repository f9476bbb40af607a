"""The guidelines, one entry each: an identity, what it says, where it is from, and the points it relates.

Sources:

- TGT: J. L. Träff, W. D. Gropp, R. Thakur, Self-consistent MPI performance guidelines, IEEE Trans. Parallel
  and Distributed Systems 21 (2010) 698-709.
- HCLT: S. Hunold, A. Carpen-Amarie, F. D. Lübbe, J. L. Träff, Automatic verification of self-consistent MPI
  performance guidelines, Euro-Par 2016, LNCS 9833, 433-446 (PGMPI).
- HC: S. Hunold, A. Carpen-Amarie, Autotuning MPI collectives using performance guidelines, HPC Asia 2018,
  64-74.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.core.collectives import OPERATIONS, SIZED

TGT, HCLT, HC = "Träff, Gropp, Thakur 2010", "Hunold et al. 2016", "Hunold, Carpen-Amarie 2018"

# How the size of what stands on the right follows from that on the left.
ALIKE = "alike"  # the same data in all: a block of each of p ranks is a message p times as long
HALF = "half"
MORE = "more"  # the next larger size that was measured
LEAST = "least"  # 8 B

FLOOR = 0.02  # how much slower is no violation yet: as near as a plan wants to know a point

ANY = "any"  # every value that was measured, one comparison each


@dataclass(frozen=True)
class Term:
    """Something that a guideline sets against an operation: `times` of an operation, one after another."""

    operation: str = ""  # the same as on the left where it is empty
    times: int = 1
    size: str = ALIKE
    sets: Mapping[str, str] = field(default_factory=dict)  # coordinates that differ from those on the left


@dataclass(frozen=True)
class Guideline:
    """An operation is not slower than the sum of some terms."""

    id: str
    says: str
    source: str
    left: tuple[str, ...]
    right: tuple[Term, ...]
    where: Mapping[str, str] = field(default_factory=dict)  # coordinates that the left side must have
    floor: float = FLOOR


GUIDELINES: tuple[Guideline, ...] = (
    Guideline(
        "own-algorithm",
        "an operation is not slower than an algorithm for it over the library's own messages",
        HC,
        OPERATIONS,
        (Term(sets={"algorithm": ANY}),),
    ),
    Guideline(
        "allreduce-reduce-bcast",
        "allreduce is not slower than reduce, then bcast",
        TGT,
        ("allreduce",),
        (Term("reduce"), Term("bcast")),
    ),
    Guideline(
        "allreduce-reduce_scatter-allgather",
        "allreduce is not slower than reduce_scatter, then allgather",
        TGT,
        ("allreduce",),
        (Term("reduce_scatter"), Term("allgather")),
    ),
    Guideline(
        "allgather-gather-bcast",
        "allgather is not slower than gather, then bcast of all blocks",
        TGT,
        ("allgather",),
        (Term("gather"), Term("bcast")),
    ),
    Guideline(
        "allgather-alltoall",
        "allgather is not slower than alltoall of the same blocks",
        TGT,
        ("allgather",),
        (Term("alltoall"),),
    ),
    Guideline(
        "gather-allgather", "gather is not slower than allgather", TGT, ("gather",), (Term("allgather"),)
    ),
    Guideline(
        "scatter-bcast",
        "scatter is not slower than bcast of all blocks",
        TGT,
        ("scatter",),
        (Term("bcast"),),
    ),
    Guideline(
        "bcast-scatter-allgather",
        "bcast is not slower than scatter, then allgather of the parts",
        TGT,
        ("bcast",),
        (Term("scatter"), Term("allgather")),
    ),
    Guideline(
        "reduce-allreduce", "reduce is not slower than allreduce", TGT, ("reduce",), (Term("allreduce"),)
    ),
    Guideline(
        "reduce-reduce_scatter-gather",
        "reduce is not slower than reduce_scatter, then gather",
        TGT,
        ("reduce",),
        (Term("reduce_scatter"), Term("gather")),
    ),
    Guideline(
        "reduce_scatter-allreduce",
        "reduce_scatter is not slower than allreduce of the whole",
        TGT,
        ("reduce_scatter",),
        (Term("allreduce"),),
    ),
    Guideline(
        "reduce_scatter-reduce-scatter",
        "reduce_scatter is not slower than reduce of the whole, then scatter",
        TGT,
        ("reduce_scatter",),
        (Term("reduce"), Term("scatter")),
    ),
    Guideline(
        "barrier-allreduce",
        "barrier is not slower than allreduce of 8 B",
        HCLT,
        ("barrier",),
        (Term("allreduce", size=LEAST),),
    ),
    Guideline(
        "equal-blocks",
        "an operation is not slower than its v-variant with equal blocks",
        TGT,
        ("gather", "scatter", "allgather", "alltoall", "reduce_scatter"),
        (Term(sets={"variation": "equal"}),),
    ),
    Guideline(
        "world-dup",
        "on the world an operation is not slower than on a duplicate of it",
        TGT,
        OPERATIONS,
        (Term(sets={"communicator": "dup"}),),
        where={"communicator": "world"},
    ),
    Guideline(
        "dup-world",
        "on a duplicate of the world an operation is not slower than on the world",
        TGT,
        OPERATIONS,
        (Term(sets={"communicator": "world"}),),
        where={"communicator": "dup"},
    ),
    Guideline(
        "less-is-not-slower",
        "an operation on less data is not slower than on more",
        TGT,
        SIZED,
        (Term(size=MORE),),
    ),
    Guideline(
        "in-halves",
        "an operation is not slower than twice the same on half of the data",
        TGT,
        SIZED,
        (Term(size=HALF, times=2),),
    ),
    Guideline(
        "blocking-nonblocking",
        "a blocking operation is not slower than a nonblocking one that is waited for at once",
        HCLT,
        OPERATIONS,
        (Term(sets={"form": "nonblocking"}),),
        floor=0.05,
    ),
)
