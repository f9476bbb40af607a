"""What a simulation takes, and what a described machine cannot be asked."""

from collections.abc import Sequence

import psutil

from leadline.core.errors import LeadlineError
from leadline.machine import Machine
from leadline.plan.points import Point

# s that a simulated point may take: nothing is ever late here, but a program that hangs must end some day.
LIMIT = 3600.0
# s of a point of a plan of many, unless somebody says otherwise: others are asked while one would take hours.
POINT_LIMIT = 180.0
# B of memory that a simulation takes, for each rank and for each node of the partition with its links.
# Measured: a halo, whose every rank has four messages out and four coming, peaked at 2.5 GB for 1,048,576
# ranks on 262,144 nodes; a hot spot of two levels at 1.4 GB.
RANK_BYTES, NODE_BYTES = 2200, 600


def estimate(point: Point, machine: Machine) -> int:
    """Memory that simulating a point takes, B."""
    partition = point.partition or point.ranks
    return RANK_BYTES * point.ranks + NODE_BYTES * -(-partition // machine.ranks_per_node)


def check_memory(points: Sequence[Point], machine: Machine, available: int | None = None) -> None:
    """Raise LeadlineError where a point needs more memory than this host has left, B."""
    available = psutil.virtual_memory().available if available is None else available
    largest = max(points, key=lambda point: estimate(point, machine), default=None)
    if largest is not None and (needed := estimate(largest, machine)) > available:
        raise LeadlineError(
            f"simulating {largest.describe()} takes about {needed / 1e9:.1f} GB of memory, but "
            f"{available / 1e9:.1f} GB are free; ask for fewer ranks with --ranks"
        )


def impossible(point: Point, machine: Machine) -> str | None:
    """Why a point cannot be had on the machine; None where it can."""
    partition = point.partition or point.ranks
    node = machine.native()["node"]
    reasons = {
        f"{point.ranks:,} ranks need a larger partition than {partition:,}": point.ranks > partition,
        f"on a described machine placement {point.placement!r} is for two ranks, not {point.ranks}": (
            point.placement not in ("default", "nodes") and point.ranks != 2
        ),
        "placement unbound is for measured runs: a described machine has no scheduler that moves ranks": (
            point.placement == "unbound"
        ),
        f"a partition of {partition} ranks of {machine.name} is one node": (
            point.placement == "nodes" and partition <= machine.ranks_per_node
        ),
        f"a node of {machine.name} has one socket": (
            point.placement == "sockets" and node.get("sockets", 1) < 2
        ),
        f"{machine.name} has no reduce, the rate at which a core sums; 'leadline calibrate' measures it": (
            point.benchmark == "combine" and not machine.native().get("reduce")
        ),
        f"{machine.name} has neither copy nor node.memory; 'leadline calibrate' measures them": (
            point.benchmark == "copy" and not machine.native().get("copy") and not node.get("memory")
        ),
        f"a node of {machine.name} runs one rank": (
            point.placement in ("core-group", "sockets") and machine.ranks_per_node < 2
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)
