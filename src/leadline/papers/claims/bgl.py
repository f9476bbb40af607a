"""The claims of Hofmann and Rünger on Blue Gene/L about messages (4), from its two plans.

Figure 1 of the paper is about 1 MB sent in messages of each size: `protocol` gives the time of that, so that
the bandwidth is 10^6 B over it. Fractions of a link's bandwidth are of its payload on the described machine.
"""

from collections.abc import Mapping
from itertools import pairwise
from math import ceil
from typing import Any

from leadline.papers.checks import Shape, claim
from leadline.papers.results import AbsentError, Results

MEGABYTE = 1_000_000
PACKETS = (130, 1000)  # B, between which the paper sees a zigzag
ALIKE = 10_000  # B, above which it sees the protocols meet


def _times(results: Results, protocol: str = "default") -> dict[int, float]:
    """Time of 1 MB by size of the messages, s."""
    return results.curve("protocol", "time", "bytes", protocol=protocol)


def _short_limit(results: Results) -> float:
    """The largest message that takes the short protocol, B."""
    return results.constant("bgl.short-limit")


def machine(results: Results) -> Mapping[str, Any]:
    """The machine as the simulator has it."""
    if "bgl" not in results.machines.descriptions:
        raise AbsentError("the machine bgl is not described")
    return results.machines.descriptions["bgl"]


def link(results: Results) -> float:
    """A link's payload bandwidth, B/s: its rate less what packets carry beside."""
    described = machine(results)
    packet = described["packets"]
    return float(described["links"]["rate"] * packet["payload"] / (packet["payload"] + packet["overhead"]))


def _of_link(results: Results, time: float) -> float:
    """1 MB in that time, as a part of a link's payload bandwidth."""
    return MEGABYTE / time / link(results)


@claim("bgl.protocol.short")
def short(results: Results) -> float:
    """Highest bandwidth of messages that take the short protocol over a link's payload bandwidth."""
    limit = _short_limit(results)
    return max(_of_link(results, time) for size, time in _times(results).items() if size <= limit)


@claim("bgl.protocol.long")
def long(results: Results) -> float:
    """Highest bandwidth of any size over a link's payload bandwidth; the worse of eager and rendezvous."""
    forced = (_times(results, protocol) for protocol in ("eager", "rendezvous"))
    return min(_of_link(results, min(times.values())) for times in forced)


def _slower(results: Results) -> dict[int, float]:
    """Time by rendezvous over time by eager, by size of the messages."""
    eager, rendezvous = _times(results, "eager"), _times(results, "rendezvous")
    return {size: rendezvous[size] / eager[size] for size in eager}


@claim("bgl.protocol.eager")
def eager(results: Results) -> float:
    """Time of 1 MB by rendezvous over that by eager, in messages of the first size above the short limit."""
    limit = _short_limit(results)
    return next(ratio for size, ratio in _slower(results).items() if size > limit)


@claim("bgl.protocol.meet")
def meet(results: Results) -> float:
    """Time by rendezvous over that by eager; of all sizes above 10,000 B the ratio farthest from 1."""
    above = [ratio for size, ratio in _slower(results).items() if size > ALIKE]
    return max(above, key=lambda ratio: abs(ratio - 1))


def _packets(results: Results, size: int) -> int:
    """How many packets a message of the eager protocol needs on the machine, as it is described."""
    described = machine(results)
    header: int = next((row.get("header", 0) for row in described["protocol"] if row["name"] == "eager"), 0)
    payload: int = described["packets"]["payload"]
    return ceil((size + header) / payload)


@claim("bgl.zigzag")
def zigzag(results: Results) -> Shape:
    """Time of 1 MB by the eager and by the rendezvous protocol, from 130 to 1000 B in steps of 4 B.

    A step on which a message needs a further packet must be upward, every other step downward; the share of
    the steps that do as they must is the value.
    """
    low, high = PACKETS
    right = steps = jumps = 0
    for protocol in ("eager", "rendezvous"):
        times = {n: t for n, t in _times(results, protocol).items() if low <= n <= high}
        for small, large in pairwise(times):
            more = _packets(results, large) > _packets(results, small)
            right += (times[large] > times[small]) == more
            steps += 1
            jumps += more
    share = right / steps
    says = f"{share:.1%} of {steps} steps as they must be, {jumps} of them to one more packet"
    return Shape(right == steps and jumps > 0, share, says)


def _along(results: Results, mapping: str) -> dict[int, float]:
    """Bandwidth of 1 MB messages by distance, B/s."""
    return results.curve("distance", "bandwidth", "distance", bytes=MEGABYTE, mapping=mapping)


@claim("bgl.distance")
def distance(results: Results) -> float:
    """Bandwidth of 1 MB messages eight hops along an axis over that of one hop, in 16 x 16 x 16."""
    curve = _along(results, "bgl-axis")
    return curve[2 + 8] / curve[2 + 1]


@claim("bgl.offaxis")
def offaxis(results: Results) -> float:
    """Bandwidth of 1 MB messages off the axes over that along one, as many hops away; mean of 2 to 8 hops."""
    on, off = (_along(results, f"bgl-{name}") for name in ("axis", "offaxis"))
    return sum(off[hops] / on[hops] for hops in off) / len(off)


@claim("bgl.vn.intranode")
def within_node(results: Results) -> float:
    """Window of 64 sends between two processes of a node in virtual node mode, the largest of all sizes."""
    return results.peak("bandwidth", "bandwidth", mpi="bgl-vn", mapping="TXYZ")
