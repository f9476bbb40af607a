"""The claims of Hofmann and Rünger on Blue Gene/L about collectives (5), from its two plans.

All are of 1 MB, back to back, in a partition of 16 x 16 x 16 nodes, by the library's own choice; the time is
that of the slowest rank. A subset is rectangular when it is a line, a plane or a box of the torus. Of like
size is a subset of as many nodes that fills no box.
"""

from leadline.papers.checks import Shape, claim, farthest
from leadline.papers.claims.bgl import MEGABYTE, link
from leadline.papers.results import Results

NODES = 4096
CO, VN = "bgl", "bgl-vn"  # the machine in co-processor and in virtual node mode
LINES = ("line-2", "line-4", "line-8", "line-15")  # incomplete ones
DOUBLE = ("line-full", "plane-16x2", "plane-16x8", "plane-16x15")  # by the paper, over two links
WIDE = ("plane-full", "box-16x16x2", "box-16x16x8")  # by the paper, over more than two
RECTANGLE, SCATTERED = "box-16x16x8", "scattered-2048"
# Rectangular subsets that use all links, and others of as many nodes.
ALIKE = {"plane-full": "scattered-256", RECTANGLE: SCATTERED}
SAME = 1.25  # "nearly the same time" for three situations is within a quarter, the slowest to the fastest


def _bcast(results: Results, communicator: str, mode: str = CO) -> float:
    """Time of a broadcast of 1 MB, s."""
    where = {"mpi": mode, "ranks": NODES if mode == CO else 2 * NODES}
    return results.value("bcast", "time", communicator=communicator, bytes=MEGABYTE, **where)


def _sum(
    results: Results, type_: str = "int64", reduction: str = "sum", communicator: str = "world"
) -> float:
    """Time of a reduction of 1 MB, in co-processor mode, s."""
    where = {"mpi": CO, "ranks": NODES, "type": type_, "reduction": reduction}
    return results.value("allreduce", "time", communicator=communicator, bytes=MEGABYTE, **where)


@claim("bgl.bcast.world")
def bcast_world(results: Results) -> float:
    """Broadcast of 1 MB on the world of 512 and of 4,096 nodes; the one farther from 2.98 ms."""
    where = {"mpi": CO, "communicator": "world", "bytes": MEGABYTE}
    return farthest(results.curve("bcast", "time", "ranks", **where).values(), 2.98e-3)


@claim("bgl.allreduce.int")
def allreduce_int(results: Results) -> float:
    """Sum of 1 MB of 64-bit integers over a broadcast of 1 MB, on the world of 4,096 nodes."""
    return _sum(results) / _bcast(results, "world")


@claim("bgl.allreduce.float")
def allreduce_float(results: Results) -> float:
    """Sum of 1 MB of doubles over a sum of 1 MB of 64-bit integers, on the world of 4,096 nodes."""
    return _sum(results, "double") / _sum(results)


@claim("bgl.allreduce.prod")
def allreduce_product(results: Results) -> float:
    """Product of 1 MB of 64-bit integers over a sum of them, on the world of 4,096 nodes."""
    return _sum(results, reduction="product") / _sum(results)


@claim("bgl.allreduce.user")
def allreduce_user(results: Results) -> Shape:
    """Sum of 1 MB of doubles by a user's function: on the world, on 16 x 16 x 8, on 2,048 scattered nodes.

    Nearly the same is: the slowest takes at most 1.25 of the time of the fastest, which is the value.
    """
    subsets = ("world", RECTANGLE, SCATTERED)
    times = [_sum(results, "double", "user", communicator=each) for each in subsets]
    ratio = max(times) / min(times)
    says = " and ".join(f"{1e3 * time:.3g} ms on {name}" for time, name in zip(times, subsets, strict=True))
    return Shape(ratio <= SAME, ratio, f"{says}: a factor of {ratio:.2f}")


def _links(results: Results, communicator: str) -> float:
    """Bandwidth of a broadcast of 1 MB, in links."""
    return MEGABYTE / _bcast(results, communicator) / link(results)


@claim("bgl.bcast.line")
def bcast_line(results: Results) -> float:
    """1 MB over the time of its broadcast on lines of 2, 4, 8 and 15 nodes, in links; farthest from 1."""
    return farthest((_links(results, each) for each in LINES), 1.0)


@claim("bgl.bcast.fullline")
def bcast_full_line(results: Results) -> float:
    """1 MB over the time of its broadcast on 16 x 1, x 2, x 8, x 15 nodes, in links; farthest from 2."""
    return farthest((_links(results, each) for each in DOUBLE), 2.0)


@claim("bgl.bcast.plane")
def bcast_plane(results: Results) -> Shape:
    """1 MB over the time of its broadcast on 16 x 16, 16 x 16 x 2 and 16 x 16 x 8 nodes, over the tree's.

    The least of the three must be above 1.
    """
    least = min(MEGABYTE / _bcast(results, each) for each in WIDE) / results.constant("bgl.tree")
    return Shape(least > 1, least, f"at least {least:.2f} of the collective network's bandwidth")


@claim("bgl.subset.nonrect")
def other_subsets(results: Results) -> float:
    """Broadcast, and sum of 64-bit integers, on scattered nodes over a rectangle of as many, 256 and 2,048.

    Of the four ratios the one that is farthest from the middle of the band, by factors.
    """
    ratios = []
    for rectangle, scattered in ALIKE.items():
        ratios.append(_bcast(results, scattered) / _bcast(results, rectangle))
        sums = (_sum(results, communicator=each) for each in (scattered, rectangle))
        ratios.append(next(sums) / next(sums))
    return farthest(ratios, (3.0 * 20.0) ** 0.5)


@claim("bgl.vn.rect")
def virtual_node(results: Results) -> float:
    """Broadcast of 1 MB in virtual node mode on 2,048 scattered nodes over that on 16 x 16 x 8 nodes."""
    return _bcast(results, SCATTERED, VN) / _bcast(results, RECTANGLE, VN)
