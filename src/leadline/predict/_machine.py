"""What a model must know of a described machine: a message between two ranks, and a core's arithmetic."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.core.errors import UsageError
from leadline.machine import Machine
from leadline.machine.topologies import KINDS
from leadline.predict import Option

SOCKET, SOCKETS, NODES = "socket", "sockets", "nodes"
PLACEMENTS = (SOCKET, SOCKETS, NODES)

PLACEMENT = Option(
    "placement",
    "Placement of the ranks: all on one socket; neighbours on different sockets; or on different nodes. "
    "Default: the nearest with enough cores.",
    words=PLACEMENTS,
)


def on(machine: str) -> Option:
    """The option --on of a model whose source has its figures of this machine."""
    words = "Described machine: a name from 'leadline list machines' or a TOML file."
    return Option("on", words, default=machine, metavar="MACHINE")


@dataclass(frozen=True)
class Way:
    """A message's way between two ranks: time without bytes, s, and the rates of what a large one passes."""

    machine: str
    latency: float
    rates: Sequence[float]  # bytes a second, one after the other

    @property
    def bandwidth(self) -> float:
        """Bytes a second of a large message; UsageError where the machine tells none."""
        if not self.rates:
            raise UsageError(
                f"{self.machine} has no bandwidth for messages so placed: name another machine "
                "('predict jacobi' also takes --bandwidth)"
            )
        return 1 / sum(1 / rate for rate in self.rates)


def placement_of(machine: Machine, ranks: int) -> str:
    """The nearest placement that has room for so many ranks, each socket and node filled before the next."""
    if ranks > machine.ranks_per_node:
        return NODES
    return SOCKETS if ranks > -(-machine.ranks_per_node // _sockets(machine)) else SOCKET


def chosen_placement(machine: Machine, ranks: int, asked: str | None) -> str:
    """The placement that was asked for, else the nearest with room; UsageError where it has no room."""
    nearest = placement_of(machine, ranks)
    if asked is None:
        return nearest
    if asked == SOCKETS and _sockets(machine) < 2:
        return asked  # which `way` refuses
    if PLACEMENTS.index(asked) < PLACEMENTS.index(nearest):
        per_node = machine.ranks_per_node
        cores = -(-per_node // _sockets(machine)) if asked == SOCKET else per_node
        where = "a socket" if asked == SOCKET else "a node"
        raise UsageError(
            f"--placement {asked} needs a core for each of {ranks:,} ranks, and {where} of {machine.name} "
            f"has {cores}; leave the option out, or name fewer ranks"
        )
    return asked


def placements(machine: Machine, ranks: int) -> list[str]:
    """The placements that the machine has, up to the nearest with room for so many ranks."""
    there = PLACEMENTS[: PLACEMENTS.index(placement_of(machine, ranks)) + 1]
    return [each for each in there if each != SOCKETS or _sockets(machine) > 1]


def _sockets(machine: Machine) -> int:
    """Sockets of a node."""
    return int(machine.native()["node"].get("sockets", 1))


def way(machine: Machine, placement: str, hops: int | None = None) -> Way:
    """What a message costs with the ranks so placed; UsageError where the machine has no such way.

    Between nodes it passes so many links, or those between neighbouring ones.
    The bandwidth is that of the link and of every copy on the way, one after the other; of the LogGOPS model
    the slowest of them. Where a copy's rate is given with an interval its lower end is that between sockets.
    """
    described = machine.native()
    if placement == NODES:
        return _across(machine, described, KINDS[machine.kind].neighbours if hops is None else hops)
    node = described["node"]
    if placement == SOCKETS and _sockets(machine) < 2:
        raise UsageError(f"a node of {machine.name} has one socket, but got --placement {placement}")
    rows = described.get("local_protocol") or described["protocol"]
    latency = _overheads(rows[0]) + node.get("local_latency", 0.0)
    if node.get("loggops"):  # which knows no sockets
        return Way(machine.name, latency, [_beside(rows[-1], described["links"])])
    rates = [rate for key in ("send_copy", "receive_copy") if (rate := rows[-1].get(key))]
    if placement == SOCKETS:
        latency += node.get("socket_latency", 0.0)
        rates = [_slowest(machine, rate) for rate in rates]
    rates += [rate] if (rate := node.get("local")) else []
    return Way(machine.name, latency, rates)


def serial_rate(machine: Machine, flops: float, moved: float) -> float:
    """Updates a second of one core, of so many operations and so many bytes to and from memory each.

    As the simulator charges it: the slower of arithmetic and an equal share of the node's memory bandwidth.
    """
    node = machine.native()["node"]
    times = [flops / node["flops"]] if "flops" in node else []
    times += [moved * node["ranks"] / node["memory"]] if "memory" in node else []
    if not times:
        raise UsageError(
            f"{machine.name} has neither node.flops nor node.memory: give a core's time with --serial"
        )
    return 1 / float(max(times))


def _across(machine: Machine, described: Mapping[str, Any], hops: int) -> Way:
    """The way between two nodes so many links apart."""
    if machine.max_nodes < 2:
        raise UsageError(f"{machine.name} has one node, but got --placement {NODES}")
    links, rows = described["links"], described["protocol"]
    latency = links["base"] + hops * links["hop"] + _overheads(rows[0])
    if described["node"].get("loggops"):
        return Way(machine.name, latency, [_beside(rows[-1], links)])
    packets = described.get("packets")
    payload = packets["payload"] / (packets["payload"] + packets.get("overhead", 0)) if packets else 1.0
    # A message is through link and both engines as fast as the slowest of them, packets' overheads with it.
    engines = (described["node"].get(key, math.inf) for key in ("injection", "reception"))
    rates = [min(links["rate"], *engines) * payload]
    rates += [rate for key in ("send_copy", "receive_copy") if (rate := rows[-1].get(key))]
    return Way(machine.name, latency, rates)


def _beside(protocol: Mapping[str, Any], links: Mapping[str, Any]) -> float:
    """Bytes a second of a large message there and back on a machine of the LogGOPS model.

    Copies go on beside the wire: a message takes the slower of it and the receiver's copy. A core that still
    copies what it sent takes up the answer later.
    """
    takes = 1 / min(links["rate"], protocol.get("receive_copy", math.inf))
    sends = 1 / protocol.get("send_copy", math.inf)
    return float(1 / max(takes, (sends + takes) / 2))


def _overheads(protocol: Mapping[str, Any]) -> float:
    """Sender's and receiver's time for a message, s."""
    return float(protocol["send_overhead"] + protocol["receive_overhead"])


def _slowest(machine: Machine, rate: float) -> float:
    """The lower end of the interval of the number that has this value, or the value where it has none."""
    copies = [n for n in machine.numbers() if n.key.startswith("local_protocol.") and n.value == rate]
    return next((each.interval[0] for each in copies if each.interval), rate)
