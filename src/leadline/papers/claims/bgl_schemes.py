"""The claims of Hofmann and Rünger on Blue Gene/L about communication schemes (6), from its two plans.

Messages are of 1 MB. The bandwidth of one node with its neighbours is what it sends and gets in a time; where
all nodes exchange, it is what each sends. Link bandwidth is that of one direction.
"""

from leadline.papers.checks import Shape, claim, farthest
from leadline.papers.claims.bgl import MEGABYTE, link
from leadline.papers.claims.bgl_collectives import CO, RECTANGLE, SCATTERED, VN
from leadline.papers.results import Results

SUBSETS = ("world", RECTANGLE, SCATTERED)
OPERATIONS = ("send", "receive", "exchange")
WAYS = ("blocking", "nonblocking", "sendrecv", "collective")
FASTER = (1.15, 1.45)  # "about 30 %" above, in general: the mean over the three operations
LARGE, SMALL = 4096, 1024  # nodes of 16 x 16 x 16 and of 8 x 8 x 16


def _together(results: Results, other: str, mode: str, communicator: str) -> float:
    """Time of messages together with something else, over that of one after the other."""
    where = {"with": other, "mpi": mode, "communicator": communicator, "bytes": MEGABYTE}
    return results.value("overlap", "together", **where)


@claim("bgl.overlap.compute")
def overlap_compute(results: Results) -> float:
    """Exchange of 1 MB with a matrix multiplication, together over one after the other.

    In co-processor and in virtual node mode; the one farthest from 1.
    """
    return farthest((_together(results, "compute", mode, "world") for mode in (CO, VN)), 1.0)


@claim("bgl.overlap.collective")
def overlap_collective(results: Results) -> float:
    """Exchange of 1 MB in pairs with a broadcast of 1 MB, together over one after the other.

    On the world, on 16 x 16 x 8 and on 2,048 scattered nodes, co-processor mode; the one farthest from 0.8.
    """
    return farthest((_together(results, "bcast", CO, each) for each in SUBSETS), 0.8)


def _one(results: Results, operation: str, way: str, mode: str = CO) -> float:
    """Bandwidth of one node with its six neighbours, B/s."""
    return results.value("neighbours", "bandwidth", operation=operation, way=way, bytes=MEGABYTE, mpi=mode)


@claim("bgl.neighbours.send")
def neighbours_send(results: Results) -> float:
    """1 MB to each of six neighbours, one after the other and by scatterv, over a link; farthest from 1."""
    rates = (_one(results, "send", way) for way in ("blocking", "collective"))
    return farthest((rate / link(results) for rate in rates), 1.0)


@claim("bgl.neighbours.recv")
def neighbours_receive(results: Results) -> float:
    """1 MB from each of six neighbours, one after the other and by gatherv, over a link; farthest from 2."""
    rates = (_one(results, "receive", way) for way in ("blocking", "collective"))
    return farthest((rate / link(results) for rate in rates), 2.0)


@claim("bgl.neighbours.nonblocking")
def neighbours_nonblocking(results: Results) -> Shape:
    """One node and its six neighbours, messages of 1 MB, in co-processor and in virtual node mode.

    In CO mode non-blocking must beat blocking and collective for send, receive and exchange; in VN mode
    collective must be the best for exchange; and CO over VN, non-blocking, must be 1.15 to 1.45 in the mean
    over the three operations, which is the value.
    """
    beats = all(
        _one(results, operation, "nonblocking") > _one(results, operation, way)
        for operation in OPERATIONS
        for way in ("blocking", "collective")
    )
    exchange = {way: _one(results, "exchange", way, VN) for way in WAYS}
    best = max(exchange, key=lambda way: exchange[way])
    ratios = [
        _one(results, operation, "nonblocking") / _one(results, operation, "nonblocking", VN)
        for operation in OPERATIONS
    ]
    gain = sum(ratios) / len(ratios)
    says = (
        f"non-blocking {'beats' if beats else 'does not beat'} the others in CO mode, {best} is best for "
        f"exchange in VN mode, CO is {gain:.2f} of VN"
    )
    return Shape(beats and best == "collective" and FASTER[0] <= gain <= FASTER[1], gain, says)


@claim("bgl.neighbours.sendrecv")
def neighbours_sendrecv(results: Results) -> float:
    """Exchange with six neighbours by MPI_Sendrecv over the largest bidirectional bandwidth."""
    most = results.peak("bibandwidth", "bandwidth", mpi=CO)
    return _one(results, "exchange", "sendrecv") / most


def _all(
    results: Results, way: str, variation: str = "equal", ranks: int = LARGE, mapping: str = "XYZT"
) -> float:
    """What a node sends when all exchange with their six neighbours, B/s: half of what goes through it."""
    where = {"way": way, "variation": variation, "ranks": ranks, "mapping": mapping}
    return results.value("allneighbours", "bandwidth", bytes=MEGABYTE, mpi=CO, **where) / 2


@claim("bgl.allneighbours.alltoallv")
def all_by_alltoallv(results: Results) -> float:
    """1 MB to each of six neighbours from every node of 16 x 16 x 16 by MPI_Alltoallv, one hop away."""
    return _all(results, "collective")


@claim("bgl.allneighbours.size")
def all_by_size(results: Results) -> float:
    """Bandwidth of a node of 8 x 8 x 16 over that of one of 16 x 16 x 16; of all ways the farthest from 1."""
    return farthest((_all(results, way, ranks=SMALL) / _all(results, way) for way in WAYS), 1.0)


@claim("bgl.allneighbours.varying")
def all_varying(results: Results) -> float:
    """Bandwidth with messages of 0.5 to 1.5 MB over that with 1 MB; of all ways the farthest from 0.65."""
    return farthest((_all(results, way, "varying") / _all(results, way) for way in WAYS), 0.65)


@claim("bgl.allneighbours.random")
def all_at_random(results: Results) -> Shape:
    """Bandwidth of a node under a random mapping, over a link's.

    All ways must be below 1 and non-blocking the lowest; the value is the largest.
    """
    rates = {way: _all(results, way, mapping="random:1") / link(results) for way in WAYS}
    lowest, most = min(rates, key=lambda way: rates[way]), max(rates.values())
    says = ", ".join(f"{way} {rate:.2f}" for way, rate in rates.items()) + " of a link"
    return Shape(most < 1 and lowest == "nonblocking", most, says)
