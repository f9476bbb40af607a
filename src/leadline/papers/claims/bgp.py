"""The claims of Balaji et al. on Blue Gene/P about messages (3.1 to 3.7), from the records of plans/bgp.toml.

Where the paper says "small" it stands for 8 B here, the size by which reports speak of latency; "large" is
the largest size of the sweep.
"""

from itertools import pairwise

from leadline.papers.checks import Shape, claim
from leadline.papers.results import Results

SMALL = 8  # B
NODES, CORES = "XYZT", "TXYZ"  # mappings that put rank 1 on the next node, and on the next core
TORUS, WHOLE = 2048, 131072  # ranks of the partitions: the smallest torus, and 32 racks
NEIGHBOUR, FARTHEST = 2 + 1, 2 + 48  # distances of one hop, and of the most in a torus of 32 x 32 x 32
# The paper counts 1 KB among the medium sizes (3.3): they begin one doubling below it, and end where the
# benchmarks of its time call messages large.
MEDIUM = (512, 65536)
THROTTLED = 0.7  # of its bandwidth alone: less is what the ledger takes for "significant" (3.4)
UNHURT = 0.95  # of it: more is "the same bandwidth" (3.4)
FEW = 127  # workers, a thousandth of the whole system: where "small systems" (3.6) end here
MANY = 4095  # workers of a system of 4,096 processes
PROPORTIONAL = 0.95  # of the factor by which workers grow: what counts as in proportion


def _latency(results: Results, mapping: str, bytes_: int, buffers: str = "reused") -> float:
    """One-way time between the two ranks of the ping-pong, s."""
    where = {"mapping": mapping, "bytes": bytes_, "buffers": buffers}
    return results.value("pingpong", "latency", partition=TORUS, **where)


def _bandwidth(results: Results, mapping: str, partition: int = TORUS) -> float:
    """Bandwidth of the largest messages between two ranks, B/s."""
    curve = results.curve("bandwidth", "bandwidth", "bytes", mapping=mapping, partition=partition)
    return curve[max(curve)]


@claim("bgp.latency.neighbour")
def neighbour(results: Results) -> float:
    """Half of a round trip of 8 B between two neighbouring nodes, buffers reused."""
    return _latency(results, NODES, SMALL)


@claim("bgp.latency.cache")
def cache(results: Results) -> float:
    """Latency with rotated over latency with reused buffers; of all sizes the ratio farthest from 1."""
    where = {"mapping": NODES, "partition": TORUS}
    reused = results.curve("pingpong", "latency", "bytes", buffers="reused", **where)
    rotated = results.curve("pingpong", "latency", "bytes", buffers="rotated", **where)
    return max((rotated[size] / reused[size] for size in reused), key=lambda ratio: abs(ratio - 1))


@claim("bgp.bandwidth.inter")
def between_nodes(results: Results) -> float:
    """Window of 64 sends of 4 MiB to a neighbouring node."""
    return _bandwidth(results, NODES)


@claim("bgp.latency.intra")
def latency_within(results: Results) -> float:
    """Latency of 8 B between two cores of a node over that between two neighbouring nodes."""
    return _latency(results, CORES, SMALL) / _latency(results, NODES, SMALL)


@claim("bgp.latency.corepair")
def corepair(results: Results) -> float:
    """Latency of 8 B between cores 0 and 3 of a node over that between cores 0 and 1."""

    def latency(pair: str) -> float:
        return results.value("corepairs", "latency", pair=pair, bytes=SMALL)

    return latency("0-3") / latency("0-1")


@claim("bgp.bandwidth.intra")
def bandwidth_within(results: Results) -> float:
    """Bandwidth of 4 MiB messages between two cores of a node over that between two neighbouring nodes."""
    return _bandwidth(results, CORES) / _bandwidth(results, NODES)


def _hops(results: Results, bytes_: int) -> float:
    """Latency of the farthest pair of 32 racks over that of neighbouring nodes.

    The paper's smallest system, 4 cores, is one node; its figure 4 is of latency between nodes all the same.
    Within a node 1 KiB would take 3.2 us by its own numbers (2.8 us, and six times 3 Gb/s), from which 40 %
    more does not even pay for one hop (2.8 us, and 1 KiB at 3 Gb/s: 5.5 us). So the base is one hop.
    """
    curve = results.curve("distance", "latency", "distance", bytes=bytes_, partition=WHOLE)
    return curve[FARTHEST] / curve[NEIGHBOUR]


@claim("bgp.hops.zero")
def hops_zero(results: Results) -> float:
    """Latency of 0 B over 48 hops over that of one hop, the least that there is between nodes."""
    return _hops(results, 0)


@claim("bgp.hops.1k")
def hops_kilobyte(results: Results) -> float:
    """Latency of 1 KiB over 48 hops over that of one hop, the least that there is between nodes."""
    return _hops(results, 1024)


@claim("bgp.hops.bandwidth")
def hops_bandwidth(results: Results) -> float:
    """Bandwidth of 4 MiB messages over 48 hops over that between neighbouring nodes."""
    curve = results.curve("bandwidth", "bandwidth", "bytes", mapping="bgp-farthest", partition=WHOLE)
    return curve[max(curve)] / _bandwidth(results, NODES, WHOLE)


def _through(results: Results, mapping: str, streams: int) -> float:
    """Bandwidth of the middle pair with so many streams through its node, over that without."""
    where = {"mapping": mapping, "bytes": 1 << 20}
    alone = results.value("flowthrough", "bandwidth", traffic=0, **where)
    return results.value("flowthrough", "bandwidth", traffic=streams, **where) / alone


