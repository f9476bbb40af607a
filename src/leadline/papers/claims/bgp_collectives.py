"""The claims of Balaji et al. on Blue Gene/P about collectives (3.8) and mappings (3.9), from plans/bgp.toml.

Collectives are taken back to back, by the library's own choice. Where several communicators work at once, the
c-th of them has core c of every node, and the time is the mean over all ranks that take part: the paper
speaks of average times there. Everywhere else it is that of the slowest rank.
"""

from itertools import pairwise

from leadline.papers.checks import Shape, claim, farthest
from leadline.papers.results import AbsentError, Results

WHOLE, PART = 131072, 16384  # ranks of the two systems of which 3.8 and 3.9 give numbers
MEBIBYTE = 1 << 20
CORES = 4  # of a node, and so the most communicators at once
ORDERS = 24  # of the axes X, Y, Z and T
FEW_ORDERS = 6  # of them at 131,072 processes, each of which takes some ten seconds


def _time(results: Results, operation: str, communicator: str, **where: int) -> float:
    """Time of an operation of 131,072 processes, or of those of them that take part, s."""
    return results.value(operation, "time", ranks=WHOLE, communicator=communicator, **where)


def _mean(results: Results, operation: str, count: int, ranks: int, **where: int) -> float:
    """Mean time of an operation on each of so many communicators at once, s."""
    return results.value(operation, "mean", ranks=ranks, communicator=f"cores-{count}", **where)


def _parallel(results: Results, operation: str, ranks: int, **where: int) -> float:
    """Mean time of an operation on four communicators at once over that on one."""
    return _mean(results, operation, CORES, ranks, **where) / _mean(results, operation, 1, ranks, **where)


@claim("bgp.barrier.dup")
def barrier_dup(results: Results) -> float:
    """Barrier of 131,072 processes on a copy of the world over one on the world, back to back."""
    return _time(results, "barrier", "dup") / _time(results, "barrier", "world")


@claim("bgp.barrier.sub")
def barrier_sub(results: Results) -> float:
    """Barrier on the world without its last process over one on the world, back to back."""
    return _time(results, "barrier", "world-1") / _time(results, "barrier", "world")


@claim("bgp.barrier.parallel")
def barrier_parallel(results: Results) -> float:
    """Mean time of four barriers at once, each of 32,768 processes on a core of every node, over one."""
    return _parallel(results, "barrier", WHOLE)


@claim("bgp.bcast.sub")
def bcast_sub(results: Results) -> float:
    """Broadcast of 1 MiB on the world of 131,072 processes without the last over one on the world."""
    where = {"bytes": MEBIBYTE}
    return _time(results, "bcast", "world-1", **where) / _time(results, "bcast", "world", **where)


@claim("bgp.bcast.parallel.4B")
def bcast_parallel_small(results: Results) -> Shape:
    """Mean time of a broadcast of 4 B at 131,072 cores, on one to four communicators at once.

    It must be less with each that is added; the value is that of four over that of one.
    """
    means = [_mean(results, "bcast", count, WHOLE, bytes=4) for count in range(1, CORES + 1)]
    ratio = means[-1] / means[0]
    says = f"{', '.join(f'{1e6 * mean:.3g}' for mean in means)} us on one to four at once"
    return Shape(all(more < less for less, more in pairwise(means)), ratio, says)


@claim("bgp.bcast.parallel.16K")
def bcast_parallel_large(results: Results) -> float:
    """Mean time of broadcasts of 16 KiB on four communicators at once over one, 16,384 processes."""
    return _parallel(results, "bcast", PART, bytes=16384)


@claim("bgp.allreduce.parallel.16K")
def allreduce_parallel(results: Results) -> float:
    """Mean time of sums of 16 KiB on four communicators at once over one.

    Of 16,384 and of 131,072 processes; the ratio that is farther from 1.
    """
    return farthest((_parallel(results, "allreduce", ranks, bytes=16384) for ranks in (PART, WHOLE)), 1.0)


@claim("bgp.allgather.parallel.4B")
def allgather_parallel(results: Results) -> Shape:
    """Mean time of an allgather of 4 B, on one to four communicators at once.

    It must be more with each that is added, for 16,384 and for 131,072 processes, and of four over one it
    must be more for the larger system; the value is that ratio at 131,072.
    """
    grows = all(
        less < more
        for ranks in (PART, WHOLE)
        for less, more in pairwise(
            _mean(results, "allgather", count, ranks, bytes=4) for count in range(1, CORES + 1)
        )
    )
    small, large = (_parallel(results, "allgather", ranks, bytes=4) for ranks in (PART, WHOLE))
    says = f"four take {small:.3g} times as long as one at 16,384 processes, {large:.3g} times at 131,072"
    return Shape(grows and large > small, large, says)


def _mappings(results: Results, ranks: int, orders: int) -> float:
    """Slowest over fastest of the orders of axes, for the size of sub-domain where that is the most."""
    worst = 0.0
    for edge in results.values("halo", "edge", ranks=ranks):
        times = results.all("halo", "time", ranks=ranks, edge=edge)
        if len(times) != orders:
            raise AbsentError(f"of {orders} orders of axes {len(times)} have a value at {ranks} processes")
        worst = max(worst, max(times) / min(times))
    return worst


@claim("bgp.halo.mapping.16K")
def halo_part(results: Results) -> float:
    """Slowest over fastest of the 24 orders of axes, for the sub-domain for which that is the most.

    16,384 processes, messages of an edge of the sub-domain to each of four neighbours, all begun at once.
    """
    return _mappings(results, PART, ORDERS)


@claim("bgp.halo.mapping.128K")
def halo_whole(results: Results) -> float:
    """Slowest over fastest of six orders of axes, which at 16,384 processes are the ends and some between.

    131,072 processes, a sub-domain of 128 x 128, the one for which that is the most; messages of an edge of
    the sub-domain to each of four neighbours, all begun at once.
    """
    return _mappings(results, WHOLE, FEW_ORDERS)