@claim("bgp.flowthrough.intra")
def through_node(results: Results) -> float:
    """1 MiB messages between two cores of a node; six streams pass through it, in and out on all links."""
    return _through(results, "bgp-through-intra", 6)


@claim("bgp.flowthrough.otherlink")
def through_other_link(results: Results) -> float:
    """1 MiB messages to the next node along Y; four streams pass through the sender's node on X and Z."""
    return _through(results, "bgp-through-link", 4)


def _pair(results: Results, pattern: str, measured: str, other: str) -> float:
    """Bandwidth of one of two pairs on a line for 1 MiB messages, the other idle or busy, B/s."""
    where = {"pattern": pattern, "measured": measured, "other": other}
    return results.value("congestion", "bandwidth", bytes=1 << 20, **where)


def _share(results: Results, pattern: str, measured: str) -> float:
    """What a pair keeps of its bandwidth while the other is busy."""
    return _pair(results, pattern, measured, "busy") / _pair(results, pattern, measured, "idle")


@claim("bgp.congestion.nested.through")
def nested_through(results: Results) -> float:
    """P0 to P3 in a line of four nodes, 1 MiB messages, with P1 to P2 busy over alone."""
    return _share(results, "nested", "first")


@claim("bgp.congestion.nested.local")
def nested_local(results: Results) -> float:
    """P1 to P2 in a line of four nodes, 1 MiB messages, with P0 to P3 busy over alone."""
    return _share(results, "nested", "second")


@claim("bgp.congestion.partial")
def partial(results: Results) -> Shape:
    """Of their bandwidths alone, P0 to P2 keeps 95 % or more, P1 to P3 70 % or less (1 MiB messages)."""
    through, local = _share(results, "overlapping", "first"), _share(results, "overlapping", "second")
    says = f"P0-P2 keeps {through:.0%}, P1-P3 {local:.0%} of its bandwidth alone"
    return Shape(through >= UNHURT and local <= THROTTLED, local, says)


@claim("bgp.congestion.nodetour")
def no_detour(results: Results) -> Shape:
    """Both pairs together, each measured while the other runs, move no more than one link carries alone.

    A detour around the shared link would give the two together up to twice that. The larger of the nested
    and the overlapping case counts, and 5 % are left for one pair's pauses, which the other may fill.
    """

    def together(pattern: str) -> float:
        both = sum(_pair(results, pattern, measured, "busy") for measured in ("first", "second"))
        return both / _pair(results, pattern, "first", "idle")

    most = max(together("nested"), together("overlapping"))
    return Shape(most <= 1.05, most, f"both pairs together move {most:.2f} of one link's bandwidth")


def _gains(results: Results) -> tuple[dict[int, float], dict[int, float]]:
    """Aggregate bandwidth of one and of four streams between two nodes, by size, B/s."""
    one, four = (results.curve("multistream", "bandwidth", "bytes", pairs=pairs) for pairs in (1, 4))
    return one, four


@claim("bgp.multistream.peak")
def peak(results: Results) -> float:
    """Largest aggregate of four streams over the largest of one stream, any size."""
    one, four = _gains(results)
    return max(four.values()) / max(one.values())


@claim("bgp.multistream.medium")
def medium(results: Results) -> float:
    """Aggregate of four streams over one stream of the same size; the largest ratio from 512 B to 64 KiB."""
    one, four = _gains(results)
    return max(four[size] / one[size] for size in one if MEDIUM[0] <= size <= MEDIUM[1])


@claim("bgp.hotspot.growth")
def growth(results: Results) -> Shape:
    """From 127 workers to 131,071, by how much the mean latency grows as a part of how much the workers do.

    Of all sizes and all steps from system to system the least; 95 % counts as in proportion.
    """
    least = float("inf")
    for size in results.values("hotspot", "bytes"):
        curve = results.curve("hotspot", "latency", "workers", shape="flat", bytes=size)
        steps = sorted(workers for workers in curve if workers >= FEW)
        for few, many in pairwise(steps):
            least = min(least, curve[many] / curve[few] / (many / few))
    return Shape(least >= PROPORTIONAL, least, f"latency grows by at least {least:.3f} of what workers do")


@claim("bgp.hotspot.hierarchical")
def hierarchical(results: Results) -> Shape:
    """Mean latency through a tree of two levels over that of asking the master, from 4,096 processes on.

    Of all sizes and numbers of workers the largest.
    """
    most = 0.0
    for size in results.values("hotspot", "bytes"):
        tree = results.curve("hotspot", "latency", "workers", shape="tree", bytes=size)
        flat = results.curve("hotspot", "latency", "workers", shape="flat", bytes=size)
        most = max([most, *(tree[n] / flat[n] for n in tree if n >= MANY)])
    return Shape(most < 1, most, f"the tree takes at most {most:.3f} of the time")


@claim("bgp.fan.out")
def fan_out(results: Results) -> float:
    """Windows of 16 sends to each of six neighbouring nodes at once, the largest of all sizes."""
    return results.peak("fan", "bandwidth", direction="out", neighbours=6)


@claim("bgp.fan.in")
def fan_in(results: Results) -> float:
    """Windows of 16 sends from each of six neighbouring nodes at once, the largest of all sizes."""
    return results.peak("fan", "bandwidth", direction="in", neighbours=6)
